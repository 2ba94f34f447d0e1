// XLA's gather with JAX's modes; specified in docs/spec/shape.md. Based on: XLA's operation semantics and JAX's shape
// rule. Everything but the indices' values is chosen in prepare. A promise that an index lies inside is checked
// by an inspector, in checked runs only: such an index is clamped.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/families.h"
#include "semantics/ops/shape/index_batching.h"
#include "semantics/ops/shape/shape_common.h"
#include "semantics/registry/attrs.h"
#include "semantics/registry/inspect.h"
#include "semantics/simd/moves.h"
#include "semantics/tensor/element.h"

namespace palladion {
namespace {

struct Dimensions {
  Axes offset, collapsed, batching, indices_batching, start_map;
  Shape sizes;
};

absl::StatusOr<Dimensions> DimensionsOf(const Instr& op) {
  Dimensions dims;
  PALLADION_ASSIGN_OR_RETURN(dims.offset, IntsAttr(op, "offset_dims"));
  PALLADION_ASSIGN_OR_RETURN(dims.collapsed, IntsAttr(op, "collapsed_slice_dims"));
  PALLADION_ASSIGN_OR_RETURN(dims.start_map, IntsAttr(op, "start_index_map"));
  if (HasAttr(op, "operand_batching_dims")) {
    PALLADION_ASSIGN_OR_RETURN(dims.batching, IntsAttr(op, "operand_batching_dims"));
  }
  if (HasAttr(op, "start_indices_batching_dims")) {
    PALLADION_ASSIGN_OR_RETURN(dims.indices_batching, IntsAttr(op, "start_indices_batching_dims"));
  }
  PALLADION_ASSIGN_OR_RETURN(dims.sizes, IntsAttr(op, "slice_sizes"));
  return dims;
}

absl::Status ExpectSlices(const Dimensions& dims, const Type& x) {
  PALLADION_RETURN_IF_ERROR(ExpectLength(dims.sizes.size(), x.rank(), "attribute 'slice_sizes'"));
  for (std::size_t d = 0; d < dims.sizes.size(); ++d) {
    const bool dropped =
        Contains(dims.collapsed, static_cast<std::int64_t>(d)) || Contains(dims.batching, static_cast<std::int64_t>(d));
    if (dims.sizes[d] < 0 || dims.sizes[d] > x.shape[d] || (dropped && dims.sizes[d] > 1)) {
      return absl::InvalidArgumentError(Cat("attribute 'slice_sizes' must lie in [0, ", dropped ? 1 : x.shape[d],
                                            "] for dimension ", d, " of ", ToString(x), "; found ", dims.sizes[d]));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Shape> ResultShape(const Dimensions& dims, const Type& x, const Type& indices) {
  const Axes dropped = Union(dims.collapsed, dims.batching);
  const int rank = indices.rank() - 1 + static_cast<int>(dims.offset.size());
  PALLADION_RETURN_IF_ERROR(ExpectAxes(dims.offset, rank, "attribute 'offset_dims'"));
  if (dims.offset.size() + dropped.size() != x.shape.size()) {
    return absl::InvalidArgumentError(Cat("each of the ", x.rank(), " dimensions of ", ToString(x),
                                          " must be in a slice ('offset_dims' has ", dims.offset.size(),
                                          "), collapsed or batching (", dropped.size(), ")"));
  }
  Shape shape;
  std::size_t next_index = 0, next_slice = 0;
  for (int d = 0; d < rank; ++d) {
    if (!Contains(dims.offset, d)) {
      shape.push_back(indices.shape[next_index++]);
      continue;
    }
    while (Contains(dropped, static_cast<std::int64_t>(next_slice))) ++next_slice;
    shape.push_back(dims.sizes[next_slice++]);
  }
  return shape;
}

enum class Mode { kClip, kFill, kPromise };

absl::StatusOr<Mode> ModeOf(const Instr& op) {
  const absl::StatusOr<std::string> text = StringAttr(op, "mode");
  if (!text.ok()) return text.status();
  const std::string_view mode = *text;
  if (mode == "clip") return Mode::kClip;
  if (mode == "fill") return Mode::kFill;
  if (mode == "promise") return Mode::kPromise;
  return absl::InvalidArgumentError(Cat("attribute 'mode' must be clip, fill or promise; found '", mode, "'"));
}

// The storage of `fill_value`, or of what JAX takes without one: NaN, the lowest signed, the largest unsigned number,
// true.
absl::StatusOr<std::uint64_t> FillValue(const Instr& op, DType dtype) {
  const Attr* attr = HasAttr(op, "fill_value") ? Find(op.attrs, "fill_value") : nullptr;
  return VisitDType(dtype, [attr](auto tag) -> absl::StatusOr<std::uint64_t> {
    using E = Element<decltype(tag)::value>;
    using Storage = StorageOf<decltype(tag)::value>;
    Storage value{};
    if (attr == nullptr) {
      if constexpr (E::kIsFloat) {
        value = E::kQuietNaN;
      } else if constexpr (E::kBits == 1) {
        value = 1;
      } else {
        value = std::is_signed_v<Storage> ? E::kMin : E::kMax;
      }
    } else if (const auto* number = std::get_if<double>(&attr->value)) {
      value = E::FromDouble(*number);
    } else if (const auto* flag = std::get_if<bool>(&attr->value)) {
      value = E::FromDouble(*flag ? 1 : 0);
    } else if (const auto* integer = std::get_if<std::int64_t>(&attr->value)) {
      if constexpr (E::kIsFloat || E::kBits == 1) {
        value = E::FromDouble(static_cast<double>(*integer));
      } else {
        value = E::Wrap(static_cast<std::uint64_t>(*integer));
      }
    } else {
      return absl::InvalidArgumentError(Cat("attribute 'fill_value' must be a number; found ", ToString(*attr)));
    }
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(value));
    return bits;
  });
}

absl::Status VerifyGather(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 2));
  PALLADION_RETURN_IF_ERROR(ExpectKind(context, 0, kAnyKind));
  PALLADION_RETURN_IF_ERROR(ExpectKind(context, 1, kInts));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 1));
  const Type& x = context.in[0];
  const Type& indices = context.in[1];
  PALLADION_ASSIGN_OR_RETURN(const Dimensions dims, DimensionsOf(op));
  if (indices.rank() == 0 || indices.shape.back() != static_cast<std::int64_t>(dims.start_map.size())) {
    return absl::InvalidArgumentError(Cat("the last dimension of the indices must have one entry for each of the ",
                                          dims.start_map.size(), " axes of 'start_index_map'; found ",
                                          ToString(indices)));
  }
  PALLADION_RETURN_IF_ERROR(ExpectSorted(dims.offset, "attribute 'offset_dims'"));
  PALLADION_RETURN_IF_ERROR(ExpectSorted(dims.collapsed, "attribute 'collapsed_slice_dims'"));
  PALLADION_RETURN_IF_ERROR(ExpectSorted(dims.batching, "attribute 'operand_batching_dims'"));
  PALLADION_RETURN_IF_ERROR(
      ExpectAxes(Union(dims.collapsed, dims.batching), x.rank(), "collapsed and batching dimensions"));
  PALLADION_RETURN_IF_ERROR(
      ExpectAxes(Union(dims.start_map, dims.batching), x.rank(), "'start_index_map' and batching dimensions"));
  PALLADION_RETURN_IF_ERROR(
      ExpectBatching({dims.batching, dims.indices_batching}, x, indices, "attribute 'start_indices_batching_dims'"));
  PALLADION_RETURN_IF_ERROR(ExpectSlices(dims, x));
  PALLADION_RETURN_IF_ERROR(ModeOf(op).status());
  PALLADION_RETURN_IF_ERROR(FillValue(op, x.dtype).status());
  PALLADION_ASSIGN_OR_RETURN(Shape shape, ResultShape(dims, x, indices));
  PALLADION_RETURN_IF_ERROR(ExpectPossible(shape));
  return ExpectType(op, 0, ArrayType(x.dtype, std::move(shape)));
}

// The result is walked slice by slice: one for each point of the indices' dimensions but the last.
struct GatherParams {
  struct Point {  // one dimension of the indices
    std::int64_t count;
    ByteCount out_step;     // of the result
    ByteCount source_step;  // of the array: not 0 for a batching dimension
  };
  struct Start {  // one entry of an index vector
    std::int64_t last;
    ByteCount step;
  };
  std::vector<Point> points;
  std::vector<Start> starts;
  DType index_dtype;
  bool fills;
  std::uint64_t fill;
  bool is_empty;
  BoxCopy slice;       // from the array to the result
  BoxCopy fill_slice;  // from one element to the result
};

// Where one slice begins in the array. False: outside, with `fills`.
bool SliceOffset(const GatherParams& p, const std::byte* indices, std::size_t vector_index, std::int64_t* offset) {
  for (std::size_t i = 0; i < p.starts.size(); ++i) {
    const std::int64_t start = IntegerAt(indices, p.index_dtype, vector_index * p.starts.size() + i);
    if (p.fills && (start < 0 || start > p.starts[i].last)) return false;
    *offset += std::clamp<std::int64_t>(start, 0, p.starts[i].last) * p.starts[i].step.value();
  }
  return true;
}

struct Cursor {
  const ValueOperands& operands;
  std::size_t vector_index = 0;  // the points are walked in row-major order
};

void GatherFrom(const GatherParams& p, std::size_t dim, std::int64_t source, std::int64_t out, Cursor& at) {
  if (dim < p.points.size()) {
    const GatherParams::Point& point = p.points[dim];
    for (std::int64_t i = 0; i < point.count; ++i) {
      GatherFrom(p, dim + 1, source + i * point.source_step.value(), out + i * point.out_step.value(), at);
    }
    return;
  }
  if (SliceOffset(p, at.operands.in[1], at.vector_index++, &source)) {
    p.slice(at.operands.in[0] + source, at.operands.out[0] + out);
  } else {
    p.fill_slice(reinterpret_cast<const std::byte*>(&p.fill), at.operands.out[0] + out);
  }
}

void EvalGather(const GatherParams& p, const ValueOperands& operands) {
  if (p.is_empty) return;
  Cursor cursor{operands};
  GatherFrom(p, 0, 0, 0, cursor);
}

void DescribePoints(const Dimensions& dims, const ValueTypes& types, GatherParams& params) {
  const Type& x = types.in[0];
  const std::vector<ByteCount> from = DenseStrides(x.shape, SizeOfElement(x));
  const std::vector<ByteCount> to = DenseStrides(types.out[0].shape, SizeOfElement(x));
  for (std::size_t d = 0; d < to.size(); ++d) {
    if (Contains(dims.offset, static_cast<std::int64_t>(d))) continue;
    GatherParams::Point point{types.out[0].shape[d], to[d], {}};
    for (std::size_t b = 0; b < dims.batching.size(); ++b) {
      if (dims.indices_batching[b] != static_cast<std::int64_t>(params.points.size())) continue;
      point.source_step = from[static_cast<std::size_t>(dims.batching[b])];
    }
    params.points.push_back(point);
  }
  for (std::int64_t axis : dims.start_map) {
    const auto d = static_cast<std::size_t>(axis);
    params.starts.push_back({x.shape[d] - dims.sizes[d], from[d]});
  }
}

absl::StatusOr<ValueKernel> PrepareGather(const Instr& op, const ValueTypes& types) {
  const Type& x = types.in[0];
  PALLADION_ASSIGN_OR_RETURN(const Dimensions dims, DimensionsOf(op));
  PALLADION_ASSIGN_OR_RETURN(const Mode mode, ModeOf(op));
  PALLADION_ASSIGN_OR_RETURN(const std::uint64_t fill, FillValue(op, x.dtype));
  const ElementSize size = SizeOfElement(x);
  GatherParams params{.points = {},
                      .starts = {},
                      .index_dtype = types.in[1].dtype,
                      .fills = mode == Mode::kFill,
                      .fill = fill,
                      .is_empty = Elements(types.out[0]) == 0,
                      .slice = {},
                      .fill_slice = {}};
  DescribePoints(dims, types, params);
  const std::vector<ByteCount> from = DenseStrides(x.shape, size);
  const std::vector<ByteCount> to = DenseStrides(types.out[0].shape, size);
  const Axes dropped = Union(dims.collapsed, dims.batching);
  std::vector<CopyDim> slice, filled;
  std::size_t next = 0;
  for (std::int64_t axis : dims.offset) {
    while (Contains(dropped, static_cast<std::int64_t>(next))) ++next;
    const ByteCount out_step = to[static_cast<std::size_t>(axis)];
    const ElementCount count(dims.sizes[next]);
    slice.push_back({count, from[next], out_step});
    filled.push_back({count, ByteCount(), out_step});
    ++next;
  }
  PALLADION_ASSIGN_OR_RETURN(params.slice, MakeBoxCopy(slice, size));
  PALLADION_ASSIGN_OR_RETURN(params.fill_slice, MakeBoxCopy(filled, size));
  return Bind<EvalGather>(std::move(params));
}

// Of a promise: what it promises.
std::vector<Inspector> InspectGather(const Instr& op, const ValueTypes& types) {
  if (*ModeOf(op) != Mode::kPromise || Elements(types.out[0]) == 0) return {};
  const Dimensions dims = *DimensionsOf(op);
  std::vector<std::int64_t> last;
  for (std::int64_t axis : dims.start_map) {
    const auto d = static_cast<std::size_t>(axis);
    last.push_back(types.in[0].shape[d] - dims.sizes[d]);
  }
  if (last.empty()) return {};
  return {InspectIndices(1, types.in[1], std::move(last))};
}

constexpr OpRow kGatherOps[] = {
    {.name = "gather",
     .spec = "shape.md#gather",
     .verify = VerifyGather,
     .prepare = PrepareGather,
     .inspect = InspectGather,
     .flow = Flow::kMove,
     .moved = 1,
     .backends = kTpu},
};

}  // namespace

absl::Span<const OpRow> GatherOps() { return kGatherOps; }

}  // namespace palladion
