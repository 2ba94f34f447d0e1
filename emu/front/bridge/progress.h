// Progress of runs: done, of how many, how fast, and an estimate of the remaining time. A run stores numbers in its
// RunControl; the display (a line of the command, Python) polls them, so that nothing is called from inside a run. What
// it does not do: know how long a loop takes, or a search of every schedule: then there is no total.
#ifndef PALLADION_EMU_FRONT_BRIDGE_PROGRESS_H_
#define PALLADION_EMU_FRONT_BRIDGE_PROGRESS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "semantics/base/run_control.h"

namespace palladion::bridge {

struct Progress {
  std::string_view unit;             // "schedules", "programs", or "budget" of a run of one program
  std::int64_t done = 0, total = 0;  // total 0: unknown
  double rate = 0;                   // units a second
  double seconds_left = -1;          // about; of a budget at most so many; -1: unknown
};
Progress ProgressOf(const RunControl::Counts& counts, double seconds);

// "@add: 12 of 64 schedules, 3.1 a second, 17 s left".
std::string ProgressText(std::string_view kernel, const RunControl::Counts& counts, double seconds);

// While it lives the run is in the list of its process. The control outlives it.
class ShownRun {
 public:
  ShownRun(std::string kernel, std::int64_t session, const RunControl& control);
  ~ShownRun();
  ShownRun(const ShownRun&) = delete;
  ShownRun& operator=(const ShownRun&) = delete;

 private:
  std::int64_t number_;
};

// As palladion_progress of the C API gives it.
std::string RunsInProgress();

}  // namespace palladion::bridge

#endif  // PALLADION_EMU_FRONT_BRIDGE_PROGRESS_H_
