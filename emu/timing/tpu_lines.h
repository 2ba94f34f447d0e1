// What each line of a kernel took on the cores of a TPU: how long it kept a core busy, what a core waited for there,
// and the critical path through all of them (critical_path.h). tpu_run.h adds to it, tpu_timing.cc reports it. Limits:
// results in flight are inside a line's busy time, they are no stall class.
#ifndef PALLADION_EMU_TIMING_TPU_LINES_H_
#define PALLADION_EMU_TIMING_TPU_LINES_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "emu/timing/critical_path.h"
#include "emu/timing/timing.h"
#include "scheduler/virtual_clock.h"
#include "semantics/base/ids.h"

namespace palladion::timing {

class TpuLines {
 public:
  struct Place {
    LocId loc;
    int text_line = 0;
  };
  // The line of this operation, or of what is named so; it stays where it is.
  LineTime& Of(const std::string& op, const Place& at);

  void Worked(CriticalPath::Agent core, const LineTime& line, scheduler::Ticks time);
  struct Wait {
    std::string_view stall;
    scheduler::Ticks from;           // the core waits from here on
    scheduler::Ticks start, landed;  // of what it waits for
    CriticalPath::Held held;         // what was before that start
  };
  void Waited(CriticalPath::Agent core, LineTime& line, const Wait& wait);
  CriticalPath& path() { return path_; }

  std::vector<LineTime> InOrder() const;  // of the text, those that took any time
  // What the last core to end waited for, back to the start; the longest part first.
  std::vector<PathPart> CriticalParts() const;
  // What cores waited for, the longest first.
  std::vector<StallTime> Stalls() const;

 private:
  std::int32_t NumberOf(const LineTime& line);

  std::map<std::pair<int, std::string>, LineTime> lines_;
  CriticalPath path_;
  std::vector<const LineTime*> on_path_;  // by the number that it has there
  std::unordered_map<const LineTime*, std::int32_t> number_of_;
};

}  // namespace palladion::timing

#endif  // PALLADION_EMU_TIMING_TPU_LINES_H_
