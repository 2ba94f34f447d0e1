// How a TPU tiles the last two dimensions of what is in its memory, and the slices that a kernel takes of it, dimension
// by dimension. Based on: the compiler's public source until November 2025, infer_memref_layout.cc, and
// TpuInfo.get_sublane_tiling of JAX 0.10.2. Does not catch: flags of XLA that choose other layouts.
#ifndef PALLADION_EMU_CHECK_LEGALITY_TPU_TILES_H_
#define PALLADION_EMU_CHECK_LEGALITY_TPU_TILES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emu/check/legality/legality.h"
#include "semantics/ir/module.h"

namespace palladion::legality {

// XLA chooses the tiles of operands, the compiler those of scratch. A ref of a scope, or of a call's parameter, is
// taken for an operand's, whose tiles are never taller.
enum class TileOwner : std::uint8_t { kOperand, kScratch };

struct Tiling {
  std::int64_t rows = 1;       // of a tile: a multiple of them is where a slice of the last but one dimension begins
  std::int64_t size_rows = 1;  // a multiple of them is how long such a slice is
  std::int64_t lanes = 128;    // of the last dimension; of an array of rank 1, the elements of a tile
};
Tiling TilingOf(DType dtype, const Shape& shape, TileOwner owner, const machines::Chip* chip);

// One dimension of a slice.
struct SlicedDim {
  std::int64_t array = 0;              // the dimension of the whole array
  std::int64_t from = 0;               // of what is sliced
  std::optional<std::int64_t> size{};  // nullopt: known only at run time
  const Arg* start = nullptr;          // nullptr: all of it
  std::int64_t step = 1;
};

// One `.at[...]` of a ref.
struct Slicing {
  std::string name;  // the ref's
  DType dtype = DType::kF32;
  Space space = Space::kVmem;
  Shape array;  // the whole array or block
  Tiling tiling;
  std::vector<SlicedDim> dims;  // dimensions that are sliced away before are not there
  bool is_last = false;         // of the chain

  bool IsTiled(const SlicedDim& dim) const { return dim.array + 2 >= static_cast<std::int64_t>(array.size()); }
  bool IsLast(const SlicedDim& dim) const { return dim.array + 1 == static_cast<std::int64_t>(array.size()); }
  std::int64_t TileOf(const SlicedDim& dim) const { return IsLast(dim) ? tiling.lanes : tiling.rows; }
};

// Those of a view, from the first on, up to what is no `.at` or leaves a tiled dimension out. None of a ref that
// holds no data.
std::vector<Slicing> SlicingsOf(const Legality& legality, const Arg& view);

}  // namespace palladion::legality

#endif  // PALLADION_EMU_CHECK_LEGALITY_TPU_TILES_H_
