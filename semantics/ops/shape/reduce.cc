// Reductions over any set of axes, argmax and argmin, cumulative operations; specified in docs/spec/reduce.md.
// Based on: JAX's reduce_*, argmax and cum* on CPU, with the fixed order of sums of semantics/simd/reduce.h. Where the
// reduced axes are not next to each other, a transposed copy in scratch brings them together.
#include "semantics/simd/reduce.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/families.h"
#include "semantics/ops/shape/shape_common.h"
#include "semantics/registry/attrs.h"
#include "semantics/tensor/convert.h"

namespace palladion {
namespace {

using simd::CumOp;
using simd::MiddleAxis;
using simd::ReduceOp;

Shape Without(const Shape& shape, const Axes& axes) {
  Shape kept;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (!Contains(axes, static_cast<std::int64_t>(d))) kept.push_back(shape[d]);
  }
  return kept;
}

absl::Status VerifyReduce(const Instr& op, const VerifyContext& context, Kinds kinds) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 1));
  PALLADION_RETURN_IF_ERROR(ExpectKind(context, 0, kinds));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 1));
  PALLADION_ASSIGN_OR_RETURN(const Axes axes, IntsAttr(op, "axes"));
  PALLADION_RETURN_IF_ERROR(ExpectAxes(axes, context.in[0].rank(), "attribute 'axes'"));
  return ExpectType(op, 0, ArrayType(context.in[0].dtype, Without(context.in[0].shape, axes)));
}
absl::Status VerifyReduceNumbers(const Instr& op, const VerifyContext& context) {
  return VerifyReduce(op, context, kNumbers);
}
absl::Status VerifyReduceOrdered(const Instr& op, const VerifyContext& context) {
  return VerifyReduce(op, context, kAnyKind);
}
absl::Status VerifyReduceBits(const Instr& op, const VerifyContext& context) {
  return VerifyReduce(op, context, kBoolsOrInts);
}

// The array as the kernels see it: one reduced run in the middle. Where there are several, `gather` copies the array to
// [kept, reduced], both in row-major order, first.
struct ReduceView {
  MiddleAxis shape{1, 1, 1};
  bool is_copied = false;
  BoxCopy gather;
};

MiddleAxis CopiedShape(const Shape& shape, const Axes& axes) {
  MiddleAxis view{1, 1, 1};
  for (std::size_t d = 0; d < shape.size(); ++d) {
    std::size_t& part = Contains(axes, static_cast<std::int64_t>(d)) ? view.length : view.outer;
    part *= static_cast<std::size_t>(shape[d]);
  }
  return view;
}

absl::StatusOr<ReduceView> ViewFor(const Type& x, const Axes& axes) {
  ReduceView view;
  enum { kBefore, kWithin, kAfter } place = kBefore;
  for (std::size_t d = 0; d < x.shape.size(); ++d) {
    if (x.shape[d] == 1) continue;  // belongs to either side
    const auto size = static_cast<std::size_t>(x.shape[d]);
    if (!Contains(axes, static_cast<std::int64_t>(d))) {
      if (place == kWithin) place = kAfter;
      (place == kBefore ? view.shape.outer : view.shape.inner) *= size;
    } else if (place != kAfter) {
      place = kWithin;
      view.shape.length *= size;
    } else {
      view.is_copied = true;
    }
  }
  if (!view.is_copied) return view;
  view.shape = CopiedShape(x.shape, axes);
  const ElementSize size = SizeOfElement(x);
  const std::vector<ByteCount> from = DenseStrides(x.shape, size);
  Shape to_shape = Without(x.shape, axes);
  std::vector<ByteCount> strides;
  for (bool reduced : {false, true}) {
    for (std::size_t d = 0; d < x.shape.size(); ++d) {
      if (Contains(axes, static_cast<std::int64_t>(d)) != reduced) continue;
      strides.push_back(from[d]);
      if (reduced) to_shape.push_back(x.shape[d]);
    }
  }
  const std::vector<ByteCount> to = DenseStrides(to_shape, size);
  std::vector<CopyDim> dims;
  for (std::size_t d = 0; d < to.size(); ++d) dims.push_back({ElementCount(to_shape[d]), strides[d], to[d]});
  PALLADION_ASSIGN_OR_RETURN(view.gather, MakeBoxCopy(dims, size));
  return view;
}

struct ReduceParams {
  simd::ReduceKernel kernel;
  ReduceView view;
};
void EvalReduce(const ReduceParams& p, const ValueOperands& operands) {
  const std::byte* x = operands.in[0];
  if (p.view.is_copied) {
    p.view.gather(x, operands.scratch);
    x = operands.scratch;
  }
  p.kernel(x, p.view.shape, operands.out[0]);
}

// On Triton max and min of floats ignore NaN.
ReduceOp ForTarget(ReduceOp op, DType dtype, const Target& target) {
  if (target.backend != TargetBackend::kTriton || !IsFloat(dtype)) return op;
  if (op == ReduceOp::kMax) return ReduceOp::kMaxNum;
  return op == ReduceOp::kMin ? ReduceOp::kMinNum : op;
}

template <ReduceOp kOp>
absl::StatusOr<ValueKernel> PrepareReduce(const Instr& op, const ValueTypes& types) {
  const Type& x = types.in[0];
  ReduceParams params{.kernel = simd::FindReduce(ForTarget(kOp, x.dtype, types.target), x.dtype), .view = {}};
  if (!params.kernel.valid) return NoKernel(op, x.dtype);
  PALLADION_ASSIGN_OR_RETURN(params.view, ViewFor(x, Ints(op, "axes")));
  const std::size_t scratch = params.view.is_copied ? Bytes(x) : 0;
  return Bind<EvalReduce>(std::move(params), scratch);
}

absl::Status VerifyArg(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 1));
  PALLADION_RETURN_IF_ERROR(ExpectKind(context, 0, kAnyKind));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 1));
  const Type& x = context.in[0];
  PALLADION_ASSIGN_OR_RETURN(const std::int64_t axis, IntAttr(op, "axis"));
  PALLADION_RETURN_IF_ERROR(ExpectAxis(axis, x.rank(), "attribute 'axis'"));
  const std::int64_t length = x.shape[static_cast<std::size_t>(axis)];
  if (length < 1 || length > INT32_MAX) {
    return absl::InvalidArgumentError(
        Cat("dimension ", axis, " of ", ToString(x), " must have at least 1 and at most 2^31-1 elements"));
  }
  const DType index = op.types[0].dtype;
  if (!IsInteger(index)) {
    return absl::InvalidArgumentError(Cat("the result must be of an integer type; found ", ToString(op.types[0])));
  }
  return ExpectType(op, 0, ArrayType(index, Without(x.shape, {axis})));
}

struct ArgParams {
  simd::ArgFn fn;
  MiddleAxis shape;
  ConvertFn convert;  // nullptr: the result is i32 itself
};
void EvalArg(const ArgParams& p, const ValueOperands& operands) {
  std::byte* indices = p.convert == nullptr ? operands.out[0] : operands.scratch;
  p.fn(operands.in[0], p.shape, reinterpret_cast<std::int32_t*>(indices));
  if (p.convert != nullptr) p.convert(indices, operands.out[0], p.shape.outer * p.shape.inner);
}

MiddleAxis OneAxis(const Shape& shape, std::int64_t axis) {
  MiddleAxis view{1, 1, 1};
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const auto place = static_cast<std::int64_t>(d);
    std::size_t& part = place < axis ? view.outer : place == axis ? view.length : view.inner;
    part *= static_cast<std::size_t>(shape[d]);
  }
  return view;
}

template <simd::ArgOp kOp>
absl::StatusOr<ValueKernel> PrepareArg(const Instr& op, const ValueTypes& types) {
  const Type& x = types.in[0];
  const bool is_triton = types.target.backend == TargetBackend::kTriton;
  const auto order = is_triton ? simd::NaNOrder::kNaNIsEqual : simd::NaNOrder::kNaNWins;
  ArgParams params{.fn = simd::FindArg(kOp, order, x.dtype), .shape = OneAxis(x.shape, Int(op, "axis"))};
  if (params.fn == nullptr) return NoKernel(op, x.dtype);
  const DType index = types.out[0].dtype;
  params.convert = index == DType::kI32 ? nullptr : FindConvert(DType::kI32, index);
  const std::size_t scratch = params.convert == nullptr ? 0 : Elements(types.out[0]) * sizeof(std::int32_t);
  return Bind<EvalArg>(params, scratch);
}

absl::Status VerifyCumulative(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOneToOne(op, context));
  PALLADION_RETURN_IF_ERROR(ExpectKind(context, 0, kNumbers));
  PALLADION_ASSIGN_OR_RETURN(const std::int64_t axis, IntAttr(op, "axis"));
  PALLADION_RETURN_IF_ERROR(ExpectAxis(axis, context.in[0].rank(), "attribute 'axis'"));
  if (HasAttr(op, "reverse")) PALLADION_RETURN_IF_ERROR(BoolAttr(op, "reverse").status());
  return ExpectType(op, 0, context.in[0]);
}

absl::Status VerifyCumulativeFloats(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 1));
  PALLADION_RETURN_IF_ERROR(ExpectKind(context, 0, kFloats));
  return VerifyCumulative(op, context);
}

struct CumParams {
  simd::CumKernel kernel;
  MiddleAxis shape;
  simd::Direction direction;
};
void EvalCum(const CumParams& p, const ValueOperands& operands) {
  p.kernel(operands.in[0], p.shape, p.direction, operands.out[0]);
}

template <CumOp kOp>
absl::StatusOr<ValueKernel> PrepareCum(const Instr& op, const ValueTypes& types) {
  const Type& x = types.in[0];
  CumParams params{.kernel = simd::FindCum(kOp, x.dtype), .shape = OneAxis(x.shape, Int(op, "axis"))};
  if (!params.kernel.valid) return NoKernel(op, x.dtype);
  params.direction = BoolAttrOr(op, "reverse", false) ? simd::Direction::kReverse : simd::Direction::kForward;
  return Bind<EvalCum>(params);
}

struct Functions {
  VerifyFn verify;
  PrepareFn prepare;
};

constexpr OpRow Row(std::string_view name, std::string_view spec, Functions does, Flow flow, Backends backends) {
  return {
      .name = name, .spec = spec, .verify = does.verify, .prepare = does.prepare, .flow = flow, .backends = backends};
}

constexpr OpRow InTheRing(OpRow row) {
  row.in_ring = InRing::kSame;
  return row;
}

constexpr OpRow ByComparison(OpRow row) {
  row.unit = Unit::kLarger;
  return row;
}

constexpr OpRow kReduceOps[] = {
    InTheRing(Row("reduce_sum", "reduce.md#reduce_sum", {VerifyReduceNumbers, PrepareReduce<ReduceOp::kSum>},
                  Flow::kReduce, kAllBackends)),
    Row("reduce_prod", "reduce.md#reduce_prod", {VerifyReduceNumbers, PrepareReduce<ReduceOp::kProd>}, Flow::kReduce,
        kGpu),
    ByComparison(InTheRing(Row("reduce_max", "reduce.md#reduce_max",
                               {VerifyReduceOrdered, PrepareReduce<ReduceOp::kMax>}, Flow::kReduce, kAllBackends))),
    ByComparison(InTheRing(Row("reduce_min", "reduce.md#reduce_min",
                               {VerifyReduceOrdered, PrepareReduce<ReduceOp::kMin>}, Flow::kReduce, kAllBackends))),
    Row("reduce_and", "reduce.md#reduce_and", {VerifyReduceBits, PrepareReduce<ReduceOp::kAnd>}, Flow::kReduce, kTpu),
    Row("reduce_or", "reduce.md#reduce_or", {VerifyReduceBits, PrepareReduce<ReduceOp::kOr>}, Flow::kReduce, kTpu),
    Row("reduce_xor", "reduce.md#reduce_xor", {VerifyReduceBits, PrepareReduce<ReduceOp::kXor>}, Flow::kReduce,
        kNoBackend),
    Row("argmax", "reduce.md#argmax", {VerifyArg, PrepareArg<simd::ArgOp::kArgMax>}, Flow::kReduce, kTpuTriton),
    Row("argmin", "reduce.md#argmin", {VerifyArg, PrepareArg<simd::ArgOp::kArgMin>}, Flow::kReduce, kTpuTriton),
    InTheRing(
        Row("cumsum", "reduce.md#cumsum", {VerifyCumulative, PrepareCum<CumOp::kSum>}, Flow::kPrefix, kTpuTriton)),
    Row("cumprod", "reduce.md#cumprod", {VerifyCumulative, PrepareCum<CumOp::kProd>}, Flow::kPrefix, kNoBackend),
    InTheRing(
        Row("cummax", "reduce.md#cummax", {VerifyCumulative, PrepareCum<CumOp::kMax>}, Flow::kPrefix, kNoBackend)),
    InTheRing(
        Row("cummin", "reduce.md#cummin", {VerifyCumulative, PrepareCum<CumOp::kMin>}, Flow::kPrefix, kNoBackend)),
    Row("cumlogsumexp", "reduce.md#cumlogsumexp", {VerifyCumulativeFloats, PrepareCum<CumOp::kLogSumExp>},
        Flow::kPrefix, kNoBackend),
};

}  // namespace

absl::Span<const OpRow> ReduceOps() { return kReduceOps; }

}  // namespace palladion
