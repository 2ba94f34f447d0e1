// Operands of operations of a tensor core: views of shared and of tensor memory, of one block or of the two that work
// together. Based on: tcgen05 of JAX's Mosaic GPU backend. Not known here: which operation has which.
#ifndef PALLADION_SEMANTICS_OPS_GPU_TENSOR_OPERANDS_H_
#define PALLADION_SEMANTICS_OPS_GPU_TENSOR_OPERANDS_H_

#include <optional>
#include <string_view>
#include <vector>

#include "semantics/ops/ref/async_access.h"

namespace palladion {

// A view, and which way the tensor core goes to its memory.
struct TensorView {
  ViewPlan plan;
  Proxy proxy = Proxy::kAsync;
};

absl::StatusOr<TensorView> PlanTensorView(const Instr& op, std::string_view name, Builder& builder);
AsyncOperand TensorOperandOf(const ViewPlan& plan, Proxy proxy, const Step& step, Frame& frame);
inline AsyncOperand TensorOperandOf(const TensorView& view, const Step& step, Frame& frame) {
  return TensorOperandOf(view.plan, view.proxy, step, frame);
}

// The grid dimension of collective_axis; none: the block is alone.
absl::StatusOr<std::optional<std::size_t>> PairAxis(const Instr& op, const Builder& builder);

// Only the first block of a pair issues.
bool Issues(const std::optional<std::size_t>& pair, const Frame& frame);

// Adds the same operands of the pair's other block; false: that block is not there, which has been reported.
bool AddOfOther(std::size_t axis, const Site& site, Frame& frame, std::vector<AsyncOperand>* operands);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_OPS_GPU_TENSOR_OPERANDS_H_
