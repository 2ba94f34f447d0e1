// Accesses with lane semantics in the default layout of values: consecutive elements, a few for each lane in turn.
// Sources: JAX 0.10.2, jax/experimental/mosaic/gpu/fragmented_array.py (WGStridedFragLayout, transfer_strided,
// _store_untiled_splat), jax/_src/pallas/mosaic_gpu/lowering.py (_swap_lowering_rule). legality_gpu_layouts.cc decides
// which accesses these are.
#include <algorithm>

#include "emu/check/legality/gpu/limits.h"
#include "emu/chip/layouts/view_strides.h"
#include "semantics/base/cat.h"

namespace palladion::legality {
namespace {

struct StridedSite {
  const layouts::GpuFacts& facts;
  const Instr& op;
  const Type& type;
  StridedUse use;
  std::optional<layouts::Strided> memory = {};  // none: how it lies is not known
};

// WGStridedFragLayout.from_shaped_type: 8 bytes, fewer where each lane has fewer.
std::int64_t VectorOfRead(const Type& type) {
  const std::int64_t elements = NumElements(type.shape), bits = Info(type.dtype).bits;
  if (elements % layouts::kLanesOfWarpgroup != 0 || bits % 8 != 0) return 1;
  std::int64_t vector = std::min(64 / bits, elements / layouts::kLanesOfWarpgroup);
  while (vector > 1 && elements % (vector * layouts::kLanesOfWarpgroup) != 0) vector /= 2;
  return vector;
}

// _store_untiled_splat
std::int64_t VectorOfSplat(const Type& type) {
  const std::int64_t elements = NumElements(type.shape), vector = 64 / Info(type.dtype).bits;
  return elements < vector * layouts::kLanesOfWarpgroup ? 1 : vector;
}

layouts::StridedMove MoveOf(const StridedSite& site) {
  const bool shared = NumElements(site.type.shape) % layouts::kLanesOfWarpgroup == 0 && !IsBool(site.type.dtype);
  if (!site.memory.has_value() || !shared) return layouts::StridedMove::kMoves;
  // An update uses no vector.store; a swap reads, too.
  const layouts::StridedMove move = MoveOf(*site.memory, site.use == StridedUse::kUpdate ? 1 : VectorOfRead(site.type));
  if (move != layouts::StridedMove::kMoves || site.use != StridedUse::kWriteSplat) return move;
  return MoveOf(*site.memory, VectorOfSplat(site.type));
}

std::optional<std::string> TruthValues(const StridedSite& site) {
  if (site.use == StridedUse::kUpdate || !IsBool(site.type.dtype)) return std::nullopt;
  return Cat("truth values of shape ", ToString(site.type.shape));
}

// Each of the 128 lanes has as many elements.
std::optional<std::string> NotShared(const Type& type, std::int64_t vector) {
  const std::int64_t elements = NumElements(type.shape);
  if (elements % (vector * layouts::kLanesOfWarpgroup) == 0) return std::nullopt;
  return Cat(elements, elements == 1 ? " element, " : " elements, ", ToString(type));
}

std::optional<std::string> Read(const StridedSite& site) {
  return site.use == StridedUse::kRead ? NotShared(site.type, 1) : std::nullopt;
}

std::optional<std::string> Written(const StridedSite& site) {
  if (site.use == StridedUse::kWriteSplat) return NotShared(site.type, VectorOfSplat(site.type));
  return site.use == StridedUse::kWrite ? NotShared(site.type, 1) : std::nullopt;
}

std::optional<std::string> OutOfOrder(const StridedSite& site) {
  if (MoveOf(site) != layouts::StridedMove::kOutOfOrder) return std::nullopt;
  return TextOf(*site.memory);
}

std::optional<std::string> CutsVectors(const StridedSite& site) {
  if (MoveOf(site) != layouts::StridedMove::kCutsVectors || Written(site).has_value()) return std::nullopt;
  return TextOf(*site.memory);
}

constexpr std::string_view kLayout = "Mosaic GPU, WGStridedFragLayout";

constexpr GpuLimit<StridedSite> kLimits[] = {
    {{"layout.bool", "with lane semantics no array of truth values is read or written without tiles",
      "Mosaic GPU, WGStridedFragLayout.from_shaped_type", "keep them as i8, or read them one by one", true, false,
      About::kType},
     TruthValues},
    {{"layout.strided",
      "with lane semantics an array that is read in no tiles and no layout has a multiple of 128 elements", kLayout,
      "read it with plgpu.load(..., layout=...) in a layout that has its shape, or pad it", /*until_jax_0_10=*/false,
      /*only_from_jax=*/true, About::kShape},
     Read},
    {{"layout.written",
      "with lane semantics an array that is written in no tiles, in a strided layout or the same everywhere, has a "
      "multiple of 128 elements, or one; from 1024 bytes on one that is the same everywhere has a multiple of these",
      kLayout, "cast it with plgpu.layout_cast to a layout that has its shape, or pad it", /*until_jax_0_10=*/true,
      /*only_from_jax=*/true, About::kShape},
     Written},
    {{"layout.order",
      "with lane semantics what is read or written without tiles is not transposed, unless a slice left gaps in it",
      "Mosaic GPU, FragmentedArray.transfer_strided, and memref.collapse_shape",
      "access the ref as it lies, or in a layout of plgpu.Layout", true},
     OutOfOrder},
    {{"layout.vectors",
      "with lane semantics the last dimension of what is read or written without tiles is contiguous, and it and the "
      "strides of slices are multiples of what a lane moves at once: 8 bytes, or less where all lanes have less",
      "Mosaic GPU, FragmentedArray.transfer_strided, and vector.load", "access slices of whole rows", true},
     CutsVectors},
};

}  // namespace

void CheckStrided(Legality& legality, const layouts::GpuFacts& facts, const Instr& op, const Type& type,
                  StridedUse use) {
  if (type.shape.empty() || op.args.empty() || !layouts::IsRefArg(*facts.kernel, op.args[0])) return;
  const layouts::GpuView view = layouts::GpuViewOf(*facts.kernel, op.args[0]);
  const bool memory = view.ref.space == Space::kSmem || view.ref.space == Space::kGmem;
  if (!memory || !view.tile.empty() || view.swizzle().has_value()) return;
  StridedSite site{facts, op, type, use};
  if (facts.mesh) site.memory = layouts::StridedViewOf(view).lies;  // a block of pallas_call is a part of its array
  Judge(legality, op, absl::Span<const GpuLimit<StridedSite>>(kLimits), site);
}

void ListStridedLimits(std::vector<LimitText>& texts) {
  ListLimits(absl::Span<const GpuLimit<StridedSite>>(kLimits), texts);
}

}  // namespace palladion::legality
