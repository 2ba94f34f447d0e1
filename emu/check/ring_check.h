// Is a difference between two schedules rounding order, or a defect? The kernel runs again over the ring of integers
// modulo 2^64 (docs/spec/ring.md), under the same two schedules.
#ifndef PALLADION_EMU_CHECK_RING_CHECK_H_
#define PALLADION_EMU_CHECK_RING_CHECK_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/emulate.h"

namespace palladion::check {

enum class RingAnswer : std::uint8_t {
  kRounding,   // equal in the ring
  kDefect,     // different there too
  kUndecided,  // the kernel has no form in the ring, or does not end there
};

struct RingVerdict {
  RingAnswer answer = RingAnswer::kUndecided;
  std::string why;  // when undecided
};

// Runs a kernel under one of the two schedules: false is the first.
using RunInRing = std::function<absl::StatusOr<std::vector<Tensor>>(const PreparedKernel& ring,
                                                                    absl::Span<const Tensor> inputs, bool second)>;

RingVerdict JudgeInRing(const PreparedKernel& kernel, absl::Span<const ConstArray> inputs, const RunInRing& run);

}  // namespace palladion::check

#endif  // PALLADION_EMU_CHECK_RING_CHECK_H_
