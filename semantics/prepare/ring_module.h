// A kernel with its floats replaced by elements of the ring of integers modulo 2^64, to separate rounding order from a
// defect: addition and multiplication of a ring are associative, so what still differs between two orders of programs
// there is no rounding. Based on: docs/spec/ring.md; the idea is that of Triton's FpSan. What it cannot do: views that
// look at a float's bits, and kernels whose control flow needs the floats themselves (their loops may not end).
#ifndef PALLADION_SEMANTICS_PREPARE_RING_MODULE_H_
#define PALLADION_SEMANTICS_PREPARE_RING_MODULE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "semantics/base/target.h"
#include "semantics/ir/module.h"
#include "semantics/tensor/tensor.h"

namespace palladion {

// A text of this one kernel, every float type now u64. Unimplemented: a view or operation that the ring has no form of.
absl::StatusOr<Module> RingModule(const Module& module, const Kernel& kernel, const Target& target);

// The word of a float: the integer itself where it is one, else a hash of its value, the negative of the word of its
// negative.
std::uint64_t RingWord(DType dtype, const std::byte* element);

// The words of a float array; any other array is copied.
absl::StatusOr<Tensor> RingTensor(const Tensor& tensor);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PREPARE_RING_MODULE_H_
