// Predicts how long a kernel takes on a chip: it is run once, in virtual time. Each family of chips has a model of its
// own. Time changes no result and no finding; a run in virtual time is one of the legal schedules.
#ifndef PALLADION_EMU_TIMING_TIME_KERNEL_H_
#define PALLADION_EMU_TIMING_TIME_KERNEL_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/chip/machines/description.h"
#include "emu/emulate.h"
#include "emu/timing/timeline.h"
#include "emu/timing/timing.h"

namespace palladion::timing {

// All outlive the call.
struct TimedCall {
  const PreparedKernel& kernel;  // observable
  absl::Span<const Tensor> inputs;
  const machines::Machine& machine;
  RunOptions run;
  std::optional<TimelineOptions> timeline;  // wanted
  bool schedule = false;                    // wanted
  bool values = false;                      // computed in any case: for tests of what is left out else
  std::string replay = {};                  // the schedule that it is to take; "": that of the chip's times
  bool races = false;                       // of a GPU: looked for in that run, so that a timeline says when
};

// The chip that the kernel's target names, with these of its numbers changed (Machine::Set). InvalidArgument: the
// target names none, or a change is wrong.
absl::StatusOr<machines::Machine> MachineOf(const PreparedKernel& kernel, absl::Span<const std::string> changes);

struct Timed {
  Timing timing;
  Report report;  // of that run: what was found, what was printed
  std::optional<Timeline> timeline;
  // What replays that run in a check with the same inputs and its defaults. Of a GPU: a TPU's programs run in the order
  // of the text.
  std::optional<std::string> schedule;
};

// InvalidArgument: a kernel that cannot be compiled, or is for another family than the machine's; inputs that do not
// fit; a schedule to replay that is none, is another kernel's, or is not that of the chip's times: no other has a time.
// Unimplemented: an operation without a cost, with its line; a family without a model. NotFound: a number that the
// machine lacks.
absl::StatusOr<Timed> TimeKernel(const TimedCall& call);

}  // namespace palladion::timing

#endif  // PALLADION_EMU_TIMING_TIME_KERNEL_H_
