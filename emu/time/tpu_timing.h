// The time of a kernel on a TPU.
#ifndef PALLADION_EMU_TIME_TPU_TIMING_H_
#define PALLADION_EMU_TIME_TPU_TIMING_H_

#include "absl/status/statusor.h"
#include "emu/time/time_kernel.h"

namespace palladion::time {

// As TimeKernel.
absl::StatusOr<Timed> TimeOnTpu(const TimedCall& call);

}  // namespace palladion::time

#endif  // PALLADION_EMU_TIME_TPU_TIMING_H_
