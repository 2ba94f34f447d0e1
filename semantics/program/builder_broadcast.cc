// Builder: operands of accesses that are broadcast to the shape of the access.
#include "semantics/base/status.h"
#include "semantics/program/builder.h"
#include "semantics/registry/shadow.h"
#include "semantics/tensor/copy_box.h"

namespace palladion {
namespace {

struct BroadcastParams {
  std::vector<CopyDim> dims;
  std::size_t element_bytes;
};

void EvalBroadcast(const BroadcastParams& p, const ValueOperands& operands) {
  CopyBox(operands.in[0], operands.out[0], p.dims, p.element_bytes);
}

void BroadcastMarks(const void* params, const ShadowOperands& operands) {
  CopyBox(reinterpret_cast<const std::byte*>(operands.in_undefined[0]),
          reinterpret_cast<std::byte*>(operands.out_undefined[0]), static_cast<const BroadcastParams*>(params)->dims,
          1);
}

}  // namespace

absl::StatusOr<SlotId> Builder::Broadcast(const Arg& arg, const Shape& shape) {
  PALLADION_ASSIGN_OR_RETURN(SlotId from, In(arg));
  const Type type = TypeOf(arg);
  if (type.shape == shape) return from;
  Type wide = type;
  wide.shape = shape;
  const auto bytes = static_cast<std::int64_t>(BytesPerElement(type));
  BroadcastParams params{.dims = {}, .element_bytes = BytesPerElement(type)};
  std::int64_t source = bytes, destination = bytes;
  const std::size_t skip = shape.size() - type.shape.size();
  for (std::size_t d = shape.size(); d-- > 0;) {
    const std::int64_t have = d < skip ? 1 : type.shape[d - skip];
    params.dims.insert(params.dims.begin(), CopyDim{shape[d], have == 1 ? 0 : source, destination});
    source *= have;
    destination *= shape[d];
  }
  BroadcastParams mark_params{.dims = params.dims, .element_bytes = 1};
  for (CopyDim& dim : mark_params.dims) dim.source_stride /= bytes, dim.destination_stride /= bytes;
  ValueKernel kernel = palladion::Bind<EvalBroadcast>(std::move(params));
  if (program_.slots[from.index()].constant != nullptr) {
    if (std::byte* out = NewConstant(ByteSize(wide)); out != nullptr) {
      RunNow(kernel, {from}, out);
      return SlotId{static_cast<std::int32_t>(program_.slots.size() - 1)};
    }
  }
  const SlotId to = NewSlot(wide);
  auto marks = std::make_shared<const ShadowKernel>(
      ShadowKernel{.run = BroadcastMarks, .params = std::make_shared<const BroadcastParams>(std::move(mark_params))});
  EmitValue(std::move(kernel), {from}, {to});
  program_.steps.back().shadow = marks.get();
  program_.owned.push_back(std::move(marks));
  temporaries_.push_back(to);
  return to;
}

}  // namespace palladion
