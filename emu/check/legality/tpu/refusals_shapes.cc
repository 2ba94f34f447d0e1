// Shapes that the compiler cannot lay out. Based on: infer_vector_layout.cc, apply_vector_layout.cc and
// canonicalize_mosaic.cc, public until November 2025, and reports. Does not catch: offsets within tiles, which depend
// on where a value was loaded from.
#include <algorithm>
#include <iterator>

#include "emu/check/legality/tpu/refusals.h"
#include "semantics/base/cat.h"
#include "semantics/registry/attrs.h"
#include "semantics/registry/rule_rows.h"

namespace palladion::legality {
namespace {

constexpr std::int64_t kLanes = 128, kSublanes = 8;

int BitsInRegister(DType dtype) { return IsBool(dtype) ? 1 : Info(dtype).bits; }

std::vector<std::int64_t> IntsOf(const Instr& op, std::string_view name) {
  const absl::StatusOr<std::vector<std::int64_t>> list = IntsAttr(op, name);
  return list.ok() ? *list : std::vector<std::int64_t>();
}

std::string Change(const TpuOpSite& site) { return Cat(ToString(site.In(0)), " to ", ToString(site.Out(0))); }

Shape WithoutOnes(const Shape& shape) {
  Shape kept;
  std::copy_if(shape.begin(), shape.end(), std::back_inserter(kept), [](std::int64_t n) { return n != 1; });
  return kept;
}

// ---- a new last dimension

// The last dimension of what goes in becomes the last but one.
bool MakesLastDim(const TpuOpSite& site) {
  static const RuleRows kReshapes("reshape", "expand_dims");
  static const RuleRows kSpreads("broadcast_in_dim");
  const Shape in = site.In(0).shape, out = site.Out(0).shape;
  if (in.empty() || in.back() == 1 || out.size() <= in.size()) return false;
  if (kReshapes.Has(site.op)) {
    if (out.back() != 1) return false;
    return WithoutOnes(in) == WithoutOnes(out) && out[out.size() - 2] == in.back();
  }
  if (!kSpreads.Has(site.op)) return false;
  const std::vector<std::int64_t> dims = IntsOf(site.op, "dims");
  return !dims.empty() && dims.back() + 2 == static_cast<std::int64_t>(out.size());
}

std::optional<std::string> NewLastDim(const TpuOpSite& site) {
  return IsBool(site.In(0).dtype) && MakesLastDim(site) ? std::optional(Change(site)) : std::nullopt;
}

// ---- other reshapes

// A reshape that does more than to add or to remove dimensions of 1.
bool Reshapes(const TpuOpSite& site) {
  static const RuleRows kReshapes("reshape");
  const Shape in = site.In(0).shape, out = site.Out(0).shape;
  return kReshapes.Has(site.op) && !in.empty() && !out.empty() && WithoutOnes(in) != WithoutOnes(out);
}

std::optional<std::string> LastDim(const TpuOpSite& site) {
  if (!Reshapes(site)) return std::nullopt;
  const std::int64_t from = site.In(0).shape.back(), to = site.Out(0).shape.back();
  if (from == to || (from % kLanes == 0 && to % kLanes == 0)) return std::nullopt;
  return Change(site);
}

std::optional<std::string> Transposed(const TpuOpSite& site) {
  constexpr std::size_t kMostRank = 3;
  static const RuleRows kTransposes("transpose");
  if (!kTransposes.Has(site.op)) return std::nullopt;
  const std::vector<std::int64_t> perm = IntsOf(site.op, "perm");
  const auto rank = static_cast<std::int64_t>(perm.size());
  if (perm.size() <= kMostRank || perm.back() == rank - 1) return std::nullopt;
  const bool swapped = perm.back() == rank - 2 && perm[perm.size() - 2] == rank - 1;
  return swapped ? std::nullopt : std::optional(Cat(ToString(perm), " of ", ToString(site.In(0))));
}

// ---- rotations and gathers

std::optional<std::string> Rotated(const TpuOpSite& site) {
  constexpr int kWord = 32;
  static const RuleRows kRolls("tpu.roll");
  const Type in = site.In(0);
  if (!kRolls.Has(site.op) || (BitsInRegister(in.dtype) == kWord && in.shape.size() >= 2)) return std::nullopt;
  return ToString(in);
}

std::optional<std::string> Gathered(const TpuOpSite& site) {
  constexpr int kWord = 32;
  static const RuleRows kGathers("gather");
  const std::vector<std::int64_t> collapsed = IntsOf(site.op, "collapsed_slice_dims");
  const Type in = site.In(0);
  if (!kGathers.Has(site.op) || collapsed.size() != 1 || in.shape.size() < 2) return std::nullopt;
  const std::int64_t axis = collapsed[0], from_end = static_cast<std::int64_t>(in.shape.size()) - axis;
  if (from_end < 1 || from_end > 2) return std::nullopt;
  const std::int64_t most = from_end == 1 ? kLanes : kSublanes;
  const bool narrow = from_end == 1 && BitsInRegister(in.dtype) < kWord;
  if (in.shape[static_cast<std::size_t>(axis)] <= most && !narrow) return std::nullopt;
  return Cat("along axis ", axis, " of ", ToString(in));
}

constexpr Refusal<TpuOpSite> kShapes[] = {
    {{{"tpu.compiler.new-last-dim", "a new last dimension of 1, as in mask[:, None], is not added to an array of bools",
       "jax#37370; infer_vector_layout.cc: \"Insertion of minor dim that is not a no-op only supported for 32-bit "
       "types\"",
       "add the dimension before the comparison, or convert to i32, add it and compare with zero"},
      "all",
      Certainty::kReported},
     NewLastDim},
    {{{"tpu.compiler.reshape",
       "a reshape keeps the last dimension, or changes it between multiples of 128, or adds and removes dimensions of "
       "1",
       "jax#36750; infer_vector_layout.cc, vector.shape_cast: \"unsupported shape cast\"",
       "keep the last dimension, reshape outside of the kernel, or store into a ref by slices"},
      "all",
      Certainty::kLifted},
     LastDim},
    {{{"tpu.compiler.transpose",
       "a transpose of rank 4 or more keeps the last dimension last, or exchanges the last two",
       "canonicalize_mosaic.cc, vector.transpose", "transpose in two steps of rank 3, or outside of the kernel"},
      "all",
      Certainty::kSource},
     Transposed},
    {{{"tpu.compiler.roll", "pltpu.roll takes arrays of rank 2 or more with 32-bit elements",
       "apply_vector_layout.cc, tpu.rotate and tpu.dynamic_rotate", "convert to 32 bits and add a dimension in front"},
      "all",
      Certainty::kSource},
     Rotated},
    {{{"tpu.compiler.gather",
       "a gather takes 32-bit elements within one register: along at most 128 lanes, or along at most 8 rows",
       "apply_vector_layout.cc, tpu.dynamic_gather",
       "gather within each register and select, multiply by a one-hot matrix, or loop over indices in smem"},
      "all",
      Certainty::kSource},
     Gathered},
};

}  // namespace

absl::Span<const Refusal<TpuOpSite>> ShapeRefusals() { return kShapes; }

}  // namespace palladion::legality
