// Operations on types that a chip does not support. Based on: messages of the compiler in public issues, and
// TpuInfo.is_matmul_supported of JAX 0.10.2. Does not catch: what the compiler widens by itself on chips that lack a
// type (its compatibility mode), and where it does not.
#include <algorithm>

#include "emu/check/legality/tpu/refusals.h"
#include "semantics/base/cat.h"
#include "semantics/registry/rule_rows.h"

namespace palladion::legality {
namespace {

constexpr int kByteBits = 8, kWordBits = 32;

bool IsNarrowInteger(const Type& type) {
  return type.is_array() && IsInteger(type.dtype) && Info(type.dtype).bits < kWordBits;
}

int Generation(const TpuOpSite& site) { return site.legality.chip() == nullptr ? 0 : site.legality.chip()->generation; }

// Loads, conversions and broadcasts of such scalars are taken.
std::optional<std::string> ScalarArithmetic(const TpuOpSite& site) {
  static const RuleRows kArithmetic("add", "sub", "mul", "div", "rem", "max", "min", "neg", "abs");
  static const RuleRows kBits("and", "or", "xor", "shift_left", "shift_right_logical", "shift_right_arithmetic");
  static const RuleRows kCompares("eq", "ne", "lt", "le", "gt", "ge");
  if (!kArithmetic.Has(site.op) && !kBits.Has(site.op) && !kCompares.Has(site.op)) return std::nullopt;
  const Type in = site.In(0);
  const bool scalar = in.shape.empty() && site.Out(0).shape.empty();
  return scalar && IsNarrowInteger(in) ? std::optional(ToString(in)) : std::nullopt;
}

std::optional<std::string> ByteSum(const TpuOpSite& site) {
  static const RuleRows kAdds("add");
  const Type out = site.Out(0);
  if (!kAdds.Has(site.op) || out.shape.empty() || !IsNarrowInteger(out)) return std::nullopt;
  return Info(out.dtype).bits <= kByteBits ? std::optional(ToString(out)) : std::nullopt;
}

std::optional<std::string> NarrowCompare(const TpuOpSite& site) {
  constexpr int kFirst = 6;  // that has bf16 arithmetic
  static const RuleRows kCompares("eq", "ne", "lt", "le", "gt", "ge");
  const Type in = site.In(0);
  if (!kCompares.Has(site.op) || in.shape.empty() || in.dtype != DType::kBF16) return std::nullopt;
  return Generation(site) > 0 && Generation(site) < kFirst ? std::optional(ToString(in)) : std::nullopt;
}

std::optional<std::string> ToFourBits(const TpuOpSite& site) {
  constexpr int kFirst = 7, kFourBits = 4;
  static const RuleRows kConverts("convert_element_type");
  const Type out = site.Out(0);
  if (!kConverts.Has(site.op) || out.shape.empty() || Info(out.dtype).bits != kFourBits) return std::nullopt;
  const bool narrows = Info(site.In(0).dtype).bits > kFourBits;
  return narrows && Generation(site) > 0 && Generation(site) < kFirst ? std::optional(ToString(out)) : std::nullopt;
}

// ---- products

bool IsIntegerProduct(const TpuOpSite& site) {
  static const RuleRows kDot("dot_general");
  return kDot.Has(site.op) && IsInteger(site.In(0).dtype) && IsInteger(site.In(1).dtype);
}

std::string Operands(const TpuOpSite& site) { return Cat(ToString(site.In(0)), " and ", ToString(site.In(1))); }

std::optional<std::string> MixedProduct(const TpuOpSite& site) {
  if (!IsIntegerProduct(site)) return std::nullopt;
  const int a = Info(site.In(0).dtype).bits, b = Info(site.In(1).dtype).bits;
  return a == b ? std::nullopt : std::optional(Operands(site));
}

std::optional<std::string> IntegerProduct(const TpuOpSite& site) {
  constexpr int kV4 = 4, kV7 = 7;
  if (!IsIntegerProduct(site) || Info(site.In(0).dtype).bits > kByteBits) return std::nullopt;
  const int generation = Generation(site);
  return generation == kV4 || generation >= kV7 ? std::optional(Operands(site)) : std::nullopt;
}

constexpr Refusal<TpuOpSite> kTypes[] = {
    {{{"tpu.compiler.scalar-arithmetic", "arithmetic on integer scalars has 32 bits",
       "the messages \"Only i1 and i32 scalars are supported\" and \"Only i32 addition is supported\"",
       "convert to i32 first, and back where it has become an array"},
      "all",
      Certainty::kReported},
     ScalarArithmetic},
    {{{"tpu.compiler.byte-sum", "integers that are added have 16 bits or more",
       "jax#28305, jax#39058: the message \"Only vector<i16> and vector<i32> are supported\"",
       "convert to i32 first, and back after it"},
      "all",
      Certainty::kReported},
     ByteSum},
    {{{"tpu.compiler.narrow-compare", "a comparison has 32-bit operands on chips before v6e",
       "jax#30104: the message \"Target does not support this comparison\"", "convert to f32 first"},
      "v4, v5e, v5p",
      Certainty::kLifted},
     NarrowCompare},
    {{{"tpu.compiler.to-4-bits", "conversions to 4 bits exist only on v7x and later",
       "apply_vector_layout.cc, arith.truncf and arith.trunci", "convert to 8 bits, or pack outside of the kernel"},
      "v4, v5e, v5p, v6e",
      Certainty::kSource},
     ToFourBits},
    {{{"tpu.compiler.product-mixed", "integer matrices that are multiplied have elements of the same width",
       "the verifier of tpu.matmul and canonicalize_mosaic.cc, canonicalize_matmul",
       "convert both to one type, or to bf16"},
      "all",
      Certainty::kSource},
     MixedProduct},
    {{{"tpu.compiler.product-types", "on v4 and v7x, which have no integer products, matrix products take floats",
       "jax#37367 (v4): error E2001, \"Unsupported matmul RHS type on target\"; tpu_info.py, is_matmul_supported",
       "convert both to bf16 first"},
      "v4, v7x",
      Certainty::kReported},
     IntegerProduct},
};

}  // namespace

absl::Span<const Refusal<TpuOpSite>> TypeRefusals() { return kTypes; }

}  // namespace palladion::legality
