// Where scales and sparse metadata lie: in the packed arrays of shared memory that tcgen05.cp copies from, in the refs
// of TMEM that it copies to, and which of their elements an instruction takes for which element of its operands.
// Based on: tcgen05.async_copy_scales_smem_to_tmem, async_copy_sparse_metadata_smem_to_tmem and their layouts in JAX
// 0.10.2, helpers.format_tcgen05_sparse_metadata, and "scale factor layouts" and "sparse matrices" of the PTX ISA's
// tcgen05. What it does not know: lanes and columns of TMEM; a ref's elements are what copies and products name.
#ifndef PALLADION_SEMANTICS_OPS_GPU_TMEM_PACKING_H_
#define PALLADION_SEMANTICS_OPS_GPU_TMEM_PACKING_H_

#include <cstdint>
#include <vector>

#include "semantics/ir/tmem_layout.h"

namespace palladion {

// How the packed array holds the tiles of a ref, by the ref's layout:
//   scales                (rows/128, columns/4, 32, 16): row 32 c + r of a tile lies in line r, at 4 c
//   scales_m64_collective (1, columns/4, 64, 16) of 256 rows: row 128 h + 32 c + r lies in line 32 h + r, at 4 c
//   sparse_metadata       (rows/128, columns/64, 128, 64): tiles as they are
// No other layout is packed.

// The shape of the packed array for a ref of TMEM of `rows` rows and `columns` columns, which must fit its tiles.
std::vector<std::int64_t> PackedShape(TmemLayoutName layout, std::int64_t rows, std::int64_t columns);

// Whether a ref of this shape is whole tiles of `layout`.
bool IsWholeTiles(TmemLayoutName layout, std::int64_t rows, std::int64_t columns);

// For each element of the ref, row-major, the element of the packed array that is copied there.
std::vector<std::int64_t> PackedOrder(TmemLayoutName layout, std::int64_t rows, std::int64_t columns);

// The row of b's scales that column `column` of `columns` has: its own, but where the blocks of a pair have 64 rows
// each, the scales of the columns' second half begin at row 128.
std::int64_t ScaleRowOfColumn(TmemLayoutName layout, std::int64_t column, std::int64_t columns);

// The element, row-major in a ref of `columns` columns, that has entry `entry` of `row`'s positions: entries 2g and
// 2g + 1 are of group g. For operands of 16 bits the instruction takes lanes and columns of a tile in another order.
std::int64_t PositionInTmem(std::int64_t row, std::int64_t entry, std::int64_t columns, int operand_bits);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_OPS_GPU_TMEM_PACKING_H_
