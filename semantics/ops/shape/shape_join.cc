// Operations that join arrays along an axis or take them apart: each piece is one strided copy, chosen in prepare.
// Based on: JAX's shape rules; specified in docs/spec/shape.md. Bits are kept.
#include <cstdint>
#include <utility>
#include <vector>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/families.h"
#include "semantics/ops/shape/shape_common.h"
#include "semantics/registry/attrs.h"

namespace palladion {
namespace {

std::size_t Index(std::int64_t axis) { return static_cast<std::size_t>(axis); }

// At least one operand, all of one element type and, but for dimension `free_axis` (-1: none), of one shape.
absl::Status ExpectAlike(const VerifyContext& context, std::int64_t free_axis) {
  if (context.in.empty()) return absl::InvalidArgumentError("expected at least one operand; found none");
  for (std::size_t i = 0; i < context.in.size(); ++i) {
    PALLADION_RETURN_IF_ERROR(ExpectData(context, i));
    const Type& type = context.in[i];
    const Type& first = context.in[0];
    bool alike = type.kind == first.kind && type.dtype == first.dtype && type.rank() == first.rank();
    for (int d = 0; alike && d < type.rank(); ++d) {
      alike = d == free_axis || type.shape[static_cast<std::size_t>(d)] == first.shape[static_cast<std::size_t>(d)];
    }
    if (!alike) {
      return absl::InvalidArgumentError(Cat("operands must have one element type and one shape",
                                            free_axis < 0 ? "" : " but for the joined dimension", "; operand 0 is ",
                                            ToString(first), ", operand ", i, " is ", ToString(type)));
    }
  }
  return absl::OkStatus();
}

// One slab of a dense array: [outer, length, inner] of [outer, whole, inner], from `begin` on.
struct Slab {
  std::int64_t outer;
  std::int64_t whole;
  std::int64_t inner;
  std::int64_t begin;
  std::int64_t length;
};

Slab WholeSlab(const Shape& shape, std::int64_t axis) {
  Slab slab{1, shape[Index(axis)], 1, 0, shape[Index(axis)]};
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (d < Index(axis)) slab.outer *= shape[d];
    if (d > Index(axis)) slab.inner *= shape[d];
  }
  return slab;
}

enum class Toward { kSlab, kDense };

// Between a slab and a dense array of its elements.
absl::StatusOr<BoxCopy> SlabCopy(const Slab& slab, ElementSize element_size, Toward toward) {
  const ElementCount row(slab.length * slab.inner);
  const ByteCount each = ElementCount(1) * element_size;
  CopyDim outer{ElementCount(slab.outer), row * element_size, ElementCount(slab.whole * slab.inner) * element_size};
  const ByteCount offset = ElementCount(slab.begin * slab.inner) * element_size;
  const bool dense = toward == Toward::kDense;
  if (dense) std::swap(outer.source_stride, outer.destination_stride);
  return MakeBoxCopy({outer, {row, each, each}}, element_size, dense ? offset : ByteCount(),
                     dense ? ByteCount() : offset);
}

struct CopiesParams {
  std::vector<BoxCopy> copies;  // kJoin: one for each operand; kPart: one for each result
};
void EvalJoin(const CopiesParams& p, const ValueOperands& operands) {
  for (std::size_t i = 0; i < p.copies.size(); ++i) p.copies[i](operands.in[i], operands.out[0]);
}
void EvalPart(const CopiesParams& p, const ValueOperands& operands) {
  for (std::size_t i = 0; i < p.copies.size(); ++i) p.copies[i](operands.in[0], operands.out[i]);
}

// Slabs of these lengths, one after another along `axis` of the array.
absl::StatusOr<CopiesParams> SlabCopies(const Type& array, std::int64_t axis, const std::vector<std::int64_t>& lengths,
                                        Toward toward) {
  CopiesParams params;
  Slab slab = WholeSlab(array.shape, axis);
  for (std::int64_t length : lengths) {
    slab.length = length;
    PALLADION_ASSIGN_OR_RETURN(BoxCopy copy, SlabCopy(slab, SizeOfElement(array), toward));
    params.copies.push_back(std::move(copy));
    slab.begin += length;
  }
  return params;
}

absl::Status VerifyConcatenate(const Instr& op, const VerifyContext& context) {
  PALLADION_ASSIGN_OR_RETURN(const std::int64_t dim, IntAttr(op, "dim"));
  PALLADION_RETURN_IF_ERROR(ExpectAlike(context, dim));
  PALLADION_RETURN_IF_ERROR(ExpectAxis(dim, context.in[0].rank(), "attribute 'dim'"));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 1));
  Shape shape = context.in[0].shape;
  for (std::size_t i = 1; i < context.in.size(); ++i) shape[Index(dim)] += context.in[i].shape[Index(dim)];
  return ExpectType(op, 0, WithShape(context.in[0], std::move(shape)));
}

absl::StatusOr<ValueKernel> PrepareConcatenate(const Instr& op, const ValueTypes& types) {
  const std::int64_t dim = Int(op, "dim");
  std::vector<std::int64_t> lengths;
  for (const Type& type : types.in) lengths.push_back(type.shape[Index(dim)]);
  PALLADION_ASSIGN_OR_RETURN(CopiesParams params, SlabCopies(types.out[0], dim, lengths, Toward::kSlab));
  return Bind<EvalJoin>(std::move(params));
}

absl::Status VerifyStack(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectAlike(context, -1));
  PALLADION_ASSIGN_OR_RETURN(const std::int64_t axis, IntAttr(op, "axis"));
  PALLADION_RETURN_IF_ERROR(ExpectAxis(axis, context.in[0].rank() + 1, "attribute 'axis'"));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 1));
  Shape shape = context.in[0].shape;
  shape.insert(shape.begin() + axis, static_cast<std::int64_t>(context.in.size()));
  return ExpectType(op, 0, WithShape(context.in[0], std::move(shape)));
}

absl::StatusOr<ValueKernel> PrepareStack(const Instr& op, const ValueTypes& types) {
  const std::vector<std::int64_t> ones(types.in.size(), 1);
  PALLADION_ASSIGN_OR_RETURN(CopiesParams params, SlabCopies(types.out[0], Int(op, "axis"), ones, Toward::kSlab));
  return Bind<EvalJoin>(std::move(params));
}

absl::Status VerifyUnstack(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 1));
  PALLADION_RETURN_IF_ERROR(ExpectData(context, 0));
  const Type& x = context.in[0];
  PALLADION_ASSIGN_OR_RETURN(const std::int64_t axis, IntAttr(op, "axis"));
  PALLADION_RETURN_IF_ERROR(ExpectAxis(axis, x.rank(), "attribute 'axis'"));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, Index(x.shape[Index(axis)])));
  Shape shape = x.shape;
  shape.erase(shape.begin() + axis);
  for (std::size_t i = 0; i < op.types.size(); ++i) {
    PALLADION_RETURN_IF_ERROR(ExpectType(op, i, WithShape(x, shape)));
  }
  return absl::OkStatus();
}

absl::StatusOr<ValueKernel> PrepareUnstack(const Instr& op, const ValueTypes& types) {
  const std::vector<std::int64_t> ones(types.out.size(), 1);
  PALLADION_ASSIGN_OR_RETURN(CopiesParams params, SlabCopies(types.in[0], Int(op, "axis"), ones, Toward::kDense));
  return Bind<EvalPart>(std::move(params));
}

absl::Status VerifySplit(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 1));
  PALLADION_RETURN_IF_ERROR(ExpectData(context, 0));
  const Type& x = context.in[0];
  PALLADION_ASSIGN_OR_RETURN(const std::int64_t axis, IntAttr(op, "axis"));
  PALLADION_RETURN_IF_ERROR(ExpectAxis(axis, x.rank(), "attribute 'axis'"));
  PALLADION_ASSIGN_OR_RETURN(const std::vector<std::int64_t> sizes, IntsAttr(op, "sizes"));
  std::int64_t left = x.shape[Index(axis)];
  for (std::int64_t size : sizes) {
    if (size < 0 || size > left) {
      left = -1;
      break;
    }
    left -= size;
  }
  if (left != 0) {
    return absl::InvalidArgumentError(Cat("attribute 'sizes' must be sizes whose sum is ", x.shape[Index(axis)],
                                          ", dimension ", axis, " of ", ToString(x), "; found ", ToString(sizes)));
  }
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, sizes.size()));
  Shape shape = x.shape;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    shape[Index(axis)] = sizes[i];
    PALLADION_RETURN_IF_ERROR(ExpectType(op, i, WithShape(x, shape)));
  }
  return absl::OkStatus();
}

absl::StatusOr<ValueKernel> PrepareSplit(const Instr& op, const ValueTypes& types) {
  PALLADION_ASSIGN_OR_RETURN(CopiesParams params,
                             SlabCopies(types.in[0], Int(op, "axis"), Ints(op, "sizes"), Toward::kDense));
  return Bind<EvalPart>(std::move(params));
}

constexpr OpRow kJoinOps[] = {
    {.name = "concatenate",
     .spec = "shape.md#concatenate",
     .verify = VerifyConcatenate,
     .prepare = PrepareConcatenate,
     .flow = Flow::kMove,
     .backends = kTpuTriton,
     .later = kGpu},
    {.name = "stack",
     .spec = "shape.md#stack",
     .verify = VerifyStack,
     .prepare = PrepareStack,
     .flow = Flow::kMove,
     .backends = kTpuTriton},
    {.name = "unstack",
     .spec = "shape.md#unstack",
     .verify = VerifyUnstack,
     .prepare = PrepareUnstack,
     .flow = Flow::kMove,
     .backends = kTpuTriton},
    {.name = "split",
     .spec = "shape.md#split",
     .verify = VerifySplit,
     .prepare = PrepareSplit,
     .flow = Flow::kMove,
     .backends = kTpuTriton},
};

}  // namespace

absl::Span<const OpRow> JoinOps() { return kJoinOps; }

}  // namespace palladion
