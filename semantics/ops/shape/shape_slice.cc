// Slices, padding and iota. Based on: JAX's shape rules and XLA's clamping of dynamic starts; specified in
// docs/spec/shape.md. Bits are kept.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/families.h"
#include "semantics/ops/shape/shape_common.h"
#include "semantics/registry/attrs.h"
#include "semantics/registry/inspect.h"
#include "semantics/simd/moves.h"

namespace palladion {
namespace {

absl::StatusOr<std::vector<std::int64_t>> StridesAttr(const Instr& op, int rank) {
  if (!HasAttr(op, "strides")) return std::vector<std::int64_t>(static_cast<std::size_t>(rank), 1);
  return IntsAttr(op, "strides");
}

absl::Status VerifySlice(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOneToOne(op, context));
  const Type& x = context.in[0];
  PALLADION_ASSIGN_OR_RETURN(const auto start, IntsAttr(op, "start"));
  PALLADION_ASSIGN_OR_RETURN(const auto limit, IntsAttr(op, "limit"));
  PALLADION_ASSIGN_OR_RETURN(const auto strides, StridesAttr(op, x.rank()));
  PALLADION_RETURN_IF_ERROR(ExpectLength(start.size(), x.rank(), "attribute 'start'"));
  PALLADION_RETURN_IF_ERROR(ExpectLength(limit.size(), x.rank(), "attribute 'limit'"));
  PALLADION_RETURN_IF_ERROR(ExpectLength(strides.size(), x.rank(), "attribute 'strides'"));
  Shape shape;
  for (std::size_t d = 0; d < x.shape.size(); ++d) {
    if (start[d] < 0 || start[d] > limit[d] || limit[d] > x.shape[d] || strides[d] < 1) {
      return absl::InvalidArgumentError(Cat("dimension ", d, " must have 0 <= start <= limit <= ", x.shape[d],
                                            " and a stride of at least 1; found start ", start[d], ", limit ", limit[d],
                                            ", stride ", strides[d]));
    }
    const std::int64_t length = limit[d] - start[d];
    shape.push_back(length / strides[d] + (length % strides[d] != 0 ? 1 : 0));
  }
  return ExpectType(op, 0, WithShape(x, std::move(shape)));
}

absl::StatusOr<ValueKernel> PrepareSlice(const Instr& op, const ValueTypes& types) {
  const Type& x = types.in[0];
  std::vector<ByteCount> strides = DenseStrides(x.shape, SizeOfElement(x));
  const std::vector<std::int64_t> start = Ints(op, "start");
  const std::vector<std::int64_t> steps = *StridesAttr(op, x.rank());
  ByteCount first;
  for (std::size_t d = 0; d < strides.size(); ++d) {
    first += start[d] * strides[d];
    const bool taken = types.out[0].shape[d] > 1;  // else it may be any number
    strides[d] = taken ? steps[d] * strides[d] : ByteCount();
  }
  return GatherStridesKernel(types.out[0].shape, strides, SizeOfElement(x), first);
}

// The trailing operands of a dynamic slice: one integer of rank 0 for each dimension.
absl::Status ExpectStarts(const VerifyContext& context, std::size_t first, int rank) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, first + static_cast<std::size_t>(rank)));
  for (std::size_t i = first; i < context.in.size(); ++i) {
    PALLADION_RETURN_IF_ERROR(ExpectKind(context, i, kInts));
    if (context.in[i].rank() != 0) {
      return absl::InvalidArgumentError(
          Cat("operand ", i, ", a start, must have rank 0; found ", ToString(context.in[i])));
    }
  }
  return absl::OkStatus();
}

// A box whose place along each dimension is the value of an operand, moved into the array.
struct DynamicParams {
  struct Dim {
    DType dtype;        // of the start
    std::int64_t last;  // the largest start
    ByteCount step;     // of the array
  };
  std::vector<Dim> dims;
  std::size_t first_start;  // the operand
  BoxCopy box;
  std::size_t whole_bytes;
};

std::int64_t BoxOffset(const DynamicParams& p, const ValueOperands& operands) {
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < p.dims.size(); ++d) {
    const std::int64_t start = IntegerAt(operands.in[p.first_start + d], p.dims[d].dtype, 0);
    offset += std::clamp<std::int64_t>(start, 0, p.dims[d].last) * p.dims[d].step.value();
  }
  return offset;
}

absl::StatusOr<DynamicParams> MakeDynamic(const ValueTypes& types, const Shape& box_shape, std::size_t first_start,
                                          bool is_update) {
  const Type& array = types.in[0];
  const ElementSize size = SizeOfElement(array);
  const std::vector<ByteCount> whole = DenseStrides(array.shape, size);
  const std::vector<ByteCount> dense = DenseStrides(box_shape, size);
  DynamicParams params{.dims = {}, .first_start = first_start, .box = {}, .whole_bytes = Bytes(array)};
  std::vector<CopyDim> copy;
  for (std::size_t d = 0; d < whole.size(); ++d) {
    params.dims.push_back({types.in[first_start + d].dtype, array.shape[d] - box_shape[d], whole[d]});
    copy.push_back({ElementCount(box_shape[d]), is_update ? dense[d] : whole[d], is_update ? whole[d] : dense[d]});
  }
  PALLADION_ASSIGN_OR_RETURN(params.box, MakeBoxCopy(copy, size));
  return params;
}

void EvalDynamicSlice(const DynamicParams& p, const ValueOperands& operands) {
  if (p.box.row != BoxCopy::Row::kNothing) p.box(operands.in[0] + BoxOffset(p, operands), operands.out[0]);
}

void EvalDynamicUpdate(const DynamicParams& p, const ValueOperands& operands) {
  if (p.whole_bytes == 0) return;
  std::memcpy(operands.out[0], operands.in[0], p.whole_bytes);
  p.box(operands.in[1], operands.out[0] + BoxOffset(p, operands));
}

absl::Status ExpectInside(const Shape& box, const Type& array, std::string_view what) {
  for (std::size_t d = 0; d < box.size(); ++d) {
    if (box[d] >= 0 && box[d] <= array.shape[d]) continue;
    return absl::InvalidArgumentError(
        Cat(what, " must lie in [0, ", array.shape[d], "] for dimension ", d, "; found ", box[d]));
  }
  return absl::OkStatus();
}

absl::Status VerifyDynamicSlice(const Instr& op, const VerifyContext& context) {
  if (context.in.empty()) return ExpectOperands(context, 1);
  PALLADION_RETURN_IF_ERROR(ExpectData(context, 0));
  const Type& x = context.in[0];
  PALLADION_RETURN_IF_ERROR(ExpectStarts(context, 1, x.rank()));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 1));
  PALLADION_ASSIGN_OR_RETURN(const Shape sizes, IntsAttr(op, "sizes"));
  PALLADION_RETURN_IF_ERROR(ExpectLength(sizes.size(), x.rank(), "attribute 'sizes'"));
  PALLADION_RETURN_IF_ERROR(ExpectInside(sizes, x, "attribute 'sizes'"));
  return ExpectType(op, 0, WithShape(x, sizes));
}

absl::StatusOr<ValueKernel> PrepareDynamicSlice(const Instr&, const ValueTypes& types) {
  PALLADION_ASSIGN_OR_RETURN(DynamicParams params, MakeDynamic(types, types.out[0].shape, 1, false));
  return Bind<EvalDynamicSlice>(std::move(params));
}

absl::Status VerifyDynamicUpdateSlice(const Instr& op, const VerifyContext& context) {
  if (context.in.size() < 2) return ExpectOperands(context, 2);
  PALLADION_RETURN_IF_ERROR(ExpectData(context, 0));
  const Type& x = context.in[0];
  const Type& update = context.in[1];
  PALLADION_RETURN_IF_ERROR(ExpectStarts(context, 2, x.rank()));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 1));
  if (update.kind != x.kind || update.dtype != x.dtype || update.rank() != x.rank()) {
    return absl::InvalidArgumentError(Cat("operand 1, the update, must have the element type and rank of ", ToString(x),
                                          "; found ", ToString(update)));
  }
  PALLADION_RETURN_IF_ERROR(ExpectInside(update.shape, x, "the update's shape"));
  return ExpectType(op, 0, x);
}

absl::StatusOr<ValueKernel> PrepareDynamicUpdateSlice(const Instr&, const ValueTypes& types) {
  PALLADION_ASSIGN_OR_RETURN(DynamicParams params, MakeDynamic(types, types.in[1].shape, 2, true));
  return Bind<EvalDynamicUpdate>(std::move(params));
}

// Where one dimension of the padded array lies in the result: elements [begin, end) of the array, the first at `to`.
struct PaddedDim {
  std::int64_t size;
  std::int64_t begin, end, to, step;
};

PaddedDim PadDim(std::int64_t n, const std::vector<std::int64_t>& config) {
  const std::int64_t low = config[0], high = config[1], step = config[2] + 1;
  const std::int64_t size = low + high + (n > 0 ? (n - 1) * step + 1 : 0);
  // Element i lies at low + i·step; those with a place in [0, size) are kept.
  const std::int64_t begin = low >= 0 ? 0 : std::min(n, (-low + step - 1) / step);
  const std::int64_t end = size <= low ? 0 : std::min(n, (size - low + step - 1) / step);
  return {size, begin, std::max(begin, end), low + begin * step, step};
}

absl::Status VerifyPad(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 2));
  PALLADION_RETURN_IF_ERROR(ExpectData(context, 0));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 1));
  const Type& x = context.in[0];
  const Type& value = context.in[1];
  if (value.kind != x.kind || value.dtype != x.dtype || value.rank() != 0) {
    return absl::InvalidArgumentError(
        Cat("operand 1, the padding value, must be ", ToString(WithShape(x, {})), "; found ", ToString(value)));
  }
  PALLADION_ASSIGN_OR_RETURN(const auto config, IntListsAttr(op, "config"));
  PALLADION_RETURN_IF_ERROR(ExpectLength(config.size(), x.rank(), "attribute 'config'"));
  Shape shape;
  for (std::size_t d = 0; d < config.size(); ++d) {
    constexpr std::int64_t kMost = kMaxElements;
    bool ok = config[d].size() == 3 && config[d][2] >= 0 && config[d][2] <= kMost;
    for (std::size_t i = 0; ok && i < 2; ++i) ok = config[d][i] >= -kMost && config[d][i] <= kMost;
    ok = ok && (x.shape[d] == 0 || config[d][2] <= kMost / x.shape[d]);
    if (ok) shape.push_back(PadDim(x.shape[d], config[d]).size);
    if (!ok || shape.back() < 0) {
      return absl::InvalidArgumentError(
          Cat("attribute 'config' must be [low, high, interior] for each dimension, with "
              "interior >= 0 and a padded size >= 0; found ",
              ToString(config[d]), " for dimension ", d, " of ", ToString(x)));
    }
  }
  PALLADION_RETURN_IF_ERROR(ExpectPossible(shape));
  return ExpectType(op, 0, WithShape(x, std::move(shape)));
}

struct PadParams {
  std::size_t elements;
  bool covers_all;  // nothing of the padding is left to see
  BoxCopy copy;
};
void EvalPad(const PadParams& p, const ValueOperands& operands) {
  if (!p.covers_all) simd::Fill(operands.in[1], p.copy.element_size.size(), operands.out[0], p.elements);
  p.copy(operands.in[0], operands.out[0]);
}

absl::StatusOr<ValueKernel> PreparePad(const Instr& op, const ValueTypes& types) {
  const Type& x = types.in[0];
  const ElementSize size = SizeOfElement(x);
  const std::vector<ByteCount> from = DenseStrides(x.shape, size);
  const std::vector<ByteCount> to = DenseStrides(types.out[0].shape, size);
  PALLADION_ASSIGN_OR_RETURN(const auto config, IntListsAttr(op, "config"));
  std::vector<CopyDim> dims;
  ByteCount source, destination;
  std::int64_t copied = 1;
  for (std::size_t d = 0; d < config.size(); ++d) {
    const PaddedDim dim = PadDim(x.shape[d], config[d]);
    dims.push_back({ElementCount(dim.end - dim.begin), from[d], dim.step * to[d]});
    source += dim.begin * from[d];
    destination += dim.to * to[d];
    copied *= dim.end - dim.begin;
  }
  PadParams params{.elements = Elements(types.out[0]), .covers_all = false, .copy = {}};
  params.covers_all = static_cast<std::size_t>(copied) == params.elements;
  PALLADION_ASSIGN_OR_RETURN(params.copy, MakeBoxCopy(dims, size, source, destination));
  return Bind<EvalPad>(std::move(params));
}

absl::Status VerifyIota(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 0));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 1));
  const Type& result = op.types[0];
  if (!result.is_array() || !kNumbers.contains(Info(result.dtype).kind)) {
    return absl::InvalidArgumentError(
        Cat("the result must be an array of integers or floats; found ", ToString(result)));
  }
  PALLADION_ASSIGN_OR_RETURN(const std::int64_t dim, IntAttr(op, "dim"));
  return ExpectAxis(dim, result.rank(), "attribute 'dim'");
}

struct IotaParams {
  DType dtype;
  std::size_t copies;  // of the [length, inner] plane
  std::size_t length;
  std::size_t inner;
  std::size_t plane_bytes;
};
void EvalIota(const IotaParams& p, const ValueOperands& operands) {
  if (p.copies == 0 || p.plane_bytes == 0) return;
  std::byte* out = operands.out[0];
  simd::Iota(p.dtype, 1, p.length, p.inner, out);
  const std::size_t total = p.copies * p.plane_bytes;
  for (std::size_t done = p.plane_bytes; done < total;) {  // what is there is doubled
    const std::size_t more = std::min(done, total - done);
    std::memcpy(out + done, out, more);
    done += more;
  }
}

absl::StatusOr<ValueKernel> PrepareIota(const Instr& op, const ValueTypes& types) {
  const Type& type = types.out[0];
  const auto dim = static_cast<std::size_t>(Int(op, "dim"));
  IotaParams params{.dtype = type.dtype, .copies = 1, .length = 0, .inner = 1, .plane_bytes = 0};
  params.length = static_cast<std::size_t>(type.shape[dim]);
  for (std::size_t d = 0; d < dim; ++d) params.copies *= static_cast<std::size_t>(type.shape[d]);
  for (std::size_t d = dim + 1; d < type.shape.size(); ++d) params.inner *= static_cast<std::size_t>(type.shape[d]);
  params.plane_bytes = params.length * params.inner * StorageBytes(type.dtype);
  return Bind<EvalIota>(params);
}

constexpr OpRow kSliceOps[] = {
    {.name = "slice",
     .spec = "shape.md#slice",
     .verify = VerifySlice,
     .prepare = PrepareSlice,
     .flow = Flow::kMove,
     .backends = kTpuGpu},
    {.name = "dynamic_slice",
     .spec = "shape.md#dynamic_slice",
     .verify = VerifyDynamicSlice,
     .prepare = PrepareDynamicSlice,
     .inspect = InspectSliceStarts,
     .flow = Flow::kMove,
     .moved = 1,
     .backends = kNoBackend},
    {.name = "dynamic_update_slice",
     .spec = "shape.md#dynamic_update_slice",
     .verify = VerifyDynamicUpdateSlice,
     .prepare = PrepareDynamicUpdateSlice,
     .inspect = InspectSliceStarts,
     .flow = Flow::kMove,
     .moved = 2,
     .backends = kNoBackend},
    {.name = "pad",
     .spec = "shape.md#pad",
     .verify = VerifyPad,
     .prepare = PreparePad,
     .flow = Flow::kMove,
     .backends = kTpu},
    {.name = "iota", .spec = "shape.md#iota", .verify = VerifyIota, .prepare = PrepareIota, .in_ring = InRing::kSame},
};

}  // namespace

absl::Span<const OpRow> SliceOps() { return kSliceOps; }

}  // namespace palladion
