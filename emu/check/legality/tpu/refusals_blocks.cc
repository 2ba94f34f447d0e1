// Blocks of an operand that cut its tiles, where those have more than 8 rows. Based on: XLA's error E2002, and
// TpuInfo.get_sublane_tiling of JAX 0.10.2. JAX's own lowering requires multiples of 8 (tpu.block.sublanes).
#include "emu/check/legality/tpu/refusals.h"
#include "semantics/base/cat.h"

namespace palladion::legality {
namespace {

// `bits`: the least and the most of an element's.
std::optional<std::string> CutTiles(const TpuOperandSite& site, int least, int most) {
  if (!site.operand.block.has_value() || site.space != Space::kVmem || site.array.element != ElementKind::kData)
    return std::nullopt;
  const std::vector<BlockDim>& dims = site.operand.block->dims;
  const Shape& array = site.array.shape;
  if (array.size() < 2 || dims.size() != array.size() || IsBool(site.array.dtype)) return std::nullopt;
  const int bits = Info(site.array.dtype).bits;
  const BlockDim& block = dims[dims.size() - 2];
  if (bits < least || bits > most || block.kind != BlockDim::Kind::kBlocked) return std::nullopt;
  const std::int64_t rows = array[array.size() - 2];
  const std::int64_t tile = TilingOf(site.array.dtype, array, TileOwner::kOperand, site.legality.chip()).rows;
  if (block.size == rows || block.size % tile == 0) return std::nullopt;
  return Cat(block.size, " rows of ", ToString(site.array), ", in tiles of ", tile, " x 128");
}

std::optional<std::string> HalfWords(const TpuOperandSite& site) {
  constexpr int kHalf = 16;
  return CutTiles(site, kHalf, kHalf);
}

std::optional<std::string> Bytes(const TpuOperandSite& site) {
  constexpr int kMost = 8;
  return CutTiles(site, 1, kMost);
}

constexpr std::string_view kSource =
    "sglang-jax#1546: error E2002, \"its block shape is not divisible by tiling evenly nor matches the full shape\"; "
    "tpu_info.py, get_sublane_tiling";

constexpr Refusal<TpuOperandSite> kBlocks[] = {
    {{{"tpu.compiler.block-rows",
       "on v7x, a block of a 16-bit array whose rows are a multiple of 16 has a multiple of 16 rows, or all of "
       "them",
       kSource, "use a multiple of 16 as the last but one dimension, or all of the array's"},
      "v7x",
      Certainty::kReported},
     HalfWords},
    {{{"tpu.compiler.block-bytes",
       "a block of an 8-bit (4-bit) array whose rows are a multiple of 32 (64) has a multiple of 32 (64) rows, or "
       "all of them",
       "tpu_info.py, get_sublane_tiling, and error E2002", "use a multiple of the tile as the last but one dimension"},
      "all",
      Certainty::kFollows},
     Bytes},
};

}  // namespace

absl::Span<const Refusal<TpuOperandSite>> BlockRefusals() { return kBlocks; }

}  // namespace palladion::legality
