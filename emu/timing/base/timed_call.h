// What a model of time is called with, and what it answers (emu/timing/time_kernel.h).
#ifndef PALLADION_EMU_TIMING_BASE_TIMED_CALL_H_
#define PALLADION_EMU_TIMING_BASE_TIMED_CALL_H_

#include <optional>
#include <string>

#include "absl/types/span.h"
#include "emu/chip/machines/description.h"
#include "emu/emulate.h"
#include "emu/timing/report/timing.h"
#include "emu/timing/timeline/timeline.h"

namespace palladion::timing::base {

// All outlive the call.
struct TimedCall {
  const PreparedKernel& kernel;  // observable
  absl::Span<const Tensor> inputs;
  const machines::Machine& machine;
  RunOptions run;
  std::optional<timeline::TimelineOptions> timeline;  // wanted
  bool schedule = false;                              // wanted
  bool values = false;                                // computed in any case: for tests of what is left out else
  std::string replay = {};                            // the schedule that it is to take; "": that of the chip's times
  bool every_wave = false;                            // of a Triton kernel: each block is timed, also equal ones
  bool races = false;                                 // of a GPU: looked for in that run, so that a timeline says when
};

struct Timed {
  report::Timing timing;
  Report report;  // of that run: what was found, what was printed
  std::optional<timeline::Timeline> timeline;
  // What replays that run in a check with the same inputs and its defaults. Of a GPU: a TPU's programs run in the order
  // of the text.
  std::optional<std::string> schedule;
};

}  // namespace palladion::timing::base

#endif  // PALLADION_EMU_TIMING_BASE_TIMED_CALL_H_
