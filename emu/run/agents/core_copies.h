// Which operands each core of a TPU has its own copy of: whole arrays in vmem or smem, prefetched scalars included. A
// core's stores there are seen by that core alone, and never by the caller. Based on: docs/spec/grid.md#residency.
// Limits: a read-only operand stays one array, since its copies would be equal; one that shares its memory with an
// output is a block (semantics/prepare/block_mode.h), as outputs are.
#ifndef PALLADION_EMU_RUN_AGENTS_CORE_COPIES_H_
#define PALLADION_EMU_RUN_AGENTS_CORE_COPIES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "emu/kernel/prepared_kernel.h"

namespace palladion::agents {

constexpr std::int64_t kCoresOfMegacore = 2;  // as GridWalk::FirstHalf divides a grid

// Does a kernel on this target run on several cores?
bool HasSeveralCores(const Program& program);

// By number, ascending; none where the chip has one core.
std::vector<std::size_t> OperandsOfEachCore(const kernel::PreparedKernelState& kernel);

}  // namespace palladion::agents

#endif  // PALLADION_EMU_RUN_AGENTS_CORE_COPIES_H_
