// The error for a host with too little memory. Another host may have enough, so code that spreads work over hosts tests
// for it. It is not the error for a run's memory limit, which is reported before the run begins.
#ifndef PALLADION_EMU_KERNEL_OUT_OF_MEMORY_H_
#define PALLADION_EMU_KERNEL_OUT_OF_MEMORY_H_

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/string_view.h"

namespace palladion::kernel {

inline constexpr absl::string_view kOutOfMemory = "palladion/out-of-memory";  // of a payload

// ResourceExhausted.
inline absl::Status OutOfMemory(absl::string_view message) {
  absl::Status status = absl::ResourceExhaustedError(message);
  status.SetPayload(kOutOfMemory, absl::Cord());
  return status;
}

inline bool IsOutOfMemory(const absl::Status& status) { return status.GetPayload(kOutOfMemory).has_value(); }

}  // namespace palladion::kernel

#endif  // PALLADION_EMU_KERNEL_OUT_OF_MEMORY_H_
