// Control flow, printing and random numbers of a TPU kernel. Based on: JAX 0.10.2,
// jax/_src/pallas/mosaic/lowering.py (_scan_lowering_rule, _platform_index_lowering, _debug_print_rule,
// _prng_seed_lowering_rule, random_wrap_lowering) and pallas/utils.py (pattern_match_scan_to_fori_loop).
#include <algorithm>

#include "emu/check/legality/scan_loops.h"
#include "emu/check/legality/tpu/limits.h"
#include "semantics/base/cat.h"
#include "semantics/ir/view_type.h"
#include "semantics/registry/attrs.h"
#include "semantics/registry/op_row.h"
#include "semantics/registry/rule_rows.h"

namespace palladion::legality {
namespace {

std::optional<std::string> Reversed(const TpuOpSite& site) { return ScansBackward(site.op); }
std::optional<std::string> Arrays(const TpuOpSite& site) { return ScansArrays(site.op); }

bool NamesMosaic(const Attr& platforms) {
  if (std::get_if<AttrNone>(&platforms.value) != nullptr) return true;  // the default
  const auto* list = std::get_if<AttrList>(&platforms.value);
  return list != nullptr && std::any_of(list->begin(), list->end(), [](const Attr& name) {
           const auto* text = std::get_if<std::string>(&name.value);
           return text != nullptr && *text == "mosaic";
         });
}

std::optional<std::string> Platform(const TpuOpSite& site) {
  static const RuleRows kPlatform("platform_index");
  const Attr* attr = Find(site.op.attrs, "platforms");
  const auto* list = attr == nullptr ? nullptr : std::get_if<AttrList>(&attr->value);
  if (!kPlatform.Has(site.op) || list == nullptr || std::any_of(list->begin(), list->end(), NamesMosaic))
    return std::nullopt;
  return ToString(*attr);
}

std::optional<std::string> NoCmem(const TpuOpSite& site) {
  const machines::Chip* chip = site.legality.chip();
  if (RowOf(site.op).allocates == Allocates::kNothing || chip == nullptr || chip->cmem_bytes > 0) return std::nullopt;
  for (const Region& region : site.op.regions) {
    for (const Param& param : region.params) {
      const Type& type = site.legality.kernel().values[param.value.index()].type;
      if (type.is_ref() && type.space == Space::kCmem) return Cat(ToString(type), " on ", chip->name);
    }
  }
  return std::nullopt;
}

// ---- printing

// The text of a debug_print; nullopt: another operation.
std::optional<std::string> Format(const TpuOpSite& site) {
  static const RuleRows kPrints("debug_print");
  if (!kPrints.Has(site.op)) return std::nullopt;
  const absl::StatusOr<std::string> format = StringAttr(site.op, "fmt");
  return format.ok() ? std::optional(*format) : std::nullopt;
}

std::string WithoutEscapes(std::string text) {
  for (const std::string_view brace : {"{{", "}}"}) {
    for (std::size_t at = text.find(brace); at != std::string::npos; at = text.find(brace, at))
      text.replace(at, 2, "_");
  }
  return text;
}
bool HasPlaceholders(const std::string& format) { return WithoutEscapes(format).find('{') != std::string::npos; }

bool IsArray(const TpuOpSite& site, std::size_t i) { return !site.In(i).shape.empty(); }

std::optional<std::string> Printed(const TpuOpSite& site) {
  if (!Format(site).has_value()) return std::nullopt;
  std::size_t arrays = 0;
  for (std::size_t i = 0; i < site.Operands(); ++i) arrays += IsArray(site, i) ? 1 : 0;
  if (arrays == 0 || site.Operands() == 1) return std::nullopt;
  return Cat(arrays, arrays == 1 ? " array" : " arrays", " among ", site.Operands(), " operands");
}

std::optional<std::string> PrintedArray(const TpuOpSite& site) {
  const std::optional<std::string> format = Format(site);
  if (!format.has_value() || site.Operands() != 1 || !IsArray(site, 0)) return std::nullopt;
  const std::string text = WithoutEscapes(*format);
  return text.ends_with("{0}") || text.ends_with("{}") ? std::nullopt : std::optional(Cat("\"", *format, "\""));
}

std::optional<std::string> PrintedScalar(const TpuOpSite& site) {
  const std::optional<std::string> format = Format(site);
  if (!format.has_value() || !HasPlaceholders(*format)) return std::nullopt;
  for (std::size_t i = 0; i < site.Operands(); ++i) {
    const Type type = site.In(i);
    if (type.shape.empty() && !(IsInteger(type.dtype) && Info(type.dtype).bits == 32)) return ToString(type);
  }
  return std::nullopt;
}

std::optional<std::string> FormatSpec(const TpuOpSite& site) {
  const std::optional<std::string> format = Format(site);
  if (!format.has_value()) return std::nullopt;
  const std::string text = WithoutEscapes(*format);
  for (std::size_t open = text.find('{'); open != std::string::npos; open = text.find('{', open + 1)) {
    const std::string field = text.substr(open, text.find('}', open) - open);
    if (field.find_first_of(":!") != std::string::npos) return Cat("\"", *format, "\"");
  }
  return std::nullopt;
}

// ---- random numbers

std::optional<std::string> Seed(const TpuOpSite& site) {
  static const RuleRows kSeeds("prng_seed");
  if (!kSeeds.Has(site.op)) return std::nullopt;
  for (std::size_t i = 0; i < site.Operands(); ++i) {
    const Type type = site.In(i);
    // The words of a pallas key, which the exporter writes as an operand.
    const bool words = type.dtype == DType::kU32 && type.shape == Shape{1, 2};
    if (type.is_key() || words) continue;
    if (!type.shape.empty() || !IsInteger(type.dtype) || Info(type.dtype).bits != 32) return ToString(type);
  }
  return std::nullopt;
}

std::optional<std::string> RandomRank(const TpuOpSite& site) {
  static const RuleRows kBits("prng_random_bits");
  if (!kBits.Has(site.op) || site.Out(0).shape.size() > 1) return std::nullopt;
  return ToString(site.Out(0));
}

std::optional<std::string> Wrapped(const TpuOpSite& site) {
  static const RuleRows kWraps("random_wrap", "random_unwrap");
  if (!kWraps.Has(site.op)) return std::nullopt;
  const Type key = site.Out(0).is_key() ? site.Out(0) : site.In(0);
  return key.is_key() && key.key_impl == "pl" ? std::optional(ToString(key)) : std::nullopt;
}

constexpr std::string_view kPrintSource = "lowering.py, _debug_print_rule";
constexpr std::string_view kScanSource =
    "lowering.py, _scan_lowering_rule; pallas/utils.py, pattern_match_scan_to_fori_loop";

constexpr Limit<TpuOpSite> kControlLimits[] = {
    {{"tpu.control.reverse", "a scan runs forward", kScanSource, "use fori_loop and count down"}, Reversed},
    {{"tpu.control.scan", "a scan only carries values: it neither goes through arrays nor stacks results", kScanSource,
      "use fori_loop, and index refs by its counter"},
     Arrays},
    {{"tpu.control.platform", "lax.platform_dependent has code for mosaic, or a default",
      "lowering.py, _platform_index_lowering", "add mosaic=... or default=..."},
     Platform},
    {{"tpu.control.cmem", "run_scoped allocates in cmem only on chips that have it, such as v4",
      "tpu_info.py, cmem_capacity_bytes", "use pltpu.VMEM"},
     NoCmem},
    {{"tpu.print.operands", "debug_print prints scalars, or a single array", kPrintSource, "print arrays one by one"},
     Printed},
    {{"tpu.print.array", "the format for an array ends in {}", kPrintSource, "put {} at the end of the format"},
     PrintedArray},
    {{"tpu.print.scalar", "scalars that are printed by {} are 32-bit integers", kPrintSource,
      "leave the placeholders out of the format, or convert to i32"},
     PrintedScalar},
    {{"tpu.print.spec", "placeholders of debug_print are plain {}", "pallas/primitives.py, check_debug_print_format",
      "write {} alone"},
     FormatSpec},
    {{"tpu.random.seed", "seeds of prng_seed are 32-bit integer scalars", "lowering.py, _prng_seed_lowering_rule",
      "load the seed from smem as i32"},
     Seed},
    {{"tpu.random.rank", "prng_random_bits gives an array of rank 2 or more",
      "lowering.py, _prng_random_bits_lowering_rule", "ask for (1, n) and reshape"},
     RandomRank},
    {{"tpu.random.key", "the words of a Pallas key are not wrapped or unwrapped in a kernel",
      "lowering.py, random_wrap_lowering and random_unwrap_lowering",
      "make the key outside of the kernel, or use pltpu.wrap_pallas_seed"},
     Wrapped},
};

}  // namespace

absl::Span<const Limit<TpuOpSite>> TpuControlLimits() { return kControlLimits; }

}  // namespace palladion::legality
