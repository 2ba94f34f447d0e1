#include "emu/kernel/arrays.h"

#include <cstring>
#include <utility>

#include "semantics/base/status.h"

namespace palladion::kernel {

absl::StatusOr<std::vector<Tensor>> TensorsOf(absl::Span<const ConstArray> arrays) {
  std::vector<Tensor> tensors;
  for (const ConstArray& one : arrays) {
    PALLADION_ASSIGN_OR_RETURN(Tensor value,
                               Tensor::CreateUninitialized(one.dtype, {one.shape.begin(), one.shape.end()}));
    if (value.num_bytes() != 0) std::memcpy(value.bytes(), one.data, value.num_bytes());
    tensors.push_back(std::move(value));
  }
  return tensors;
}

std::vector<ConstArray> ArraysOf(absl::Span<const Tensor> tensors) {
  std::vector<ConstArray> arrays;
  arrays.reserve(tensors.size());
  for (const Tensor& tensor : tensors) arrays.push_back({tensor.dtype(), tensor.shape(), tensor.bytes()});
  return arrays;
}

std::vector<MutableArray> MutableArraysOf(std::vector<Tensor>& tensors) {
  std::vector<MutableArray> arrays;
  arrays.reserve(tensors.size());
  for (Tensor& tensor : tensors) arrays.push_back({tensor.dtype(), tensor.shape(), tensor.bytes()});
  return arrays;
}

absl::StatusOr<std::vector<Tensor>> NewOutputs(const PreparedKernel& kernel) {
  std::vector<Tensor> outputs;
  for (const OperandDescription& described : kernel.outputs()) {
    PALLADION_ASSIGN_OR_RETURN(Tensor tensor, Tensor::CreateUninitialized(described.dtype, described.shape));
    outputs.push_back(std::move(tensor));
  }
  return outputs;
}

}  // namespace palladion::kernel
