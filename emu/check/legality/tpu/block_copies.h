// How much the pipeline of a TPU kernel copies between HBM and the blocks in VMEM and SMEM, over the whole grid: a
// block is copied where its index differs from that of the program before. Based on: JAX 0.10.2,
// jax/_src/pallas/mosaic/lowering.py; a dimension of the grid that an index map depends on changes its index. Does not
// know: copies that the kernel starts itself, and prefetched scalars that a map reads, which may be equal for
// consecutive programs.
#ifndef PALLADION_EMU_CHECK_LEGALITY_TPU_BLOCK_COPIES_H_
#define PALLADION_EMU_CHECK_LEGALITY_TPU_BLOCK_COPIES_H_

#include <cstdint>
#include <optional>

#include "emu/check/legality/legality.h"

namespace palladion::legality {

// The programs of the grid; nullopt: some size is an operand's value.
std::optional<std::int64_t> ProgramsOf(const Kernel& kernel);
// In bytes, without what lies over an array's end; nullopt: as above.
std::optional<std::int64_t> BlockBytesCopied(const Legality& legality);

}  // namespace palladion::legality

#endif  // PALLADION_EMU_CHECK_LEGALITY_TPU_BLOCK_COPIES_H_
