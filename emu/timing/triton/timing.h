// The time of a Triton kernel: one run in virtual time, and its report. Where no value that is loaded decides what a
// block does, none is computed (emu/timing/base/without_values.h).
#ifndef PALLADION_EMU_TIMING_TRITON_TIMING_H_
#define PALLADION_EMU_TIMING_TRITON_TIMING_H_

#include "absl/status/statusor.h"
#include "emu/timing/base/timed_call.h"

namespace palladion::timing::triton {

// As TimeKernel.
absl::StatusOr<base::Timed> TimeTriton(const base::TimedCall& call);

}  // namespace palladion::timing::triton

#endif  // PALLADION_EMU_TIMING_TRITON_TIMING_H_
