// Copies whose side in GMEM is named by an array of indices, which TMA gathers from and scatters to, four rows by an
// instruction. Sources: JAX 0.10.2, jax/experimental/mosaic/gpu/launch_context.py (_prepare_async_copy, async_copy,
// async_prefetch) and fragmented_array.py (TMA_INDICES_LAYOUT, TMA_INDICES_4_LAYOUT); PTX, cp.async.bulk.tensor. The
// layout of the indices is known where they are read, or cast, right before. Does not catch: other layouts of indices.
#include <algorithm>

#include "emu/check/legality/gpu/copy.h"
#include "emu/chip/layouts/register_facts.h"
#include "semantics/base/cat.h"
#include "semantics/registry/op_row.h"

namespace palladion::legality {
namespace {

constexpr std::int64_t kGatherBits = 1024, kGatherRows = 4, kRowsOfWarps = 16;
constexpr int kBlackwell = 10;

enum class IndexLayout : std::uint8_t { kUnknown, kByWarps, kByFour, kAsRead, kOther };

IndexLayout LayoutOfIndices(const CopySite& site) {
  const Kernel& kernel = *site.facts().kernel;
  const Instr* const maker = site.indices.valid() && !kernel.bodies.empty()
                                 ? layouts::MakerOf(site.indices, kernel.bodies[0].region)
                                 : nullptr;
  if (maker == nullptr) return IndexLayout::kUnknown;
  if (RowOf(*maker).access == RefAccess::kLoad) return IndexLayout::kAsRead;
  if (!layouts::IsLayoutCast(*maker)) return IndexLayout::kUnknown;
  const std::string layout = layouts::WordOf(maker->attrs, "layout");
  if (layout == "Layout.TMA_INDICES" || layout == "Layout.TMA_GATHER_INDICES") return IndexLayout::kByWarps;
  return layout == "Layout.TMA_INDICES_4" ? IndexLayout::kByFour : IndexLayout::kOther;
}

std::optional<std::string> GatherMachine(const CopySite& site) {
  const machines::Chip* chip = site.facts().chip;
  if (!site.gather.has_value() || chip == nullptr || chip->generation >= kBlackwell) return std::nullopt;
  return Cat("an array of indices on ", chip->name);
}

std::optional<std::string> GatherDims(const CopySite& site) {
  if (!site.gather.has_value()) return std::nullopt;
  const bool sliced = std::none_of(site.dims.begin(), site.dims.end(), [](const GmemDim& dim) { return dim.squeezed; });
  if (site.gather_axis == 0 && site.dims.size() == 2 && sliced && site.followed) return std::nullopt;
  return Cat("an index array along dimension ", site.gather_axis, " of ", ToString(site.gmem.ref));
}

std::optional<std::string> GatherIndex(const CopySite& site) {
  if (!site.gather.has_value()) return std::nullopt;
  const Type& type = *site.gather;
  const bool sign = IsUnsigned(type.dtype) || (IsInteger(type.dtype) && !site.facts().lanes);
  if (type.rank() == 1 && sign && Info(type.dtype).bits <= 32) return std::nullopt;
  return ToString(type);
}

std::optional<std::string> GatherLayout(const CopySite& site) {
  if (!site.gather.has_value()) return std::nullopt;
  const IndexLayout layout = LayoutOfIndices(site);
  const bool inferred = layout == IndexLayout::kAsRead && !site.facts().lanes;
  if (inferred || (layout != IndexLayout::kAsRead && layout != IndexLayout::kOther)) return std::nullopt;
  return Cat(ToString(*site.gather), " in another layout");
}

std::optional<std::string> GatherRows(const CopySite& site) {
  if (!site.gather.has_value() || site.gather->rank() != 1) return std::nullopt;
  const std::int64_t count = site.gather->shape[0];
  const IndexLayout layout = LayoutOfIndices(site);
  const bool warps = count % kRowsOfWarps == 0;
  if (layout == IndexLayout::kByWarps && !warps) return Cat(count, " in TMA_INDICES");
  if (layout != IndexLayout::kByFour || (count % kGatherRows == 0 && (site.facts().lanes || !warps)))
    return std::nullopt;
  return Cat(count, " in TMA_INDICES_4");
}

std::optional<std::string> GatherAlone(const CopySite& site) {
  if (!site.gather.has_value()) return std::nullopt;
  if (!site.axes.empty()) return "collective_axes";
  if (layouts::ArgNamed(site.op, "predicate") != nullptr) return "a predicate";
  if (layouts::IsGiven(site.op.attrs, "reduction_op")) return "a reduction";
  if (site.scope.warp != nullptr) return "a warp";
  return std::nullopt;
}

std::optional<std::string> GatherBytes(const CopySite& site) {
  const Shape slice = site.Slice();
  if (!site.gather.has_value() || !site.followed || slice.empty()) return std::nullopt;
  if (kGatherRows * slice.back() * site.gmem.bits() % kGatherBits == 0) return std::nullopt;
  return Cat(kGatherRows * slice.back() * site.gmem.bits() / 8, " bytes");
}

std::optional<std::string> GatherTiles(const CopySite& site) {
  const bool flat = site.smem.swizzle().has_value() && site.smem.tile.empty();
  if (!site.gather.has_value() || site.facts().lanes || !flat) return std::nullopt;
  return Cat("a swizzle of ", *site.smem.swizzle(), " without tiles");
}

constexpr std::string_view kCopy = "Mosaic GPU, LaunchContext.async_copy", kPad = "copy more, or pad the array",
                           kTma = "PTX, cp.async.bulk.tensor";

constexpr GpuLimit<CopySite> kRowLimits[] = {
    {{"machine.gather",
      "copies with an array of indices are Blackwell's (.tile::gather4 and .tile::scatter4 of sm_100)", kTma,
      "run it on mosaic_gpu/b200, or copy row by row"},
     GatherMachine},
    {{"copy.gather", "an array of indices is the first index of a GMEM array of two dimensions", kCopy,
      "merge the other dimensions of the array"},
     GatherDims},
    {{"copy.gather-index",
      "an array of indices has at most 32 bits and one dimension, and is unsigned with lane semantics", kCopy,
      "convert the indices to u32"},
     GatherIndex},
    {{"copy.gather-layout",
      "an array of indices is in the layout TMA_INDICES or TMA_INDICES_4, which warpgroup semantics infers", kCopy,
      "read it with plgpu.load(..., layout=plgpu.Layout.TMA_INDICES)"},
     GatherLayout},
    {{"copy.gather-rows",
      "TMA_INDICES takes a multiple of 16 indices, TMA_INDICES_4 a multiple of 4, which with warpgroup semantics "
      "is not one of 16",
      "Mosaic GPU, TMA_INDICES_LAYOUT and TMA_INDICES_4_LAYOUT",
      "use the other layout, or fill up with indices outside the array"},
     GatherRows},
    {{"copy.gather-alone",
      "a copy with an array of indices has no collective_axes, no predicate and no reduction, and is not issued "
      "by a single warp",
      kCopy, "copy by slices"},
     GatherAlone},
    {{"copy.gather-bytes", "four gathered rows together have a multiple of 128 bytes", kCopy, kPad}, GatherBytes},
    {{"copy.gather-tiles", "with warpgroup semantics a swizzled SMEM ref of a copy with an array of indices has tiles",
      kCopy, "give it plgpu.TilingTransform too"},
     GatherTiles},
};

// ---- async_prefetch

bool HasIndexArray(const layouts::GpuView& view, const Kernel& kernel) {
  for (const Transform& transform : view.rest) {
    for (const Index& index : transform.indices) {
      if (index.kind == Index::Kind::kPoint && index.start.kind == Arg::Kind::kValue &&
          kernel.values[index.start.value.index()].type.rank() > 0)
        return true;
    }
  }
  return false;
}

std::optional<std::string> PrefetchRows(const OpSite& site) {
  const Kernel& kernel = *site.scope.facts->kernel;
  const Arg* const ref = layouts::ArgNamed(site.op, "ref");
  if (ref == nullptr || !layouts::IsRefArg(kernel, *ref) || !HasIndexArray(layouts::GpuViewOf(kernel, *ref), kernel))
    return std::nullopt;
  return "one";
}

constexpr GpuLimit<OpSite> kPrefetchLimits[] = {
    {{"prefetch.gather", "a prefetch has no array of indices", "Mosaic GPU, LaunchContext.async_prefetch",
      "prefetch slices"},
     PrefetchRows},
};

}  // namespace

void CheckRows(Legality& legality, const CopySite& site) {
  Judge(legality, site.op, absl::Span<const GpuLimit<CopySite>>(kRowLimits), site);
}

absl::Span<const GpuLimit<OpSite>> PrefetchLimits() { return kPrefetchLimits; }

void ListRowLimits(std::vector<LimitText>& texts) {
  ListLimits(absl::Span<const GpuLimit<CopySite>>(kRowLimits), texts);
}

}  // namespace palladion::legality
