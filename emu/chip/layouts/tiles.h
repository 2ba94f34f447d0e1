// How many bytes an array takes in the VMEM of a TPU, where it is stored in tiles: the last dimension in lanes, the one
// before in packed sublanes. Based on: the old sources of Mosaic (infer_memref_layout.cc, public until November 2025),
// which agree with every size that its compiler is known to have printed (docs/spec/tpu-limits.md).
#ifndef PALLADION_EMU_CHIP_LAYOUTS_TILES_H_
#define PALLADION_EMU_CHIP_LAYOUTS_TILES_H_

#include <cstdint>

#include "emu/chip/machines/chip.h"
#include "semantics/ir/module.h"

namespace palladion::layouts {

// By the allocation of the array: an operand and scratch have whole tiles; 32-bit arrays of run_scoped with at most 128
// lanes have rows of their own.
enum class PaddedAs : std::uint8_t { kOperand, kScoped };

// How many rows the tile of an array of this many rows has; `packing`: elements of 32 bits.
std::int64_t TileRows(std::int64_t rows, std::int64_t packing, std::int64_t sublanes);

// Elements in 32 bits; a bool is stored as 32 bits.
std::int64_t PackingOf(DType dtype);

std::int64_t TiledBytes(const Type& type, const Shape& shape, const machines::Chip& chip,
                        PaddedAs as = PaddedAs::kOperand);
std::int64_t DenseBytes(const Type& type, const Shape& shape);  // without padding

// What is held of an operand at once: its block, or the whole array.
Shape BlockShape(const Operand& operand, const Type& array);

}  // namespace palladion::layouts

#endif  // PALLADION_EMU_CHIP_LAYOUTS_TILES_H_
