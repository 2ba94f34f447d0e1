// The run that shows a finding, replayed and recorded: which finding, what ran in which order, and where in it the
// finding's two sides are. Based on: the replay of a check (emu/check.h), which gives the same run. Limits: a finding
// that no run shows (what a target refuses), and one that compares two runs, has no sides in a run.
#ifndef PALLADION_EMU_TOOLS_SCHEDULE_FAILING_RUN_H_
#define PALLADION_EMU_TOOLS_SCHEDULE_FAILING_RUN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/check.h"
#include "emu/tools/schedule/recording.h"

namespace palladion::schedule {

// Which finding is drawn: the worst where no code is given.
struct WhichFinding {
  std::string code;                          // "RACE_RW"; "": any
  int text_line = 0, first = 0, second = 0;  // of the finding and its sides; 0: any
};

struct FailingRun {
  ReportedFinding finding;
  std::string kernel, target, replay;
  Recording recording;
  std::int64_t first = -1, second = -1;  // operations of the recording; -1: not there
  std::int64_t near = -1;                // where neither is: what had run last when it was found
  std::vector<std::int64_t> waiting;     // of a deadlock, waits without an end
  std::vector<std::int64_t> circle;      // of these, each waits for the next, the last for the first
};

// With options.replay that schedule; without, the kernel is checked, and the finding's own schedule runs. NotFound:
// nothing, or no such finding, was found. Else the errors of a check.
absl::StatusOr<FailingRun> ReplayFailing(const PreparedKernel& kernel, absl::Span<const Tensor> inputs,
                                         const CheckOptions& options, const WhichFinding& which);

}  // namespace palladion::schedule

#endif  // PALLADION_EMU_TOOLS_SCHEDULE_FAILING_RUN_H_
