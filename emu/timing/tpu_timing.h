// The time of a kernel on a TPU.
#ifndef PALLADION_EMU_TIMING_TPU_TIMING_H_
#define PALLADION_EMU_TIMING_TPU_TIMING_H_

#include "absl/status/statusor.h"
#include "emu/timing/timed_call.h"

namespace palladion::timing {

// As TimeKernel.
absl::StatusOr<Timed> TimeOnTpu(const TimedCall& call);

}  // namespace palladion::timing

#endif  // PALLADION_EMU_TIMING_TPU_TIMING_H_
