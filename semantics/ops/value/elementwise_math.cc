// Elementary functions: correctly rounded on f32 and narrower (semantics/simd/math.h). Attributes of accuracy that
// compilers may use are not read: the reference has one answer.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "absl/strings/strip.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/families.h"
#include "semantics/ops/value/elementwise_common.h"
#include "semantics/registry/attrs.h"
#include "semantics/simd/math.h"
#include "semantics/tensor/convert.h"

namespace palladion {
namespace {

using simd::MathOp;

template <MathOp kOp>
absl::StatusOr<ValueKernel> PrepareMath(const Instr& op, const ValueTypes& types) {
  return UnaryKernel(op, types, simd::FindMath(kOp, types.in[0].dtype));
}

absl::Status VerifyReciprocal(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(VerifySameType(op, context, 1, kFloats));
  for (std::string_view name : {"approx", "full_range"}) {
    if (HasAttr(op, name)) PALLADION_RETURN_IF_ERROR(BoolAttr(op, name).status());
  }
  return absl::OkStatus();
}

struct ReciprocalParams {
  simd::BinaryFn divide;  // one / x
  std::uint64_t one;      // of the type, in the low bytes
  ConvertFn to_bf16;      // null: exact
  ConvertFn from_bf16;
  std::size_t n;
};
void EvalReciprocal(const ReciprocalParams& p, const ValueOperands& operands) {
  if (p.to_bf16 == nullptr) {
    p.divide(&p.one, operands.in[0], operands.out[0], p.n);
    return;
  }
  p.to_bf16(operands.in[0], operands.scratch, p.n);
  p.divide(&p.one, operands.scratch, operands.scratch, p.n);
  p.from_bf16(operands.scratch, operands.out[0], p.n);
}

// The approximation is the one JAX's interpreter takes: operand and result rounded to bf16.
absl::StatusOr<ValueKernel> PrepareReciprocal(const Instr& op, const ValueTypes& types) {
  const DType dtype = types.in[0].dtype;
  const bool approx = BoolAttrOr(op, "approx", false) && dtype != DType::kBF16;
  const DType computed = approx ? DType::kBF16 : dtype;
  ReciprocalParams params{.divide = simd::FindBinary(simd::BinaryOp::kDiv, computed, simd::Form::kSV),
                          .one = 0,
                          .to_bf16 = approx ? FindConvert(dtype, DType::kBF16) : nullptr,
                          .from_bf16 = approx ? FindConvert(DType::kBF16, dtype) : nullptr,
                          .n = Elements(types.out[0])};
  if (params.divide == nullptr) return NoKernel(op, dtype);
  const float one = 1;
  FindConvert(DType::kF32, computed)(&one, &params.one, 1);
  return Bind<EvalReciprocal>(params, approx ? params.n * StorageBytes(DType::kBF16) : 0);
}

absl::Status VerifyInlineAsm(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(StringAttr(op, "asm").status());
  if (context.in.empty()) return ExpectOperands(context, 1);
  for (std::size_t i = 0; i < context.in.size(); ++i) PALLADION_RETURN_IF_ERROR(ExpectKind(context, i, kAnyKind));
  return BroadcastShape(context).status();
}

// Assembly is opaque but for the one instruction that JAX itself writes, approx_tanh's; it gets the rounded tanh.
absl::StatusOr<ValueKernel> PrepareInlineAsm(const Instr& op, const ValueTypes& types) {
  PALLADION_ASSIGN_OR_RETURN(const std::string text, StringAttr(op, "asm"));
  const DType dtype = types.in[0].dtype;
  const std::string tanh = Cat("tanh.approx.", Name(dtype), " $0, $1;");
  const bool is_tanh = IsFloat(dtype) && absl::StripAsciiWhitespace(text) == tanh && types.in.size() == 1 &&
                       types.out.size() == 1 && types.out[0].dtype == dtype && types.out[0].shape == types.in[0].shape;
  if (is_tanh) return PrepareMath<MathOp::kTanh>(op, types);
  return absl::UnimplementedError(
      Cat("inline assembly '", text, "' on ", Name(dtype),
          " has no known meaning; only tanh.approx.{f16,bf16,f32,f64} is known. Write the operation with jax.numpy"));
}

// Where the specification has the function: under its name.
template <MathOp kOp>
struct SpecOf {
  static constexpr std::string_view kPage = "elementwise.md#";
  static constexpr auto kText = [] {
    std::array<char, kPage.size() + Name(kOp).size()> text = {};
    std::copy(kPage.begin(), kPage.end(), text.begin());
    std::copy(Name(kOp).begin(), Name(kOp).end(), text.begin() + kPage.size());
    return text;
  }();
};

template <MathOp kOp>
constexpr OpRow Function(Backends backends, Backends later = kNoBackend) {
  return {.name = Name(kOp),
          .spec = std::string_view(SpecOf<kOp>::kText.data(), SpecOf<kOp>::kText.size()),
          .verify = VerifyFloats<1>,
          .prepare = PrepareMath<kOp>,
          .flow = Flow::kElementwise,
          .backends = backends,
          .later = later,
          .unit = Unit::kTranscendental};
}

constexpr OpRow kMathRows[] = {
    Function<MathOp::kExp>(kAllBackends),
    Function<MathOp::kExp2>(kAllBackends),
    Function<MathOp::kExpm1>(kTriton),
    Function<MathOp::kLog>(kAllBackends),
    Function<MathOp::kLog2>(kAllBackends),
    Function<MathOp::kLog1p>(kTpuTriton),
    Function<MathOp::kLogistic>(kAllBackends),
    Function<MathOp::kTanh>(kAllBackends),
    Function<MathOp::kSqrt>(kTpuTriton, kGpu),
    Function<MathOp::kRsqrt>(kAllBackends),
    Function<MathOp::kCbrt>(kTriton),
    Function<MathOp::kSin>(kAllBackends),
    Function<MathOp::kCos>(kAllBackends),
    Function<MathOp::kTan>(kTpuTriton),
    Function<MathOp::kAsin>(kTriton),
    Function<MathOp::kAcos>(kTriton),
    Function<MathOp::kAtan>(kTriton),
    Function<MathOp::kSinh>(kTriton),
    Function<MathOp::kCosh>(kTriton),
    Function<MathOp::kAsinh>(kTriton),
    Function<MathOp::kAcosh>(kTriton),
    Function<MathOp::kAtanh>(kTriton),
    Function<MathOp::kErf>(kTpuGpu),
    Function<MathOp::kErfc>(kNoBackend),
    Function<MathOp::kErfInv>(kTpuTriton),
    Function<MathOp::kBesselI0e>(kNoBackend),
    {.dialect = "tpu",
     .name = "reciprocal",
     .spec = "elementwise.md#tpu.reciprocal",
     .verify = VerifyReciprocal,
     .prepare = PrepareReciprocal,
     .flow = Flow::kElementwise,
     .backends = kTpu,
     .unit = Unit::kTranscendental},
    {.dialect = "triton",
     .name = "elementwise_inline_asm",
     .spec = "elementwise.md#triton.elementwise_inline_asm",
     .verify = VerifyInlineAsm,
     .prepare = PrepareInlineAsm,
     .flow = Flow::kElementwise,
     .backends = kTriton,
     .unit = Unit::kTranscendental},
};

}  // namespace

absl::Span<const OpRow> MathOps() { return kMathRows; }

}  // namespace palladion
