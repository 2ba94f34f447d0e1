// Arithmetic that Mosaic GPU does not have for all element types. Based on: JAX 0.10.2,
// jax/experimental/mosaic/gpu/fragmented_array.py (_pointwise, astype, approximations) and
// jax/_src/pallas/mosaic_gpu/lowering.py (integer_pow, rem). Arrays only: scalars are ordinary MLIR numbers. Not
// judged: select of 8-bit numbers, which warpgroup semantics takes for some predicates; exp and logistic with
// approx_math, of which JAX 0.11 refuses 16-bit floats and 0.10 does not.
#include <algorithm>

#include "emu/check/legality/gpu/limits.h"
#include "emu/chip/layouts/register_facts.h"
#include "emu/chip/layouts/register_layouts.h"
#include "semantics/base/cat.h"
#include "semantics/ir/view_type.h"
#include "semantics/registry/attrs.h"
#include "semantics/registry/op_row.h"
#include "semantics/registry/rule_rows.h"

namespace palladion::legality {
namespace {

// Of an operation on values; an i32 scalar where there is no such operand.
Type In(const OpSite& site, std::size_t i = 0) {
  return i < site.op.args.size() ? TypeOfArg(*site.scope.facts->kernel, site.op.args[i]) : ArrayType(DType::kI32, {});
}

bool IsArray(const Type& type) { return type.is_array() && !type.shape.empty(); }
bool Is8BitFloat(DType dtype) { return IsFloat(dtype) && Info(dtype).bits == 8; }
bool Is16BitFloat(DType dtype) { return IsFloat(dtype) && Info(dtype).bits == 16; }

// FragmentedArray._pointwise restricts all but bitwise operations, equality and conversions. Some of the functions are
// of floats only; abs and select are not judged: the first of floats and the second for some predicates have code.
std::optional<std::string> EightBits(const OpSite& site) {
  static const RuleRows kPointwise("add", "sub", "mul", "div", "rem", "max", "min", "neg", "sign", "lt", "le", "gt",
                                   "ge", "shift_left", "shift_right_arithmetic", "shift_right_logical", "square",
                                   "integer_pow", "clamp", "cos", "sin", "exp", "exp2", "log", "logistic", "rsqrt",
                                   "tanh", "erf", "atan2", "round");
  static const RuleRows kOfIntegers("abs");
  static const RuleRows kSign("sign");
  const bool integers = kOfIntegers.Has(site.op);
  if (!kPointwise.Has(site.op) && !integers) return std::nullopt;
  if (kSign.Has(site.op) && IsUnsigned(In(site).dtype)) return std::nullopt;  // computed by bits
  for (std::size_t i = 0; i < site.op.args.size(); ++i) {
    const Type type = In(site, i);
    const int bits = Info(type.dtype).bits;
    if (IsArray(type) && bits <= 8 && bits > 1 && !IsBool(type.dtype) && (!integers || IsInteger(type.dtype)))
      return ToString(type);
  }
  return std::nullopt;
}

// With warpgroup semantics integers have code for some predicates, which is not judged.
std::optional<std::string> EightBitCases(const OpSite& site) {
  static const RuleRows kSelects("select_n");
  if (!kSelects.Has(site.op) || site.op.types.empty()) return std::nullopt;
  const Type& type = site.op.types[0];
  const int bits = Info(type.dtype).bits;
  if (!IsArray(type) || IsBool(type.dtype) || bits > 8 || bits < 2) return std::nullopt;
  return site.scope.facts->lanes || IsFloat(type.dtype) ? std::optional(ToString(type)) : std::nullopt;
}

// FragmentedArray.reduce adds up what a lane has element by element, as _pointwise does.
std::optional<std::string> EightBitReduction(const OpSite& site) {
  static const RuleRows kReductions("reduce_sum", "reduce_max", "reduce_min");
  const Type type = In(site);
  if (site.scope.facts->lanes || !kReductions.Has(site.op) || !IsArray(type) || type.rank() != 2) return std::nullopt;
  if (IsBool(type.dtype) || Info(type.dtype).bits > 8 || site.op.args[0].kind != Arg::Kind::kValue) return std::nullopt;
  const Instr* maker = layouts::MakerOf(site.op.args[0].value, site.scope.facts->kernel->bodies[0].region);
  if (maker == nullptr || !layouts::IsLayoutCast(*maker)) return std::nullopt;
  const bool tiles = layouts::LayoutFromText(layouts::WordOf(maker->attrs, "layout")).is_tiled();
  return tiles ? std::optional(ToString(type)) : std::nullopt;
}

// The lowering takes the number of an axis for one of the tile's (tile_dimension), which it is of as many dimensions.
std::optional<std::string> ReducedTiles(const OpSite& site) {
  static const RuleRows kReductions("reduce_sum", "reduce_max", "reduce_min");
  if (!site.scope.facts->lanes || !kReductions.Has(site.op) || site.op.args[0].kind != Arg::Kind::kValue)
    return std::nullopt;
  const Instr* maker = layouts::MakerOf(site.op.args[0].value, site.scope.facts->kernel->bodies[0].region);
  if (maker == nullptr || !layouts::IsLayoutCast(*maker)) return std::nullopt;
  const layouts::RegisterLayout layout = layouts::LayoutFromText(layouts::WordOf(maker->attrs, "layout"));
  const Attr* attr = Find(site.op.attrs, "axes");
  const auto* axes = attr == nullptr ? nullptr : std::get_if<AttrList>(&attr->value);
  const Type type = In(site);
  if (axes == nullptr || !layout.is_tiled() || type.shape.size() <= layout.tiled.Unit().size()) return std::nullopt;
  const auto whole = static_cast<std::int64_t>(type.shape.size() - layout.tiled.Unit().size());
  const bool tiled = std::any_of(axes->begin(), axes->end(), [&](const Attr& axis) {
    const auto* number = std::get_if<std::int64_t>(&axis.value);
    return number != nullptr && *number >= whole;
  });
  return tiled ? std::optional(Cat("axes ", ToString(*attr), " of ", ToString(type))) : std::nullopt;
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
  const bool upcast = (from == DType::kI4 || from == DType::kU4) && to == DType::kF8E4M3FN;
  if (upcast) return std::nullopt;  // astype has code of its own for this one
  const auto between = [&](DType a, DType b) {
    return Is8BitFloat(a) && (b == DType::kBF16 || b == DType::kF64 || IsBool(b) || IsInteger(b));
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
  if (!listed || !layouts::IsGiven(params, "approx_math") || !IsArray(type) || !Is16BitFloat(type.dtype))
    return std::nullopt;
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
  if (layouts::CastBehind(site.op, site.scope.facts->kernel->bodies[0].region) != nullptr) return std::nullopt;
  return ToString(site.op.types[0]);
}

// Bools are bits of a register, which must fill bytes: the elements of a lane's vector are a multiple of 8.
std::optional<std::string> BoolBits(const OpSite& site) {
  constexpr std::int64_t kBits = 8;
  const std::optional<Cast> cast = CastOf(site);
  if (!cast.has_value() || !IsBool(cast->to) || IsBool(cast->from.dtype)) return std::nullopt;
  const Instr* maker = site.op.args[0].kind == Arg::Kind::kValue
                           ? layouts::MakerOf(site.op.args[0].value, site.scope.facts->kernel->bodies[0].region)
                           : nullptr;
  const layouts::RegisterLayout given = maker != nullptr && layouts::IsLayoutCast(*maker)
                                            ? layouts::LayoutFromText(layouts::WordOf(maker->attrs, "layout"))
                                            : layouts::RegisterLayout();
  // Without a cast to tiles a vector has 8 bytes at most.
  const bool fills = given.is_tiled() ? given.tiled.VectorLength() % kBits == 0 : Info(cast->from.dtype).bits <= kBits;
  return fills ? std::nullopt : std::optional(ToString(cast->from));
}

std::optional<std::string> WithoutInference(const OpSite& site) {
  static const RuleRows kNotInferred("erf", "atan2");
  if (site.scope.facts->lanes || !kNotInferred.Has(site.op) || !IsArray(In(site))) return std::nullopt;
  return ToString(In(site));
}

// With lane semantics: layout.barrier. Where a layout is inferred it is the operand's, which a read or a cast decides.
std::optional<std::string> Barrier(const OpSite& site) {
  static const RuleRows kBarriers("optimization_barrier");
  static const RuleRows kReads("get", "mgpu.load");
  constexpr int kRegister = 32;
  if (site.scope.facts->lanes || !kBarriers.Has(site.op) || !IsArray(In(site))) return std::nullopt;
  const Type type = In(site);
  const int bits = Info(type.dtype).bits;
  if (bits > kRegister) return ToString(type);
  const Instr* maker = site.op.args[0].kind == Arg::Kind::kValue
                           ? layouts::MakerOf(site.op.args[0].value, site.scope.facts->kernel->bodies[0].region)
                           : nullptr;
  if (maker == nullptr || bits == kRegister) return std::nullopt;
  const layouts::RegisterLayout given = layouts::IsLayoutCast(*maker)
                                            ? layouts::LayoutFromText(layouts::WordOf(maker->attrs, "layout"))
                                            : layouts::RegisterLayout();
  const std::int64_t vector = given.is_tiled()     ? given.tiled.VectorLength()
                              : kReads.Has(*maker) ? layouts::StridedVector(type).value_or(kRegister)
                                                   : kRegister;
  return vector * bits % kRegister == 0 ? std::nullopt : std::optional(ToString(type));
}

std::optional<std::string> OnePredicate(const OpSite& site) {
  static const RuleRows kSelects("select_n");
  if (site.scope.facts->lanes || !kSelects.Has(site.op) || site.op.types.empty()) return std::nullopt;
  if (!In(site).shape.empty() || !IsArray(site.op.types[0])) return std::nullopt;
  return Cat("a scalar that chooses ", ToString(site.op.types[0]));
}

std::optional<std::string> SliceStep(const OpSite& site) {
  static const RuleRows kSlices("slice");
  const Attr* strides = kSlices.Has(site.op) ? Find(site.op.attrs, "strides") : nullptr;
  const auto* list = strides == nullptr ? nullptr : std::get_if<AttrList>(&strides->value);
  if (list == nullptr) return std::nullopt;
  const bool steps = std::any_of(list->begin(), list->end(), [](const Attr& step) {
    const auto* number = std::get_if<std::int64_t>(&step.value);
    return number != nullptr && *number != 1;
  });
  return steps ? std::optional(Cat("steps ", ToString(*strides))) : std::nullopt;
}

// A number that is the same everywhere, as an array.
bool IsConstantArray(const OpSite& site, const Arg& arg) {
  if (arg.kind == Arg::Kind::kLiteral) return true;
  if (arg.kind != Arg::Kind::kValue) return false;
  const Instr* maker = layouts::MakerOf(arg.value, site.scope.facts->kernel->bodies[0].region);
  return maker != nullptr && layouts::IsBroadcast(*maker) && !maker->args.empty() &&
         TypeOfArg(*site.scope.facts->kernel, maker->args[0]).shape.empty();
}

bool IsGivenTiles(const Instr* cast) {
  return cast != nullptr && layouts::IsLayoutCast(*cast) &&
         layouts::LayoutFromText(layouts::WordOf(cast->attrs, "layout")).is_tiled();
}

// Layout inference does not find that an array with more dimensions than the tiles has them too where it is the same
// everywhere (constraints.py, Divides and the candidates for WGSplatFragLayout).
std::optional<std::string> ConstantOfBatches(const OpSite& site) {
  if (site.scope.facts->lanes || site.op.types.size() != 1 || site.op.types[0].rank() < 3) return std::nullopt;
  const Region& region = site.scope.facts->kernel->bodies[0].region;
  const auto constant = [&](const Arg& arg) { return IsConstantArray(site, arg); };
  static const RuleRows kNegation("neg");  // 0 - x
  bool found = IsGivenTiles(&site.op) && !site.op.args.empty() && constant(site.op.args[0]);
  if (kNegation.Has(site.op) && !site.op.args.empty() && site.op.args[0].kind == Arg::Kind::kValue)
    found = found || IsGivenTiles(layouts::MakerOf(site.op.args[0].value, region));
  if (RowOf(site.op).flow == Flow::kElementwise && site.op.args.size() == 2) {
    const bool given = std::any_of(site.op.args.begin(), site.op.args.end(), [&](const Arg& arg) {
      return arg.kind == Arg::Kind::kValue && IsGivenTiles(layouts::MakerOf(arg.value, region));
    });
    found = found || (given && std::any_of(site.op.args.begin(), site.op.args.end(), constant));
  }
  return found ? std::optional(ToString(site.op.types[0])) : std::nullopt;
}

constexpr GpuLimit<OpSite> kValueLimits[] = {
    {{"value.8-bit",
      "arithmetic, order comparisons, shifts and elementary functions do not take elements of 8 bits or fewer",
      "Mosaic GPU, FragmentedArray._pointwise", "convert to a type of 16 or 32 bits first", false, false, About::kType},
     EightBits},
    {{"value.8-bit-cases",
      "select_n does not take elements of 8 bits or fewer, except integers with warpgroup semantics",
      "Mosaic GPU, FragmentedArray.select", "select numbers of 16 or 32 bits and convert what was chosen"},
     EightBitCases},
    {{"value.8-bit-reduction", "with warpgroup semantics no matrix of 8 bits in a tiled layout is reduced",
      "Mosaic GPU, FragmentedArray.reduce", "convert to a type of 16 or 32 bits first"},
     EightBitReduction},
    {{"value.reduced-tiles",
      "with lane semantics an array with more dimensions than its layout's tiles is reduced along dimensions that are "
      "not in tiles",
      "Mosaic GPU lowering, reduce_sum, reduce_max and reduce_min", "reduce each matrix"},
     ReducedTiles},
    {{"value.cast-8-bit-float",
      "no conversion goes between an 8-bit float and an integer, bool, bf16 or f64, except from 4 bits to "
      "f8e4m3fn",
      "Mosaic GPU, FragmentedArray.astype", "convert to f32 in between"},
     NarrowFloat},
    {{"value.cast-8-bit-floats", "with warpgroup semantics no conversion goes from one 8-bit float to another",
      "Mosaic GPU lowering, convert_element_type", "convert to f32 in between"},
     BetweenNarrow},
    {{"value.cast-bool", "an array that is converted to bool is in vectors of a multiple of 8 elements",
      "Mosaic GPU, FragmentedArray.astype", "compare with zero"},
     BoolBits},
    {{"value.not-inferred", "with warpgroup semantics there is no erf or atan2 of arrays",
      "Mosaic GPU, layout inference", "use lane semantics"},
     WithoutInference},
    {{"value.barrier",
      "with warpgroup semantics optimization_barrier takes arrays of 32 bits, or of 8 and 16 in vectors that fill "
      "registers of 32",
      "Mosaic GPU, optimization_barrier", "take it of f32 or i32"},
     Barrier},
    {{"value.predicate", "with warpgroup semantics a select_n of arrays has an array as its predicate",
      "Mosaic GPU lowering, select_n", "broadcast the predicate, or use lax.cond"},
     OnePredicate},
    {{"value.slice-step", "a slice of a value has no step", "Mosaic GPU lowering, slice",
      "slice the ref that it is read from"},
     SliceStep},
    {{"value.approx", "with approx_math exp2, log, log2, rsqrt, sin and cos take f32",
      "Mosaic GPU, FragmentedArray.exp2 and others", "convert to f32 first, or leave approx_math out"},
     Approximate},
    {{"value.approx-tanh", "with approx_math tanh takes f32", "Mosaic GPU, FragmentedArray.tanh",
      "convert to f32 first, or leave approx_math out", /*until_jax_0_10=*/true},
     ApproximateTanh},
    {{"value.iota", "with lane semantics a layout_cast directly after an iota names its layout",
      "Mosaic GPU lowering, iota", "cast it with plgpu.layout_cast right away", /*until_jax_0_10=*/false,
      /*only_from_jax=*/true},
     Counted},
    {{"value.constant-tiles",
      "with warpgroup semantics a constant array of three dimensions or more neither has a tiled layout nor meets "
      "one",
      "Mosaic GPU, layout inference", "compute with each matrix, or use lane semantics", /*until_jax_0_10=*/true},
     ConstantOfBatches},
    {{"value.float-rem", "rem takes integers", "Mosaic GPU lowering, rem", "use x - trunc(x / y) * y"}, FloatRemainder},
    {{"value.power", "the power of integer_pow is -1 or more", "Mosaic GPU lowering, integer_pow",
      "divide 1 by the positive power"},
     NegativePower},
};

}  // namespace

absl::Span<const GpuLimit<OpSite>> ValueLimits() { return kValueLimits; }

}  // namespace palladion::legality
