// Views of tensors as the arrays that a launch takes: the tensors must not move during the launch.
#ifndef PALLADION_EMU_KERNEL_ARRAYS_H_
#define PALLADION_EMU_KERNEL_ARRAYS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/emulate.h"

namespace palladion::kernel {

// Copies. ResourceExhausted: too large.
absl::StatusOr<std::vector<Tensor>> TensorsOf(absl::Span<const ConstArray> arrays);
std::vector<ConstArray> ArraysOf(absl::Span<const Tensor> tensors);
std::vector<MutableArray> MutableArraysOf(std::vector<Tensor>& tensors);

// One tensor for each output, not initialised: a launch writes outputs whole. ResourceExhausted: too large.
absl::StatusOr<std::vector<Tensor>> NewOutputs(const PreparedKernel& kernel);

}  // namespace palladion::kernel

#endif  // PALLADION_EMU_KERNEL_ARRAYS_H_
