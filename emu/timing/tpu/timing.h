// The time of a kernel on a TPU.
#ifndef PALLADION_EMU_TIMING_TPU_TIMING_H_
#define PALLADION_EMU_TIMING_TPU_TIMING_H_

#include "absl/status/statusor.h"
#include "emu/timing/base/timed_call.h"

namespace palladion::timing::tpu {

// As TimeKernel.
absl::StatusOr<base::Timed> TimeOnTpu(const base::TimedCall& call);

}  // namespace palladion::timing::tpu

#endif  // PALLADION_EMU_TIMING_TPU_TIMING_H_
