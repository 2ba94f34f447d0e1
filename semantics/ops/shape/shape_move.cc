// Operations that give an array another shape or order of elements: each is one strided copy, chosen in prepare.
// Based on: JAX's shape rules; specified in docs/spec/shape.md. Bits are kept.
#include <cstdint>
#include <vector>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/families.h"
#include "semantics/ops/shape/shape_common.h"
#include "semantics/registry/attrs.h"

namespace palladion {
namespace {

absl::StatusOr<Shape> ShapeAttr(const Instr& op) {
  PALLADION_ASSIGN_OR_RETURN(Shape shape, IntsAttr(op, "shape"));
  PALLADION_RETURN_IF_ERROR(ExpectPossible(shape));
  return shape;
}

absl::Status VerifyBroadcastInDim(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOneToOne(op, context));
  const Type& x = context.in[0];
  PALLADION_ASSIGN_OR_RETURN(const Shape shape, ShapeAttr(op));
  PALLADION_ASSIGN_OR_RETURN(const Axes dims, IntsAttr(op, "dims"));
  PALLADION_RETURN_IF_ERROR(ExpectLength(dims.size(), x.rank(), "attribute 'dims'"));
  PALLADION_RETURN_IF_ERROR(ExpectAxes(dims, static_cast<int>(shape.size()), "attribute 'dims'"));
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (i > 0 && dims[i] <= dims[i - 1]) {
      return absl::InvalidArgumentError(Cat("attribute 'dims' must increase; found ", ToString(dims)));
    }
    const std::int64_t size = shape[static_cast<std::size_t>(dims[i])];
    if (x.shape[i] != 1 && x.shape[i] != size) {
      return absl::InvalidArgumentError(Cat("dimension ", i, " of ", ToString(x), " must have size 1 or ", size,
                                            ", the size of dimension ", dims[i], " of the result"));
    }
  }
  return ExpectType(op, 0, WithShape(x, shape));
}

// The strides of x as seen by the result's dimensions: 0 where it is repeated. `dims[i]` is where x's dimension i goes.
absl::StatusOr<ValueKernel> BroadcastKernel(const ValueTypes& types, const Axes& dims) {
  const Type& x = types.in[0];
  const ElementSize size = SizeOfElement(x);
  const std::vector<ByteCount> dense = DenseStrides(x.shape, size);
  std::vector<ByteCount> strides(types.out[0].shape.size());
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (x.shape[i] != 1) strides[static_cast<std::size_t>(dims[i])] = dense[i];
  }
  return GatherStridesKernel(types.out[0].shape, strides, size);
}

absl::StatusOr<ValueKernel> PrepareBroadcastInDim(const Instr& op, const ValueTypes& types) {
  return BroadcastKernel(types, Ints(op, "dims"));
}

absl::Status VerifyBroadcastTo(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOneToOne(op, context));
  const Type& x = context.in[0];
  PALLADION_ASSIGN_OR_RETURN(const Shape shape, ShapeAttr(op));
  bool fits = x.shape.size() <= shape.size();
  for (std::size_t i = 0; fits && i < x.shape.size(); ++i) {
    fits = x.shape[i] == 1 || x.shape[i] == shape[shape.size() - x.shape.size() + i];
  }
  if (!fits) {
    return absl::InvalidArgumentError(Cat(ToString(x), " cannot be broadcast to the shape ", ToString(shape),
                                          ": from the last, each dimension must have the same size or size 1"));
  }
  return ExpectType(op, 0, WithShape(x, shape));
}

absl::StatusOr<ValueKernel> PrepareBroadcastTo(const Instr&, const ValueTypes& types) {
  Axes dims;
  const int added = types.out[0].rank() - types.in[0].rank();
  for (int i = 0; i < types.in[0].rank(); ++i) dims.push_back(added + i);
  return BroadcastKernel(types, dims);
}

absl::Status VerifyReshape(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOneToOne(op, context));
  const Type& x = context.in[0];
  PALLADION_ASSIGN_OR_RETURN(const Shape shape, ShapeAttr(op));
  if (NumElements(shape) != NumElements(x.shape)) {
    return absl::InvalidArgumentError(Cat("the shape ", ToString(shape), " must have the ", NumElements(x.shape),
                                          " elements of ", ToString(x), "; it has ", NumElements(shape)));
  }
  return ExpectType(op, 0, WithShape(x, shape));
}

absl::Status VerifySqueeze(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOneToOne(op, context));
  const Type& x = context.in[0];
  PALLADION_ASSIGN_OR_RETURN(const Axes dims, IntsAttr(op, "dims"));
  PALLADION_RETURN_IF_ERROR(ExpectAxes(dims, x.rank(), "attribute 'dims'"));
  Shape shape;
  for (int d = 0; d < x.rank(); ++d) {
    const std::int64_t size = x.shape[static_cast<std::size_t>(d)];
    if (!Contains(dims, d)) {
      shape.push_back(size);
    } else if (size != 1) {
      return absl::InvalidArgumentError(Cat("dimension ", d, " of ", ToString(x), " must have size 1 to be squeezed"));
    }
  }
  return ExpectType(op, 0, WithShape(x, shape));
}

absl::Status VerifyExpandDims(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOneToOne(op, context));
  const Type& x = context.in[0];
  PALLADION_ASSIGN_OR_RETURN(const Axes dims, IntsAttr(op, "dims"));
  const int rank = x.rank() + static_cast<int>(dims.size());
  PALLADION_RETURN_IF_ERROR(ExpectAxes(dims, rank, "attribute 'dims'"));
  Shape shape;
  std::size_t next = 0;
  for (int d = 0; d < rank; ++d) shape.push_back(Contains(dims, d) ? 1 : x.shape[next++]);
  return ExpectType(op, 0, WithShape(x, shape));
}

absl::Status VerifyTranspose(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOneToOne(op, context));
  const Type& x = context.in[0];
  PALLADION_ASSIGN_OR_RETURN(const Axes perm, IntsAttr(op, "perm"));
  PALLADION_RETURN_IF_ERROR(ExpectLength(perm.size(), x.rank(), "attribute 'perm'"));
  PALLADION_RETURN_IF_ERROR(ExpectAxes(perm, x.rank(), "attribute 'perm'"));
  Shape shape;
  for (std::int64_t d : perm) shape.push_back(x.shape[static_cast<std::size_t>(d)]);
  return ExpectType(op, 0, WithShape(x, shape));
}

absl::StatusOr<ValueKernel> PrepareTranspose(const Instr& op, const ValueTypes& types) {
  const ElementSize size = SizeOfElement(types.in[0]);
  const std::vector<ByteCount> dense = DenseStrides(types.in[0].shape, size);
  std::vector<ByteCount> strides;
  for (std::int64_t d : Ints(op, "perm")) strides.push_back(dense[static_cast<std::size_t>(d)]);
  return GatherStridesKernel(types.out[0].shape, strides, size);
}

absl::Status VerifyRev(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOneToOne(op, context));
  PALLADION_ASSIGN_OR_RETURN(const Axes dims, IntsAttr(op, "dims"));
  PALLADION_RETURN_IF_ERROR(ExpectAxes(dims, context.in[0].rank(), "attribute 'dims'"));
  return ExpectType(op, 0, context.in[0]);
}

absl::StatusOr<ValueKernel> PrepareRev(const Instr& op, const ValueTypes& types) {
  const Type& x = types.in[0];
  const ElementSize size = SizeOfElement(x);
  std::vector<ByteCount> strides = DenseStrides(x.shape, size);
  ByteCount last;  // where the copy starts: the last element along the reversed dimensions
  for (std::int64_t d : Ints(op, "dims")) {
    ByteCount& stride = strides[static_cast<std::size_t>(d)];
    last += (x.shape[static_cast<std::size_t>(d)] - 1) * stride;
    stride = -1 * stride;
  }
  return GatherStridesKernel(x.shape, strides, size, last);
}

// The shape of `reps` copies along each dimension.
absl::Status ExpectTiled(const Instr& op, const Type& x, const Axes& reps) {
  PALLADION_RETURN_IF_ERROR(ExpectPossible(reps));
  Shape shape;
  for (std::size_t d = 0; d < reps.size(); ++d) {
    if (x.shape[d] != 0 && reps[d] > kMaxElements / x.shape[d]) {
      return absl::InvalidArgumentError(Cat(reps[d], " repetitions of ", ToString(x), " exceed 2^36 elements"));
    }
    shape.push_back(x.shape[d] * reps[d]);
  }
  PALLADION_RETURN_IF_ERROR(ExpectPossible(shape));
  return ExpectType(op, 0, WithShape(x, shape));
}

absl::Status VerifyTile(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOneToOne(op, context));
  PALLADION_ASSIGN_OR_RETURN(const Axes reps, IntsAttr(op, "reps"));
  PALLADION_RETURN_IF_ERROR(ExpectLength(reps.size(), context.in[0].rank(), "attribute 'reps'"));
  return ExpectTiled(op, context.in[0], reps);
}

absl::StatusOr<ValueKernel> TileKernel(const ValueTypes& types, const Axes& reps) {
  const Type& x = types.in[0];
  const ElementSize size = SizeOfElement(x);
  const std::vector<ByteCount> from = DenseStrides(x.shape, size);
  const std::vector<ByteCount> to = DenseStrides(types.out[0].shape, size);
  std::vector<CopyDim> dims;
  for (std::size_t d = 0; d < reps.size(); ++d) {
    dims.push_back({ElementCount(reps[d]), ByteCount(), x.shape[d] * to[d]});
    dims.push_back({ElementCount(x.shape[d]), from[d], to[d]});
  }
  return CopyKernel(dims, size);
}

absl::StatusOr<ValueKernel> PrepareTile(const Instr& op, const ValueTypes& types) {
  return TileKernel(types, Ints(op, "reps"));
}

Axes RepeatsAlongAxis(const Instr& op, int rank) {
  Axes reps(static_cast<std::size_t>(rank), 1);
  reps[static_cast<std::size_t>(Int(op, "axis"))] = Int(op, "repeats");
  return reps;
}

absl::Status VerifyRepeat(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOneToOne(op, context));
  PALLADION_ASSIGN_OR_RETURN(const std::int64_t axis, IntAttr(op, "axis"));
  PALLADION_RETURN_IF_ERROR(ExpectAxis(axis, context.in[0].rank(), "attribute 'axis'"));
  PALLADION_RETURN_IF_ERROR(IntAttr(op, "repeats").status());
  return ExpectTiled(op, context.in[0], RepeatsAlongAxis(op, context.in[0].rank()));
}

absl::StatusOr<ValueKernel> PrepareRepeat(const Instr& op, const ValueTypes& types) {
  return TileKernel(types, RepeatsAlongAxis(op, types.in[0].rank()));
}

constexpr OpRow kShapeOps[] = {
    {.name = "broadcast_in_dim",
     .spec = "shape.md#broadcast_in_dim",
     .verify = VerifyBroadcastInDim,
     .prepare = PrepareBroadcastInDim,
     .flow = Flow::kMove},
    {.name = "broadcast_to",
     .spec = "shape.md#broadcast_to",
     .verify = VerifyBroadcastTo,
     .prepare = PrepareBroadcastTo,
     .flow = Flow::kMove,
     .backends = kTpuTriton},
    {.name = "reshape",
     .spec = "shape.md#reshape",
     .verify = VerifyReshape,
     .prepare = PrepareSameBytes,
     .flow = Flow::kMove},
    {.name = "squeeze",
     .spec = "shape.md#squeeze",
     .verify = VerifySqueeze,
     .prepare = PrepareSameBytes,
     .flow = Flow::kMove},
    {.name = "expand_dims",
     .spec = "shape.md#expand_dims",
     .verify = VerifyExpandDims,
     .prepare = PrepareSameBytes,
     .flow = Flow::kMove,
     .backends = kNoBackend},
    {.name = "transpose",
     .spec = "shape.md#transpose",
     .verify = VerifyTranspose,
     .prepare = PrepareTranspose,
     .flow = Flow::kMove,
     .backends = kTpuTriton},
    {.name = "rev",
     .spec = "shape.md#rev",
     .verify = VerifyRev,
     .prepare = PrepareRev,
     .flow = Flow::kMove,
     .backends = kTpu},
    {.name = "tile",
     .spec = "shape.md#tile",
     .verify = VerifyTile,
     .prepare = PrepareTile,
     .flow = Flow::kMove,
     .backends = kTpu},
    {.dialect = "tpu",
     .name = "repeat",
     .spec = "tpu.md#tpu.repeat",
     .verify = VerifyRepeat,
     .prepare = PrepareRepeat,
     .flow = Flow::kMove,
     .backends = kTpu},
};

}  // namespace

absl::Span<const OpRow> ShapeOps() { return kShapeOps; }

}  // namespace palladion
