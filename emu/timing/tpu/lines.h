// What each line of a kernel took on the cores of a TPU: how long it kept a core busy, what a core waited for there,
// and the critical path through all of them (emu/timing/base/critical_path.h). run.h adds to it, timing.cc reports it.
// Limits: results in flight are inside a line's busy time, they are no stall class.
#ifndef PALLADION_EMU_TIMING_TPU_LINES_H_
#define PALLADION_EMU_TIMING_TPU_LINES_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "emu/timing/base/critical_path.h"
#include "emu/timing/report/timing.h"
#include "scheduler/virtual_clock.h"
#include "semantics/base/ids.h"

namespace palladion::timing::tpu {

class TpuLines {
 public:
  struct Place {
    LocId loc;
    int text_line = 0;
  };
  // The line of this operation, or of what is named so; it stays where it is.
  report::LineTime& Of(const std::string& op, const Place& at);

  void Worked(base::CriticalPath::Agent core, const report::LineTime& line, scheduler::Ticks time);
  struct Wait {
    std::string_view stall;
    scheduler::Ticks from;           // the core waits from here on
    scheduler::Ticks start, landed;  // of what it waits for
    base::CriticalPath::Held held;   // what was before that start
  };
  void Waited(base::CriticalPath::Agent core, report::LineTime& line, const Wait& wait);
  base::CriticalPath& path() { return path_; }

  std::vector<report::LineTime> InOrder() const;  // of the text, those that took any time
  // What the last core to end waited for, back to the start; the longest part first.
  std::vector<report::PathPart> CriticalParts() const;
  // What cores waited for, the longest first.
  std::vector<report::StallTime> Stalls() const;

 private:
  std::int32_t NumberOf(const report::LineTime& line);

  std::map<std::pair<int, std::string>, report::LineTime> lines_;
  base::CriticalPath path_;
  std::vector<const report::LineTime*> on_path_;  // by the number that it has there
  std::unordered_map<const report::LineTime*, std::int32_t> number_of_;
};

}  // namespace palladion::timing::tpu

#endif  // PALLADION_EMU_TIMING_TPU_LINES_H_
