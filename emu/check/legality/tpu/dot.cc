// Contractions of a TPU kernel. Based on: JAX 0.10.2, jax/_src/pallas/mosaic/lowering.py (_dot_general_lowering_rule)
// and the verifier of tpu.matmul. A product with one row that is contracted along its columns, unless both are f32, is
// no matrix product to the lowering: it multiplies elements and adds them up, by rules of its own.
#include <algorithm>

#include "emu/check/legality/tpu/limits.h"
#include "semantics/base/cat.h"
#include "semantics/ir/view_type.h"
#include "semantics/registry/attrs.h"
#include "semantics/registry/rule_rows.h"

namespace palladion::legality {
namespace {

bool IsDot(const TpuOpSite& site) {
  static const RuleRows kDot("dot_general");
  return kDot.Has(site.op);
}

using Lists = std::vector<std::vector<std::int64_t>>;
Lists ListsOf(const Instr& op, std::string_view name) {
  const absl::StatusOr<Lists> lists = IntListsAttr(op, name);
  return lists.ok() && lists->size() == 2 ? *lists : Lists(2);
}

std::string Operands(const TpuOpSite& site) { return Cat(ToString(site.In(0)), " and ", ToString(site.In(1))); }

bool IsByRow(const TpuOpSite& site) {
  const Type a = site.In(0), b = site.In(1);
  const Lists contract = ListsOf(site.op, "contract");
  const std::vector<std::int64_t> last = {1};
  return contract[0] == last && contract[1] == last && a.shape.size() == 2 && b.shape.size() == 2 && b.shape[0] == 1 &&
         (a.dtype != DType::kF32 || b.dtype != DType::kF32);
}

std::optional<std::string> Unsigned(const TpuOpSite& site) {
  if (!IsDot(site) || (!IsUnsigned(site.In(0).dtype) && !IsUnsigned(site.In(1).dtype))) return std::nullopt;
  return Operands(site);
}

std::optional<std::string> ToScalar(const TpuOpSite& site) {
  if (!IsDot(site) || !site.Out(0).shape.empty()) return std::nullopt;
  return Operands(site);
}

// Both as an attribute's words: precision=[high,high], precision=f32_f32_f32, or none.
std::optional<std::string> Precision(const TpuOpSite& site) {
  const Attr* attr = Find(site.op.attrs, "precision");
  if (!IsDot(site) || IsByRow(site) || attr == nullptr || std::get_if<AttrNone>(&attr->value) != nullptr)
    return std::nullopt;
  const auto* pair = std::get_if<AttrList>(&attr->value);
  const auto word = [&](std::size_t i) { return ToString((*pair)[i]); };
  if (pair != nullptr && pair->size() == 2 && word(0) == word(1) && (word(0) == "default" || word(0) == "highest"))
    return std::nullopt;
  return ToString(*attr);
}

std::optional<std::string> Contracted(const TpuOpSite& site) {
  if (!IsDot(site)) return std::nullopt;
  const std::size_t count = ListsOf(site.op, "contract")[0].size();
  return count == 1 ? std::nullopt : std::optional(Cat(count, " of ", Operands(site)));
}

std::optional<std::string> Batched(const TpuOpSite& site) {
  if (!IsDot(site)) return std::nullopt;
  const std::size_t count = ListsOf(site.op, "batch")[0].size();
  return count <= 1 ? std::nullopt : std::optional(Cat(count, " of ", Operands(site)));
}

std::optional<std::string> Result(const TpuOpSite& site) {
  if (!IsDot(site) || IsByRow(site)) return std::nullopt;
  const DType to = site.Out(0).dtype;
  if (to == DType::kF32 || to == DType::kI32) return std::nullopt;
  return ToString(site.Out(0));
}

std::optional<std::string> ByRow(const TpuOpSite& site) {
  if (!IsDot(site) || !IsByRow(site)) return std::nullopt;
  const DType to = site.Out(0).dtype;
  const bool one_row = site.In(0).shape == site.In(1).shape;
  const auto fits = [&](DType from) {
    return from == to || (one_row && to == DType::kF32 && IsFloat(from) && Info(from).bits < Info(to).bits);
  };
  const bool floats = IsFloat(to) && to != DType::kF16;
  if (floats && fits(site.In(0).dtype) && fits(site.In(1).dtype)) return std::nullopt;
  return Cat(Operands(site), " to ", ToString(site.Out(0)));
}

constexpr std::string_view kSource = "lowering.py, _dot_general_lowering_rule";

constexpr Limit<TpuOpSite> kDotLimits[] = {
    {{"tpu.dot.unsigned", "dot_general takes floats or signed integers", kSource, "convert to a signed type first"},
     Unsigned},
    {{"tpu.dot.scalar", "the result of dot_general is an array", kSource, "multiply and use jnp.sum"}, ToScalar},
    {{"tpu.dot.precision", "both operands of dot_general have the same precision, DEFAULT or HIGHEST", kSource,
      "use lax.Precision.HIGHEST or leave it out"},
     Precision},
    {{"tpu.dot.contracted", "dot_general contracts one dimension", "tpu.matmul, verifier",
      "reshape so that one dimension is contracted, or add up several products"},
     Contracted},
    {{"tpu.dot.batch", "dot_general has at most one batch dimension", "tpu.matmul, verifier",
      "join the batch dimensions, or use a loop"},
     Batched},
    {{"tpu.dot.result", "the result of dot_general is f32 or i32", "tpu.matmul, verifier",
      "give preferred_element_type=jnp.float32 (or int32), and convert after it"},
     Result},
    {{"tpu.dot.row",
      "a product with a single row, along the last dimensions, gives floats other than f16, and its operands have "
      "the result's type; two single rows may also be narrower floats with an f32 result",
      kSource, "convert both operands to f32 first"},
     ByRow},
};

}  // namespace

absl::Span<const Limit<TpuOpSite>> TpuDotLimits() { return kDotLimits; }

}  // namespace palladion::legality
