// Arithmetic: add, sub, mul, div, rem, max, min, clamp, powers with a static exponent, neg, abs, sign.
// What each means is docs/spec/elementwise.md; the loops are semantics/simd/elementwise.h. Here: types, and which loop.
// On Triton max, min and clamp ignore a NaN operand, as its maxnumf does; everywhere else NaN wins.
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/families.h"
#include "semantics/ops/value/elementwise_common.h"
#include "semantics/registry/attrs.h"
#include "semantics/registry/inspect.h"

namespace palladion {
namespace {

using simd::BinaryOp;
using simd::UnaryOp;

bool NanLoses(const ValueTypes& types) {
  return types.target.backend == TargetBackend::kTriton && IsFloat(types.out[0].dtype);
}
BinaryOp MaxOf(const ValueTypes& types) { return NanLoses(types) ? BinaryOp::kMaxNum : BinaryOp::kMax; }
BinaryOp MinOf(const ValueTypes& types) { return NanLoses(types) ? BinaryOp::kMinNum : BinaryOp::kMin; }

absl::StatusOr<ValueKernel> PrepareMax(const Instr& op, const ValueTypes& types) {
  return BinaryKernel(op, types, simd::FindBinary(MaxOf(types), types.in[0].dtype, FormOf(types), LoopFor(types)));
}
absl::StatusOr<ValueKernel> PrepareMin(const Instr& op, const ValueTypes& types) {
  return BinaryKernel(op, types, simd::FindBinary(MinOf(types), types.in[0].dtype, FormOf(types), LoopFor(types)));
}

absl::Status VerifyAbs(const Instr& op, const VerifyContext& context) {
  return VerifySameType(op, context, 1, kSignedInts | kFloats);
}

absl::Status VerifyClamp(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(VerifySameType(op, context, 3, kAnyKind));
  if (context.in[1].shape == op.types[0].shape) return absl::OkStatus();
  return absl::InvalidArgumentError(
      Cat("the clamped operand must have the shape of the bounds or the bounds rank 0; "
          "found ",
          ToString(context.in[1]), " and bounds ", ToString(context.in[0]), ", ", ToString(context.in[2])));
}

struct ClampParams {
  simd::ClampKernel kernel;
  std::size_t n;
};
void EvalClamp(const ClampParams& p, const ValueOperands& operands) {
  p.kernel(operands.in[0], operands.in[1], operands.in[2], operands.out[0], p.n);
}

absl::StatusOr<ValueKernel> PrepareClamp(const Instr& op, const ValueTypes& types) {
  const DType dtype = types.in[1].dtype;
  const simd::ClampKernel kernel{
      .maximum = simd::FindBinary(MaxOf(types), dtype, IsBroadcast(types, 0) ? simd::Form::kSV : simd::Form::kVV),
      .minimum = simd::FindBinary(MinOf(types), dtype, IsBroadcast(types, 2) ? simd::Form::kVS : simd::Form::kVV)};
  if (kernel.maximum == nullptr || kernel.minimum == nullptr) return NoKernel(op, dtype);
  return BindElementwise<EvalClamp>(ClampParams{.kernel = kernel, .n = Elements(types.out[0])});
}

constexpr std::int64_t kMaxExponent = 0x7fffffff;

absl::Status VerifyIntegerPow(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(VerifySameType(op, context, 1, kNumbers));
  PALLADION_ASSIGN_OR_RETURN(const std::int64_t exponent, IntAttr(op, "y"));
  if (exponent > kMaxExponent || exponent < -kMaxExponent) {
    return absl::InvalidArgumentError(Cat("the exponent must have 31 bits; found ", exponent));
  }
  if (exponent >= 0 || IsFloat(context.in[0].dtype)) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("the exponent of integers must not be negative; found ", exponent));
}

struct IntegerPowParams {
  simd::IntegerPowKernel kernel;
  int exponent;
  std::size_t n;
};
void EvalIntegerPow(const IntegerPowParams& p, const ValueOperands& operands) {
  p.kernel(operands.in[0], p.exponent, operands.out[0], p.n);
}

absl::StatusOr<ValueKernel> PrepareIntegerPow(const Instr& op, const ValueTypes& types) {
  const simd::IntegerPowKernel kernel = simd::FindIntegerPow(types.in[0].dtype);
  if (kernel.multiply == nullptr) return NoKernel(op, types.in[0].dtype);
  return BindElementwise<EvalIntegerPow>(
      IntegerPowParams{.kernel = kernel, .exponent = static_cast<int>(Int(op, "y")), .n = Elements(types.out[0])});
}

constexpr OpRow kArithmeticOps[] = {
    {.name = "add",
     .spec = "elementwise.md#add",
     .verify = VerifyNumbers<2>,
     .prepare = PrepareBinary<BinaryOp::kAdd>,
     .flow = Flow::kElementwise,
     .in_ring = InRing::kSame,
     .fuses = Fuses::kSum},
    {.name = "sub",
     .spec = "elementwise.md#sub",
     .verify = VerifyNumbers<2>,
     .prepare = PrepareBinary<BinaryOp::kSub>,
     .flow = Flow::kElementwise,
     .in_ring = InRing::kSame,
     .fuses = Fuses::kSum},
    {.name = "mul",
     .spec = "elementwise.md#mul",
     .verify = VerifyNumbers<2>,
     .prepare = PrepareBinary<BinaryOp::kMul>,
     .flow = Flow::kElementwise,
     .in_ring = InRing::kSame,
     .fuses = Fuses::kProduct},
    {.name = "div",
     .spec = "elementwise.md#div",
     .verify = VerifyNumbers<2>,
     .prepare = PrepareBinary<BinaryOp::kDiv>,
     .inspect = InspectDivision,
     .flow = Flow::kElementwise,
     .unit = Unit::kDivision},
    {.name = "rem",
     .spec = "elementwise.md#rem",
     .verify = VerifyNumbers<2>,
     .prepare = PrepareBinary<BinaryOp::kRem>,
     .inspect = InspectDivision,
     .flow = Flow::kElementwise,
     .unit = Unit::kDivision},
    {.name = "max",
     .spec = "elementwise.md#max",
     .verify = VerifyAnyType<2>,
     .prepare = PrepareMax,
     .flow = Flow::kElementwise,
     .in_ring = InRing::kSame,
     .unit = Unit::kLarger},
    {.name = "min",
     .spec = "elementwise.md#min",
     .verify = VerifyAnyType<2>,
     .prepare = PrepareMin,
     .flow = Flow::kElementwise,
     .in_ring = InRing::kSame,
     .unit = Unit::kLarger},
    {.name = "add_any",
     .spec = "elementwise.md#add_any",
     .verify = VerifyNumbers<2>,
     .prepare = PrepareBinary<BinaryOp::kAdd>,
     .flow = Flow::kElementwise,
     .in_ring = InRing::kSame,
     .backends = kTpuTriton},
    {.name = "clamp",
     .spec = "elementwise.md#clamp",
     .verify = VerifyClamp,
     .prepare = PrepareClamp,
     .flow = Flow::kElementwise},
    {.name = "integer_pow",
     .spec = "elementwise.md#integer_pow",
     .verify = VerifyIntegerPow,
     .prepare = PrepareIntegerPow,
     .flow = Flow::kElementwise,
     .in_ring = InRing::kPower},
    {.name = "square",
     .spec = "elementwise.md#square",
     .verify = VerifyNumbers<1>,
     .prepare = PrepareUnary<UnaryOp::kSquare>,
     .flow = Flow::kElementwise,
     .in_ring = InRing::kSame},
    {.name = "neg",
     .spec = "elementwise.md#neg",
     .verify = VerifyNumbers<1>,
     .prepare = PrepareUnary<UnaryOp::kNeg>,
     .flow = Flow::kElementwise,
     .in_ring = InRing::kSame},
    {.name = "abs",
     .spec = "elementwise.md#abs",
     .verify = VerifyAbs,
     .prepare = PrepareUnary<UnaryOp::kAbs>,
     .flow = Flow::kElementwise},
    {.name = "sign",
     .spec = "elementwise.md#sign",
     .verify = VerifyNumbers<1>,
     .prepare = PrepareUnary<UnaryOp::kSign>,
     .flow = Flow::kElementwise},
};

}  // namespace

absl::Span<const OpRow> ArithmeticOps() { return kArithmeticOps; }

}  // namespace palladion
