#include "semantics/program/broadcast.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "semantics/base/status.h"
#include "semantics/base/units.h"
#include "semantics/registry/shadow.h"
#include "semantics/tensor/copy_box.h"

namespace palladion {
namespace {

struct BroadcastParams {
  std::vector<CopyDim> dims;
  ElementSize element_size{1};
};

void EvalBroadcast(const BroadcastParams& p, const ValueOperands& operands) {
  CopyBox(operands.in[0], operands.out[0], p.dims, p.element_size);
}

void BroadcastMarks(const void* params, const ShadowOperands& operands) {
  CopyBox(reinterpret_cast<const std::byte*>(operands.in_undefined[0]),
          reinterpret_cast<std::byte*>(operands.out_undefined[0]), static_cast<const BroadcastParams*>(params)->dims,
          ElementSize(1));
}

}  // namespace

absl::StatusOr<SlotId> Broadcast(const Arg& arg, const Shape& shape, Builder& builder) {
  PALLADION_ASSIGN_OR_RETURN(const SlotId from, builder.In(arg));
  const Type type = builder.TypeOf(arg);
  if (type.shape == shape) return from;
  Type wide = type;
  wide.shape = shape;
  const ElementSize size(static_cast<std::int64_t>(BytesPerElement(type)));
  BroadcastParams params{.dims = {}, .element_size = size}, mark_params;
  ElementCount source(1), destination(1);
  const std::size_t skip = shape.size() - type.shape.size();
  for (std::size_t d = shape.size(); d-- > 0;) {
    const std::int64_t have = d < skip ? 1 : type.shape[d - skip];
    const ElementCount step = have == 1 ? ElementCount() : source;
    const auto dim_of = [&](ElementSize each) {
      return CopyDim{ElementCount(shape[d]), step * each, destination * each};
    };
    params.dims.insert(params.dims.begin(), dim_of(size));
    mark_params.dims.insert(mark_params.dims.begin(), dim_of(ElementSize(1)));
    source = have * source;
    destination = shape[d] * destination;
  }
  ValueKernel kernel = Bind<EvalBroadcast>(std::move(params));
  if (const std::optional<SlotId> folded = builder.Fold(kernel, {from}, wide); folded.has_value()) return *folded;
  const SlotId to = builder.NewTemporary(wide);
  auto marks = std::make_shared<const ShadowKernel>(
      ShadowKernel{.run = BroadcastMarks, .params = std::make_shared<const BroadcastParams>(std::move(mark_params))});
  builder.EmitValue(std::move(kernel), {from}, {to});
  builder.program().steps.back().shadow = marks.get();
  builder.program().owned.push_back(std::move(marks));
  return to;
}

}  // namespace palladion
