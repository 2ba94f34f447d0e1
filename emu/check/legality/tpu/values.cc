// Operations on values that a TPU's lowering refuses by their types and shapes. Based on: JAX 0.10.2,
// jax/_src/pallas/mosaic/lowering.py, the rules of the operations named, and MLIR's verifiers of what they write.
#include <algorithm>

#include "emu/check/legality/tpu/limits.h"
#include "semantics/base/cat.h"
#include "semantics/ir/view_type.h"
#include "semantics/registry/attrs.h"
#include "semantics/registry/rule_rows.h"

namespace palladion::legality {
namespace {

std::vector<std::int64_t> IntsOf(const Instr& op, std::string_view name) {
  const absl::StatusOr<std::vector<std::int64_t>> list = IntsAttr(op, name);
  return list.ok() ? *list : std::vector<std::int64_t>();
}

// ---- one element at a time

std::optional<std::string> Wide(const TpuOpSite& site) {
  for (const Type& type : site.op.types) {
    if (type.is_ref() || type.kind == TypeKind::kToken || Info(type.dtype).bits != 64) continue;
    return ToString(type);
  }
  return std::nullopt;
}

std::optional<std::string> BoolArithmetic(const TpuOpSite& site) {
  static const RuleRows kArithmetic("add", "sub", "mul", "div", "rem", "max", "min", "clamp", "neg", "abs");
  if (!kArithmetic.Has(site.op) || !IsBool(site.Out(0).dtype)) return std::nullopt;
  return ToString(site.Out(0));
}

std::optional<std::string> OnlyF32(const TpuOpSite& site) {
  static const RuleRows kOnlyF32("erf_inv", "is_finite", "nextafter", "tpu.reciprocal");
  if (!kOnlyF32.Has(site.op) || site.In(0).dtype == DType::kF32) return std::nullopt;
  return ToString(site.In(0));
}

std::optional<std::string> ScalarBits(const TpuOpSite& site) {
  static const RuleRows kCounts("population_count");
  if (!kCounts.Has(site.op) || !site.Out(0).shape.empty()) return std::nullopt;
  return ToString(site.Out(0));
}

std::optional<std::string> Cases(const TpuOpSite& site) {
  constexpr std::size_t kMost = 3;  // the predicate and two cases
  static const RuleRows kSelects("select_n");
  if (!kSelects.Has(site.op) || site.Operands() <= kMost) return std::nullopt;
  return Cat(site.Operands() - 1, " cases");
}

std::optional<std::string> Cast(const TpuOpSite& site) {
  static const RuleRows kCasts("convert_element_type");
  if (!kCasts.Has(site.op)) return std::nullopt;
  const DType from = site.In(0).dtype, to = site.Out(0).dtype;
  if (from == to || !IsFloat(from) || !IsFloat(to) || Info(from).bits != Info(to).bits) return std::nullopt;
  return Cat(Name(from), " to ", Name(to));
}

std::optional<std::string> BitcastWidth(const TpuOpSite& site) {
  static const RuleRows kBitcasts("bitcast_convert_type");
  if (!kBitcasts.Has(site.op)) return std::nullopt;
  const DType from = site.In(0).dtype, to = site.Out(0).dtype;
  if (Info(from).bits == Info(to).bits) return std::nullopt;
  return Cat(Name(from), " to ", Name(to));
}

std::optional<std::string> Unpacked(const TpuOpSite& site) {
  static const RuleRows kUnpacks("tpu.unpack_elementwise");
  if (!kUnpacks.Has(site.op) || !IsFloat(site.In(0).dtype)) return std::nullopt;
  return ToString(site.In(0));
}

constexpr Limit<TpuOpSite> kArithmeticLimits[] = {
    {{"tpu.value.bits", "there are no 64-bit numbers", "lowering.py, _convert_element_type_lowering_rule",
      "use 32-bit types", false, false, About::kType},
     Wide},
    {{"tpu.value.bool", "arithmetic does not take bools", "lowering.py, _add_lowering_rule and its like",
      "use logical operations, or convert to i32"},
     BoolArithmetic},
    {{"tpu.value.f32", "erf_inv, is_finite, nextafter and pl.reciprocal take f32",
      "pallas/utils.py, erf_inv_lowering_helper and nextafter_lowering_helper; lowering.py, _reciprocal_lowering_rule; "
      "tpu.weird, verifier",
      "convert to f32 first"},
     OnlyF32},
    {{"tpu.value.population-count", "population_count takes an array", "lowering.py, _population_count_lowering_rule",
      "count the bits of an array of one element"},
     ScalarBits},
    {{"tpu.value.select", "select_n has at most two cases", "lowering.py, _select_n_lowering_rule",
      "nest several jnp.where"},
     Cases},
    {{"tpu.value.cast", "a float is not converted to another float type of the same width",
      "lowering.py, _convert_element_type_lowering_rule", "convert to f32 in between"},
     Cast},
    {{"tpu.value.bitcast", "bitcast_convert_type keeps the width of an element",
      "lowering.py, _bitcast_convert_type_lowering_rule", "use pltpu.bitcast", /*until_jax_0_10=*/true},
     BitcastWidth},
    {{"tpu.value.unpack", "unpack_elementwise takes an array of integers", "tpu.unpack_elementwise, verifier",
      "bitcast the packed values to u32 first"},
     Unpacked},
};

// ---- reductions

bool IsReduction(const Instr& op) {
  static const RuleRows kReductions("reduce_sum", "reduce_max", "reduce_min");
  return kReductions.Has(op);
}

std::optional<std::string> ReducedType(const TpuOpSite& site) {
  const DType dtype = site.In(0).dtype;
  if (!IsReduction(site.op) || IsFloat(dtype) || dtype == DType::kI32) return std::nullopt;
  return ToString(site.In(0));
}

std::optional<std::string> ReducedToScalar(const TpuOpSite& site) {
  static const RuleRows kSqueezes("squeeze");
  if ((!IsReduction(site.op) && !kSqueezes.Has(site.op)) || !site.Out(0).shape.empty()) return std::nullopt;
  return StorageBytes(site.Out(0).dtype) == 4 ? std::nullopt : std::optional(ToString(site.In(0)));
}

std::optional<std::string> Joined(const TpuOpSite& site) {
  static const RuleRows kJoins("reduce_and", "reduce_or");
  if (!kJoins.Has(site.op) || IsBool(site.In(0).dtype)) return std::nullopt;
  return ToString(site.In(0));
}

std::optional<std::string> FoundIndex(const TpuOpSite& site) {
  static const RuleRows kFinds("argmax", "argmin");
  if (!kFinds.Has(site.op)) return std::nullopt;
  const DType from = site.In(0).dtype;
  const bool narrow = site.legality.jax_0_11 && from == DType::kBF16;
  if ((from == DType::kF32 || narrow) && site.Out(0).dtype == DType::kI32) return std::nullopt;
  return Cat(ToString(site.In(0)), " to ", ToString(site.Out(0)));
}

constexpr std::string_view kReduceSource = "lowering.py, reduce_lowering_rule";

constexpr Limit<TpuOpSite> kReductionLimits[] = {
    {{"tpu.reduce.type", "reduce_sum, reduce_max and reduce_min take floats or i32", kReduceSource,
      "convert to i32 or f32 first"},
     ReducedType},
    {{"tpu.reduce.scalar", "only elements of 32 bits become scalars", "lowering.py, _squeeze_lowering_rule",
      "convert to f32 or i32 first, or keep the dimensions"},
     ReducedToScalar},
    {{"tpu.reduce.logical", "reduce_and and reduce_or take bools", "lowering.py, _reduce_and_lowering_rule",
      "compare with zero first"},
     Joined},
    {{"tpu.reduce.index", "argmax and argmin take f32 and return i32", "lowering.py, _reduce_index_helper",
      "convert to f32 first"},
     FoundIndex},
};

// ---- shapes

std::optional<std::string> Padding(const TpuOpSite& site) {
  static const RuleRows kPads("pad");
  if (!kPads.Has(site.op)) return std::nullopt;
  if (site.In(0).shape.empty()) return "a scalar";
  const auto config = IntListsAttr(site.op, "config");
  if (!config.ok()) return std::nullopt;
  for (const std::vector<std::int64_t>& dim : *config) {
    if (std::all_of(dim.begin(), dim.end(), [](std::int64_t n) { return n == 0; })) continue;
    const bool interior = dim.size() > 2 && dim[2] != 0;
    if (interior || dim[0] < 0 || dim[1] < 0) return ToString(dim);
  }
  return std::nullopt;
}

std::optional<std::string> Strides(const TpuOpSite& site) {
  static const RuleRows kSlices("slice");
  if (!kSlices.Has(site.op)) return std::nullopt;
  const std::vector<std::int64_t> strides = IntsOf(site.op, "strides");
  const bool plain = std::all_of(strides.begin(), strides.end(), [](std::int64_t n) { return n == 1; });
  return plain ? std::nullopt : std::optional(Cat("the steps ", ToString(strides)));
}

std::optional<std::string> IotaType(const TpuOpSite& site) {
  static const RuleRows kIotas("iota");
  if (!kIotas.Has(site.op) || IsInteger(site.Out(0).dtype)) return std::nullopt;
  return ToString(site.Out(0));
}

// Along one axis, by an index for each element of the result, as jnp.take_along_axis writes it.
std::optional<std::string> Gathered(const TpuOpSite& site) {
  static const RuleRows kGathers("gather");
  if (!kGathers.Has(site.op)) return std::nullopt;
  const Type x = site.In(0), indices = site.In(1);
  const Shape shape = site.Out(0).shape;
  const std::vector<std::int64_t> collapsed = IntsOf(site.op, "collapsed_slice_dims"),
                                  sizes = IntsOf(site.op, "slice_sizes"),
                                  batching = IntsOf(site.op, "operand_batching_dims");
  const bool of_elements = !indices.shape.empty() && Shape(indices.shape.begin(), indices.shape.end() - 1) == shape &&
                           indices.shape.back() == 1 && x.shape.size() == shape.size() &&
                           std::all_of(sizes.begin(), sizes.end(), [](std::int64_t n) { return n == 1; });
  const bool along_one = IntsOf(site.op, "offset_dims").empty() && collapsed.size() == 1 &&
                         collapsed == IntsOf(site.op, "start_index_map") &&
                         batching == IntsOf(site.op, "start_indices_batching_dims") &&
                         batching.size() + 1 == shape.size();
  return of_elements && along_one ? std::nullopt : std::optional(Cat(ToString(x), " by ", ToString(indices)));
}

std::optional<std::string> GatherAxis(const TpuOpSite& site) {
  static const RuleRows kGathers("gather");
  const std::vector<std::int64_t> collapsed = IntsOf(site.op, "collapsed_slice_dims");
  if (!kGathers.Has(site.op) || collapsed.size() != 1) return std::nullopt;
  if (collapsed[0] + 2 >= static_cast<std::int64_t>(site.Out(0).shape.size())) return std::nullopt;
  return Cat("axis ", collapsed[0], " of ", ToString(site.In(0)));
}

std::optional<std::string> GatherMode(const TpuOpSite& site) {
  static const RuleRows kGathers("gather");
  if (!kGathers.Has(site.op)) return std::nullopt;
  const absl::StatusOr<std::string> mode = StringAttr(site.op, "mode");
  return mode.ok() && *mode == "clip" ? std::optional<std::string>("clip") : std::nullopt;
}

constexpr std::string_view kGatherSource = "lowering.py, _gather_lowering_rule";

constexpr Limit<TpuOpSite> kShapeLimits[] = {
    {{"tpu.shape.pad", "pad takes an array, and adds 0 elements or more at its ends only",
      "lowering.py, _pad_lowering_rule", "slice the value, or join it with zeros by jnp.concatenate"},
     Padding},
    {{"tpu.shape.slice-step", "a slice of a value has no step", "vector.extract_strided_slice, verifier",
      "slice the ref with pl.ds(start, size, step)"},
     Strides},
    {{"tpu.shape.iota", "iota makes integers", "tpu.iota, verifier", "make it of i32 and convert"}, IotaType},
    {{"tpu.shape.gather",
      "gather takes one element along one axis for each element of the result, as jnp.take_along_axis does",
      kGatherSource, "use jnp.take_along_axis, or select with a mask"},
     Gathered},
    {{"tpu.shape.gather-axis", "gather is along one of the last two axes", kGatherSource, "transpose first"},
     GatherAxis},
    {{"tpu.shape.gather-mode", "gather has no mode clip", kGatherSource,
      "clip the indices, and pass mode=\"promise_in_bounds\""},
     GatherMode},
};

}  // namespace

absl::Span<const Limit<TpuOpSite>> TpuArithmeticLimits() { return kArithmeticLimits; }
absl::Span<const Limit<TpuOpSite>> TpuReductionLimits() { return kReductionLimits; }
absl::Span<const Limit<TpuOpSite>> TpuShapeLimits() { return kShapeLimits; }

}  // namespace palladion::legality
