#include "emu/check/legality/tpu/vmem_capacity.h"

#include <algorithm>

#include "semantics/base/cat.h"
#include "semantics/base/saturating.h"

namespace palladion::legality {
namespace {

constexpr std::int64_t kKiB = 1024, kMiB = 1024 * kKiB;

// "32.00 MiB for 'x_ref' (2 buffers of f32[512,4096]), ..."
std::string PartsText(const std::vector<VmemPart>& parts) {
  constexpr std::size_t kMaxParts = 12;
  std::string text;
  for (std::size_t i = 0; i < std::min(parts.size(), kMaxParts); ++i) {
    const VmemPart& part = parts[i];
    Append(&text, i == 0 ? "" : ", ", BytesText(part.bytes()), " for ");
    if (part.kind == VmemPart::Kind::kScratch || part.kind == VmemPart::Kind::kScope)
      Append(&text, Name(part.kind), " ");
    Append(&text, "'", part.name, "'");
    if (part.array.empty()) continue;
    Append(&text, " (", part.buffers > 1 ? Cat(part.buffers, " buffers of ") : "", part.array, ")");
  }
  if (parts.size() > kMaxParts) Append(&text, ", ", parts.size() - kMaxParts, " smaller ones");
  return text;
}

std::string EstimateText(const VmemUse& use) {
  std::string text;
  for (const SpillEstimate& one : use.estimates)
    Append(&text, text.empty() ? "" : ", ", BytesText(one.bytes), " for ", one.what);
  return text;
}

// One buffer instead of several, for the largest block or for all, where that suffices.
std::string OneBuffer(const VmemUse& use) {
  const std::int64_t over = use.exact() - use.limit.scoped;
  std::int64_t all = 0, most = 0;
  std::string_view name;
  for (const VmemPart& part : use.parts) {
    const std::int64_t saved = part.bytes() - part.one;
    all = SaturatingAdd(all, saved);
    if (saved > most) {
      most = saved;
      name = part.name;
    }
  }
  if (all == 0 || all < over) return "";
  if (most >= over) return Cat("one buffer for '", name, "' (pipeline_mode=pl.Buffered(1)) saves ", BytesText(most));
  return Cat("one buffer for each block (pipeline_mode=pl.Buffered(1)) saves ", BytesText(all));
}

// A limit that what is held fits with room for what the compiler adds; "" where a core has no more.
std::string LargerLimit(const VmemUse& use, const machines::Chip& chip) {
  constexpr std::int64_t kRoom = 2 * kMiB;  // 1.3 to 1.7 MiB for plain data movement
  const std::int64_t wanted = RoundUp(SaturatingAdd(use.exact(), std::max(kRoom, 2 * use.estimate())), kMiB);
  const std::int64_t limit = std::min(wanted, use.limit.total);
  if (use.exceeds_total() || limit <= use.limit.scoped) return "";
  std::string text = Cat("give pltpu.CompilerParams(vmem_limit_bytes=", limit, "), ", BytesText(limit), " of the ",
                         BytesText(use.limit.core), " of a core of ", chip.name);
  if (!use.limit.requested.has_value())
    Append(&text, " (XLA's --xla_tpu_scoped_vmem_limit_kib=", limit / kKiB, " gives them to a whole program)");
  return text;
}

}  // namespace

std::string VmemFix(const Legality& legality, const VmemUse& use, const BlockSearch& search) {
  std::vector<std::string> ways;
  const auto add = [&](std::string way) {
    if (!way.empty()) ways.push_back(std::move(way));
  };
  add(LargerLimit(use, *legality.chip()));
  if (use.verdict() == VmemVerdict::kDoesNotFit) add(OneBuffer(use));
  if (search.largest.has_value()) {
    const BlockTry& fits = search.tries[*search.largest];
    add(Cat("take smaller blocks: ", GridText(fits), ", ", BlockText(fits), ", hold ", HeldText(fits)));
  }
  if (use.verdict() == VmemVerdict::kDoesNotFit && !search.largest.has_value())
    add(Cat("hold at least ", BytesText(RoundUp(use.exact() - use.limit.scoped, kKiB)),
            " less, with smaller blocks or less scratch"));
  std::string text;
  for (const std::string& way : ways) Append(&text, text.empty() ? "" : "; or ", way);
  return text;
}

std::string VmemLimitText(const VmemUse& use, const machines::Chip& chip) {
  if (use.exceeds_total()) return Cat("what kernels may have of a core of ", chip.name);
  if (!use.limit.requested.has_value())
    return Cat("what one kernel may have on ", chip.name, " without vmem_limit_bytes");
  if (use.limit.clamped()) return Cat("what kernels may have of a core of ", chip.name);
  return "the kernel's vmem_limit_bytes";
}

void CheckTpuVmem(Legality& legality) {
  const VmemUse use = VmemOf(legality);
  legality.memories += static_cast<std::int64_t>(use.parts.size());
  const machines::Chip& chip = *legality.chip();
  const VmemLimit& limit = use.limit;
  if (use.verdict() == VmemVerdict::kDoesNotFit) {
    const std::int64_t bound = use.exceeds_total() ? limit.total : limit.scoped;
    const auto [held, may] = BytesTexts(use.exact(), bound);
    const std::string beside = EstimateText(use);
    legality.Exceeds(Cat("at once it holds at least ", held, " of vmem, and ", VmemLimitText(use, chip), " is ", may,
                         use.exceeds_total() ? ", whatever vmem_limit_bytes says: " : ": ", PartsText(use.parts),
                         beside.empty() ? "" : "; beside them the compiler needs an estimated ", beside),
                     VmemFix(legality, use, LargestBlocks(legality, use)));
  } else if (use.verdict() == VmemVerdict::kMayNotFit) {
    legality.MayExceed(Cat("it may not fit: it holds ", BytesText(use.exact()), " of vmem, ", VmemLimitText(use, chip),
                           " is ", BytesText(limit.scoped), ", and the compiler needs an estimated ",
                           BytesText(use.estimate()), " more, give or take as much: ", EstimateText(use)),
                       VmemFix(legality, use, LargestBlocks(legality, use)));
  }
  if (limit.requested.value_or(0) > limit.core)
    legality.MayExceed(Cat("vmem_limit_bytes asks for ", BytesText(*limit.requested), ", and a core of ", chip.name,
                           " has ", BytesText(limit.core), ": the compiler warns, and gives the ",
                           BytesText(limit.total), " that kernels may have"),
                       Cat("give ", limit.total, " at most"));
}

}  // namespace palladion::legality
