// The error of a host whose memory does not suffice, which another host may not have: those who spread work over hosts
// ask for it. What it is not: the limit of memory that a run is given, which is said before it begins.
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
