// The time of a Triton kernel: one run in virtual time, and its report. Where no value that is loaded decides what a
// block does, none is computed (without_values.h).
#ifndef PALLADION_EMU_TIMING_TRITON_TIMING_H_
#define PALLADION_EMU_TIMING_TRITON_TIMING_H_

#include "absl/status/statusor.h"
#include "emu/timing/timed_call.h"

namespace palladion::timing {

// As TimeKernel.
absl::StatusOr<Timed> TimeTriton(const TimedCall& call);

}  // namespace palladion::timing

#endif  // PALLADION_EMU_TIMING_TRITON_TIMING_H_
