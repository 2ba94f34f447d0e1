// XLA's scatter with JAX's modes; specified in docs/spec/shape.md. Based on: XLA's operation semantics, JAX's shape
// rule and the clamping of jax/_src/lax/slicing.py. Updates are applied one after another in row-major order of the
// index vectors, as XLA does it on CPU; on hardware their order is not specified. Everything but the indices' values is
// chosen in prepare. A promise that an index lies inside is checked by an inspector, in checked runs only. Not checked:
// the promise that no two updates meet (unique_indices), which kernel text does not carry.
#include <algorithm>
#include <cstdint>
#include <cstring>
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
#include "semantics/simd/elementwise.h"

namespace palladion {
namespace {

struct Dimensions {
  Axes window, inserted, batching, indices_batching, start_map;
};

absl::StatusOr<Dimensions> DimensionsOf(const Instr& op) {
  Dimensions dims;
  PALLADION_ASSIGN_OR_RETURN(dims.window, IntsAttr(op, "update_window_dims"));
  PALLADION_ASSIGN_OR_RETURN(dims.inserted, IntsAttr(op, "inserted_window_dims"));
  PALLADION_ASSIGN_OR_RETURN(dims.start_map, IntsAttr(op, "scatter_dims_to_operand_dims"));
  if (HasAttr(op, "operand_batching_dims")) {
    PALLADION_ASSIGN_OR_RETURN(dims.batching, IntsAttr(op, "operand_batching_dims"));
  }
  if (HasAttr(op, "scatter_indices_batching_dims")) {
    PALLADION_ASSIGN_OR_RETURN(dims.indices_batching, IntsAttr(op, "scatter_indices_batching_dims"));
  }
  return dims;
}

// What the attributes say of x and the indices.
absl::Status ExpectDimensions(const Dimensions& dims, const Type& x, const Type& indices) {
  if (indices.rank() == 0 || indices.shape.back() != static_cast<std::int64_t>(dims.start_map.size())) {
    return absl::InvalidArgumentError(Cat("the last dimension of the indices must have one entry for each of the ",
                                          dims.start_map.size(), " axes of 'scatter_dims_to_operand_dims'; found ",
                                          ToString(indices)));
  }
  PALLADION_RETURN_IF_ERROR(ExpectSorted(dims.window, "attribute 'update_window_dims'"));
  PALLADION_RETURN_IF_ERROR(ExpectSorted(dims.inserted, "attribute 'inserted_window_dims'"));
  PALLADION_RETURN_IF_ERROR(ExpectSorted(dims.batching, "attribute 'operand_batching_dims'"));
  PALLADION_RETURN_IF_ERROR(
      ExpectAxes(Union(dims.inserted, dims.batching), x.rank(), "inserted and batching dimensions"));
  PALLADION_RETURN_IF_ERROR(ExpectAxes(Union(dims.start_map, dims.batching), x.rank(),
                                       "'scatter_dims_to_operand_dims' and batching dimensions"));
  return ExpectBatching({dims.batching, dims.indices_batching}, x, indices,
                        "attribute 'scatter_indices_batching_dims'");
}

// The updates' dimensions are those of the indices but the last, and the windows'.
absl::Status ExpectUpdates(const Dimensions& dims, const VerifyContext& context) {
  const Type& x = context.in[0];
  const Type& indices = context.in[1];
  const Type& updates = context.in[2];
  const int rank = indices.rank() - 1 + static_cast<int>(dims.window.size());
  PALLADION_RETURN_IF_ERROR(ExpectAxes(dims.window, rank, "attribute 'update_window_dims'"));
  const Axes dropped = Union(dims.inserted, dims.batching);
  if (dims.window.size() + dropped.size() != x.shape.size()) {
    return absl::InvalidArgumentError(Cat("each of the ", x.rank(), " dimensions of ", ToString(x),
                                          " must be in a window ('update_window_dims' has ", dims.window.size(),
                                          "), inserted or batching (", dropped.size(), ")"));
  }
  bool fits = updates.rank() == rank && updates.dtype == x.dtype;
  std::size_t next_index = 0, next_window = 0;
  for (int d = 0; fits && d < rank; ++d) {
    const std::int64_t size = updates.shape[static_cast<std::size_t>(d)];
    if (!Contains(dims.window, d)) {
      fits = size == indices.shape[next_index++];
      continue;
    }
    while (Contains(dropped, static_cast<std::int64_t>(next_window))) ++next_window;
    fits = size <= x.shape[next_window++];
  }
  if (fits) return absl::OkStatus();
  return absl::InvalidArgumentError(
      Cat("the updates must be of type ", Name(x.dtype), ", and have ", rank, " dimensions: the windows' at ",
          ToString(dims.window), ", none larger than that of ", ToString(x), ", and elsewhere those of the indices ",
          ToString(indices), " but the last; found ", ToString(updates)));
}

enum class Mode { kClip, kDrop, kPromise };

absl::StatusOr<Mode> ModeOf(const Instr& op) {
  const absl::StatusOr<std::string> text = StringAttr(op, "mode");
  if (!text.ok()) return text.status();
  if (*text == "clip") return Mode::kClip;
  if (*text == "drop") return Mode::kDrop;
  if (*text == "promise") return Mode::kPromise;
  return absl::InvalidArgumentError(Cat("attribute 'mode' must be clip, drop or promise; found '", *text, "'"));
}

absl::Status VerifyScatter(const Instr& op, const VerifyContext& context, Kinds kinds) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 3));
  PALLADION_RETURN_IF_ERROR(ExpectKind(context, 0, kinds));
  PALLADION_RETURN_IF_ERROR(ExpectKind(context, 1, kInts));
  PALLADION_RETURN_IF_ERROR(ExpectKind(context, 2, kinds));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 1));
  PALLADION_ASSIGN_OR_RETURN(const Dimensions dims, DimensionsOf(op));
  PALLADION_RETURN_IF_ERROR(ExpectDimensions(dims, context.in[0], context.in[1]));
  PALLADION_RETURN_IF_ERROR(ExpectUpdates(dims, context));
  PALLADION_RETURN_IF_ERROR(ModeOf(op).status());
  return ExpectType(op, 0, ArrayType(context.in[0].dtype, context.in[0].shape));
}
absl::Status VerifyPlaced(const Instr& op, const VerifyContext& context) {
  return VerifyScatter(op, context, kAnyKind);
}
absl::Status VerifyCombined(const Instr& op, const VerifyContext& context) {
  return VerifyScatter(op, context, kNumbers);
}

struct ScatterParams {
  struct Point {  // one dimension of the indices
    std::int64_t count;
    ByteCount update_step;  // of the updates
    ByteCount x_step;       // of x: not 0 for a batching dimension
  };
  struct Start {  // one entry of an index vector
    std::int64_t last;
    ByteCount step;  // of x
  };
  std::vector<Point> points;
  std::vector<Start> starts;
  std::vector<CopyDim> window;  // from the updates to x; the last dimension is `run`
  CopyDim run;
  simd::BinaryFn combine;  // nullptr: the update itself
  DType index_dtype;
  bool drops;
  bool is_empty;  // of updates
  ElementSize element_size{1};
  std::size_t bytes;  // of x
  BoxCopy place;      // without `combine`
};

// Where one window begins in x. False: some of it is outside, and none is applied.
bool WindowOffset(const ScatterParams& p, const std::byte* indices, std::size_t vector_index, std::int64_t* offset) {
  for (std::size_t i = 0; i < p.starts.size(); ++i) {
    const std::int64_t start = IntegerAt(indices, p.index_dtype, vector_index * p.starts.size() + i);
    if (p.drops && (start < 0 || start > p.starts[i].last)) return false;
    *offset += std::clamp<std::int64_t>(start, 0, p.starts[i].last) * p.starts[i].step.value();
  }
  return true;
}

void CombineWindow(const ScatterParams& p, std::size_t dim, const std::byte* update, std::byte* x) {
  if (dim < p.window.size()) {
    const CopyDim& along = p.window[dim];
    const std::int64_t from = along.source_stride.value(), to = along.destination_stride.value();
    for (std::int64_t i = 0; i < along.count.value(); ++i) CombineWindow(p, dim + 1, update + i * from, x + i * to);
    return;
  }
  const std::int64_t step = p.element_size.value();
  const std::int64_t from = p.run.source_stride.value(), to = p.run.destination_stride.value();
  if (from == step && to == step) return p.combine(x, update, x, p.run.count.size());
  for (std::int64_t i = 0; i < p.run.count.value(); ++i) p.combine(x + i * to, update + i * from, x + i * to, 1);
}

struct Cursor {
  const std::byte* indices;
  std::size_t vector_index = 0;  // the points are walked in row-major order
};

void ScatterInto(const ScatterParams& p, std::size_t dim, const std::byte* update, std::byte* x, Cursor& at) {
  if (dim < p.points.size()) {
    const ScatterParams::Point& point = p.points[dim];
    for (std::int64_t i = 0; i < point.count; ++i) {
      ScatterInto(p, dim + 1, update + i * point.update_step.value(), x + i * point.x_step.value(), at);
    }
    return;
  }
  std::int64_t offset = 0;
  if (!WindowOffset(p, at.indices, at.vector_index++, &offset)) return;
  if (p.combine == nullptr) {
    p.place(update, x + offset);
  } else {
    CombineWindow(p, 0, update, x + offset);
  }
}

void EvalScatter(const ScatterParams& p, const ValueOperands& operands) {
  if (p.bytes == 0) return;
  std::memcpy(operands.out[0], operands.in[0], p.bytes);
  if (p.is_empty) return;
  Cursor cursor{operands.in[1]};
  ScatterInto(p, 0, operands.in[2], operands.out[0], cursor);
}

// The points, the windows and where they may begin.
void Describe(const Dimensions& dims, const ValueTypes& types, ScatterParams& params) {
  const Type& x = types.in[0];
  const Type& updates = types.in[2];
  const std::vector<ByteCount> to = DenseStrides(x.shape, params.element_size);
  const std::vector<ByteCount> from = DenseStrides(updates.shape, params.element_size);
  const Axes dropped = Union(dims.inserted, dims.batching);
  std::vector<std::int64_t> sizes(x.shape.size(), 1);
  std::size_t next = 0;
  for (std::size_t d = 0; d < updates.shape.size(); ++d) {
    if (Contains(dims.window, static_cast<std::int64_t>(d))) {
      while (Contains(dropped, static_cast<std::int64_t>(next))) ++next;
      sizes[next] = updates.shape[d];
      params.window.push_back({ElementCount(updates.shape[d]), from[d], to[next]});
      ++next;
      continue;
    }
    ScatterParams::Point point{updates.shape[d], from[d], {}};
    for (std::size_t b = 0; b < dims.batching.size(); ++b) {
      if (dims.indices_batching[b] != static_cast<std::int64_t>(params.points.size())) continue;
      point.x_step = to[static_cast<std::size_t>(dims.batching[b])];
    }
    params.points.push_back(point);
  }
  for (std::int64_t axis : dims.start_map) {
    const auto d = static_cast<std::size_t>(axis);
    params.starts.push_back({x.shape[d] - sizes[d], to[d]});
  }
}

absl::StatusOr<ValueKernel> PrepareWith(const Instr& op, const ValueTypes& types, simd::BinaryFn combine) {
  const Type& x = types.in[0];
  PALLADION_ASSIGN_OR_RETURN(const Dimensions dims, DimensionsOf(op));
  PALLADION_ASSIGN_OR_RETURN(const Mode mode, ModeOf(op));
  ScatterParams params{.points = {},
                       .starts = {},
                       .window = {},
                       .run = {ElementCount(1), {}, {}},
                       .combine = combine,
                       .index_dtype = types.in[1].dtype,
                       .drops = mode != Mode::kClip,
                       .is_empty = Elements(types.in[2]) == 0,
                       .element_size = SizeOfElement(x),
                       .bytes = Bytes(x),
                       .place = {}};
  Describe(dims, types, params);
  if (combine == nullptr) {
    PALLADION_ASSIGN_OR_RETURN(params.place, MakeBoxCopy(params.window, params.element_size));
  } else if (!params.window.empty()) {
    params.run = params.window.back();
    params.window.pop_back();
  }
  return Bind<EvalScatter>(std::move(params));
}

absl::StatusOr<ValueKernel> PrepareScatter(const Instr& op, const ValueTypes& types) {
  return PrepareWith(op, types, nullptr);
}

template <simd::BinaryOp kOp>
absl::StatusOr<ValueKernel> PrepareCombined(const Instr& op, const ValueTypes& types) {
  const simd::BinaryFn combine = simd::FindBinary(kOp, types.in[0].dtype, simd::Form::kVV);
  if (combine == nullptr) return NoKernel(op, types.in[0].dtype);
  return PrepareWith(op, types, combine);
}

// Of a promise: what it promises.
std::vector<Inspector> InspectScatter(const Instr& op, const ValueTypes& types) {
  if (*ModeOf(op) != Mode::kPromise || Elements(types.in[2]) == 0) return {};
  ScatterParams params{};
  params.element_size = SizeOfElement(types.in[0]);
  Describe(*DimensionsOf(op), types, params);
  std::vector<std::int64_t> last;
  for (const ScatterParams::Start& start : params.starts) last.push_back(start.last);
  if (last.empty()) return {};
  return {InspectIndices(1, types.in[1], std::move(last))};
}

constexpr OpRow Row(std::string_view name, std::string_view spec, VerifyFn verify, PrepareFn prepare, Flow flow) {
  return {.name = name,
          .spec = spec,
          .verify = verify,
          .prepare = prepare,
          .inspect = InspectScatter,
          .flow = flow,
          .backends = kNoBackend};
}

constexpr OpRow kScatterOps[] = {
    Row("scatter", "shape.md#scatter", VerifyPlaced, PrepareScatter, Flow::kPlace),
    Row("scatter_add", "shape.md#scatter_add", VerifyCombined, PrepareCombined<simd::BinaryOp::kAdd>, Flow::kCombine),
    Row("scatter_sub", "shape.md#scatter_sub", VerifyCombined, PrepareCombined<simd::BinaryOp::kSub>, Flow::kCombine),
    Row("scatter_mul", "shape.md#scatter_mul", VerifyCombined, PrepareCombined<simd::BinaryOp::kMul>, Flow::kCombine),
    Row("scatter_min", "shape.md#scatter_min", VerifyCombined, PrepareCombined<simd::BinaryOp::kMin>, Flow::kCombine),
    Row("scatter_max", "shape.md#scatter_max", VerifyCombined, PrepareCombined<simd::BinaryOp::kMax>, Flow::kCombine),
};

}  // namespace

absl::Span<const OpRow> ScatterOps() { return kScatterOps; }

}  // namespace palladion
