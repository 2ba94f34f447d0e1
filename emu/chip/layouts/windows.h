// How many buffers a TPU's pipeline has for a block. Based on: JAX 0.10.2, jax/_src/pallas/mosaic/lowering.py (two, or
// what pipeline_mode says), and JAX's own test of what the compiler makes of it, test_automatic_single_buffering: a
// window whose index cannot change over the grid has one. Does not know: what a map reads from prefetched scalars,
// which count as the same for all programs where the place that is read is.
#ifndef PALLADION_EMU_CHIP_LAYOUTS_WINDOWS_H_
#define PALLADION_EMU_CHIP_LAYOUTS_WINDOWS_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "semantics/ir/module.h"

namespace palladion::layouts {

// Where an operand lives: what it says itself, else what its ref in the body says. Prefetched scalars are in SMEM.
Space SpaceOf(const Kernel& kernel, std::size_t operand);

// A dimension of the grid over which an index may change: of a size that is not 1, or that is an operand's value.
bool GridMoves(const Kernel& kernel, std::size_t dimension);

// The dimensions of the grid that the results of an operand's index map depend on, through any number of operations.
std::vector<std::size_t> DependsOn(const Kernel& kernel, const BlockSpec& block);

// The results of the map, by dimension of the block, that depend on one dimension of the grid.
std::vector<std::size_t> ResultsOf(const Kernel& kernel, const BlockSpec& block, std::size_t dimension);

struct WindowBuffers {
  std::int64_t count = 1;
  std::string_view why;  // "the index map cannot change over the grid"
};
// Of an operand with a block or, where it has none, of the whole array.
WindowBuffers BuffersOf(const Kernel& kernel, const Operand& operand);

}  // namespace palladion::layouts

#endif  // PALLADION_EMU_CHIP_LAYOUTS_WINDOWS_H_
