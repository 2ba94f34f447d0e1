// Arithmetic that Mosaic GPU does not have for all element types. Based on: JAX 0.10.2,
// jax/experimental/mosaic/gpu/fragmented_array.py (_pointwise, astype, approximations) and
// jax/_src/pallas/mosaic_gpu/lowering.py (integer_pow, rem). Arrays only: scalars are ordinary MLIR numbers. Not
// judged: select of 8-bit numbers, which warpgroup semantics takes for some predicates; exp and logistic with
// approx_math, of which JAX 0.11 refuses 16-bit floats and 0.10 does not.
#include "emu/legality/gpu_limits.h"
#include "emu/legality/gpu_registers.h"
#include "emu/legality/rule_rows.h"
#include "semantics/base/cat.h"
#include "semantics/ir/view_type.h"
#include "semantics/registry/attrs.h"

namespace palladion::legality {
namespace {

// Of an operation on values; an i32 scalar where there is no such operand.
Type In(const OpSite& site, std::size_t i = 0) {
  return i < site.op.args.size() ? TypeOfArg(*site.scope.facts->kernel, site.op.args[i]) : ArrayType(DType::kI32, {});
}

bool IsArray(const Type& type) { return type.is_array() && !type.shape.empty(); }
bool Is8BitFloat(DType dtype) { return IsFloat(dtype) && Info(dtype).bits == 8; }
bool Is16BitFloat(DType dtype) { return IsFloat(dtype) && Info(dtype).bits == 16; }

std::optional<std::string> EightBits(const OpSite& site) {
  static const RuleRows kPointwise("add", "sub", "mul", "div", "rem", "max", "min", "neg", "abs", "sign", "lt", "le",
                                   "gt", "ge", "shift_left", "shift_right_arithmetic", "shift_right_logical", "square",
                                   "integer_pow", "clamp");
  if (!kPointwise.Has(site.op)) return std::nullopt;
  for (std::size_t i = 0; i < site.op.args.size(); ++i) {
    const Type type = In(site, i);
    if (IsArray(type) && IsInteger(type.dtype) && Info(type.dtype).bits == 8) return ToString(type);
  }
  return std::nullopt;
}

// From and to, of a conversion.
struct Cast {
  Type from;
  DType to;
};

std::optional<Cast> CastOf(const OpSite& site) {
  static const RuleRows kCast("convert_element_type");
  if (!kCast.Has(site.op) || !IsArray(In(site)) || site.op.types.empty()) return std::nullopt;
  return Cast{In(site), site.op.types[0].dtype};
}

std::optional<std::string> NarrowFloat(const OpSite& site) {
  const std::optional<Cast> cast = CastOf(site);
  if (!cast.has_value()) return std::nullopt;
  const DType from = cast->from.dtype, to = cast->to;
  const auto between = [&](DType a, DType b) {
    return Is8BitFloat(a) && (b == DType::kBF16 || (IsInteger(b) && Info(b).bits > 1));
  };
  if (!between(from, to) && !between(to, from)) return std::nullopt;
  return Cat(ToString(cast->from), " to ", Name(to));
}

std::optional<std::string> BetweenNarrow(const OpSite& site) {
  const std::optional<Cast> cast = CastOf(site);
  if (!cast.has_value() || site.scope.facts->lanes || cast->from.dtype == cast->to) return std::nullopt;
  if (!Is8BitFloat(cast->from.dtype) || !Is8BitFloat(cast->to)) return std::nullopt;
  return Cat(ToString(cast->from), " to ", Name(cast->to));
}

std::optional<std::string> Approximated(const OpSite& site, bool listed) {
  const AttrMap& params = site.scope.facts->kernel->params;
  const Type type = In(site);
  if (!listed || !IsGiven(params, "approx_math") || !IsArray(type) || !Is16BitFloat(type.dtype)) return std::nullopt;
  return ToString(type);
}

std::optional<std::string> Approximate(const OpSite& site) {
  static const RuleRows kFunctions("exp2", "log", "log2", "rsqrt", "sin", "cos");
  return Approximated(site, kFunctions.Has(site.op));
}

std::optional<std::string> ApproximateTanh(const OpSite& site) {
  static const RuleRows kTanh("tanh");
  return Approximated(site, kTanh.Has(site.op));
}

std::optional<std::string> FloatRemainder(const OpSite& site) {
  static const RuleRows kRemainder("rem");
  if (!kRemainder.Has(site.op) || !IsArray(In(site)) || !IsFloat(In(site).dtype)) return std::nullopt;
  return ToString(In(site));
}

std::optional<std::string> NegativePower(const OpSite& site) {
  static const RuleRows kPower("integer_pow");
  if (!kPower.Has(site.op) || !IsArray(In(site)) || IntAttrOr(site.op, "y", 0) >= -1) return std::nullopt;
  return Cat("the power ", IntAttrOr(site.op, "y", 0));
}

std::optional<std::string> Counted(const OpSite& site) {
  static const RuleRows kCounts("iota");
  if (!site.scope.facts->lanes || !kCounts.Has(site.op) || site.op.types.empty()) return std::nullopt;
  if (CastBehind(site.op, site.scope.facts->kernel->bodies[0].region) != nullptr) return std::nullopt;
  return ToString(site.op.types[0]);
}

constexpr GpuLimit<OpSite> kValueLimits[] = {
    {{"value.8-bit", "arithmetic, comparisons of order and shifts are not of 8-bit integers",
      "Mosaic GPU, FragmentedArray._pointwise", "convert to i16 or i32 first"},
     EightBits},
    {{"value.cast-8-bit-float", "no conversion goes between an 8-bit float and an integer or bf16",
      "Mosaic GPU, FragmentedArray.astype", "convert to f32 in between"},
     NarrowFloat},
    {{"value.cast-8-bit-floats", "with warpgroup semantics no conversion goes from one 8-bit float to another",
      "Mosaic GPU lowering, convert_element_type", "convert to f32 in between"},
     BetweenNarrow},
    {{"value.approx", "with approx_math exp2, log, log2, rsqrt, sin and cos are of f32",
      "Mosaic GPU, FragmentedArray.exp2 and others", "convert to f32 first, or leave approx_math out"},
     Approximate},
    {{"value.approx-tanh", "with approx_math tanh is of f32", "Mosaic GPU, FragmentedArray.tanh",
      "convert to f32 first, or leave approx_math out", /*until_jax_0_10=*/true},
     ApproximateTanh},
    {{"value.iota", "with lane semantics a layout_cast right behind an iota says its layout",
      "Mosaic GPU lowering, iota", "cast it with plgpu.layout_cast right away", /*until_jax_0_10=*/false,
      /*only_from_jax=*/true},
     Counted},
    {{"value.float-rem", "rem is of integers", "Mosaic GPU lowering, rem", "use x - trunc(x / y) * y"}, FloatRemainder},
    {{"value.power", "the power of integer_pow is -1 or more", "Mosaic GPU lowering, integer_pow",
      "divide 1 by the positive power"},
     NegativePower},
};

}  // namespace

absl::Span<const GpuLimit<OpSite>> ValueLimits() { return kValueLimits; }

}  // namespace palladion::legality
