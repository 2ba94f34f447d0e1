// Matrix units that a TPU kernel drives itself (matmul_push_rhs, matmul_acc_lhs, matmul_pop). Based on: their
// documentation in JAX 0.10.2, jax/_src/pallas/mosaic/primitives.py, and tpu_info.py of the same folder. JAX's lowering
// checks none of this, and leaves it to the TPU's compiler.
#include "emu/check/legality/tpu/limits.h"
#include "emu/chip/machines/chip.h"
#include "semantics/base/cat.h"
#include "semantics/registry/attrs.h"
#include "semantics/registry/rule_rows.h"

namespace palladion::legality {
namespace {

constexpr std::int64_t kWidth = 256;

bool Drives(const TpuOpSite& site) {
  static const RuleRows kUnits("matmul_push_rhs", "matmul_acc_lhs", "matmul_pop");
  return kUnits.Has(site.op) && site.legality.chip() != nullptr;
}

std::optional<std::string> OnChip(const TpuOpSite& site) {
  if (!Drives(site) || site.legality.chip()->accumulators > 0) return std::nullopt;
  return std::string(site.legality.chip()->name);
}

std::optional<std::string> Numbers(const TpuOpSite& site) {
  if (!Drives(site)) return std::nullopt;
  const machines::Chip& chip = *site.legality.chip();
  const std::int64_t unit = IntAttrOr(site.op, "mxu_index", 0), address = IntAttrOr(site.op, "acc_addr", 0);
  if (unit >= chip.matrix_units) return Cat("unit ", unit, " of ", chip.matrix_units, " on ", chip.name);
  if (address < chip.accumulators) return std::nullopt;
  return Cat("accumulator ", address, " of ", chip.accumulators, " on ", chip.name);
}

std::optional<std::string> Pushed(const TpuOpSite& site) {
  static const RuleRows kPush("matmul_push_rhs");
  if (!kPush.Has(site.op) || site.In(0).shape == Shape{kWidth, kWidth}) return std::nullopt;
  return ToString(site.In(0));
}

std::optional<std::string> Rows(const TpuOpSite& site) {
  static const RuleRows kAccumulate("matmul_acc_lhs");
  if (!Drives(site) || !kAccumulate.Has(site.op)) return std::nullopt;
  const Type left = site.In(0);
  const std::int64_t tile = site.legality.chip()->sublanes * 32 / Info(left.dtype).bits;
  const bool fits = left.shape.size() == 2 && left.shape[0] % tile == 0 && left.shape[1] == kWidth;
  return fits ? std::nullopt : std::optional(ToString(left));
}

constexpr std::string_view kSource = "primitives.py, documentation";

constexpr Limit<TpuOpSite> kLimits[] = {
    {{"tpu.mxu.chip", "operations on matrix units exist only on chips with accumulators, such as v7x",
      "tpu_info.py, num_accumulators", "use jnp.dot"},
     OnChip},
    {{"tpu.mxu.number", "mxu_index and acc_addr are numbers of a unit and of an accumulator that the chip has",
      "tpu_info.py, num_mxus and num_accumulators", "count from 0"},
     Numbers},
    {{"tpu.mxu.rhs", "the matrix that is pushed is 256 x 256", kSource, "push blocks of 256 x 256, padded with zeros"},
     Pushed},
    {{"tpu.mxu.lhs",
      "the rows that are multiplied have 256 elements, and their number is a multiple of 8 for 32-bit elements, "
      "of 16 for 16-bit ones and of 32 for 8-bit ones",
      kSource, "take 8 rows of 32-bit numbers, 16 of 16-bit ones, 32 of 8-bit ones, or a multiple"},
     Rows},
};

}  // namespace

absl::Span<const Limit<TpuOpSite>> TpuMatrixUnitLimits() { return kLimits; }

}  // namespace palladion::legality
