// The blocks with which a TPU kernel fits its VMEM and copies least: each candidate (scaled_blocks.h) is counted
// (vmem.h), along one dimension of the grid until it no longer fits, or does, and along all of them together. The
// result fits, has a pipeline that copies the fewest bytes (block_copies.h), then the fewest programs, and then is
// nearest to the kernel's own sizes. What the compiler adds grows in proportion. A kernel without a grid is given one
// over the first dimension of its outputs and of the operands where it is as large. Does not know: whether the body is
// written for blocks of any size, and whether its rows depend on each other.
#ifndef PALLADION_EMU_CHECK_LEGALITY_TPU_BLOCK_SEARCH_H_
#define PALLADION_EMU_CHECK_LEGALITY_TPU_BLOCK_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emu/check/legality/tpu/vmem.h"

namespace palladion::legality {

struct ScaledBlock {
  std::string name;  // of the operand, as the user has it
  Shape before, after;
};

// A dimension of the grid that has another number of programs.
struct GridChange {
  std::size_t dimension = 0;
  std::int64_t programs_now = 0, programs = 0;
};

struct BlockTry {
  std::vector<GridChange> grid;
  bool adds_grid = false;  // the kernel has none: one over the first dimension of its arrays
  std::vector<ScaledBlock> blocks;
  std::int64_t exact = 0, estimate = 0;
  std::optional<std::int64_t> copied;  // bytes, over the whole grid
  VmemVerdict verdict = VmemVerdict::kFits;
};

struct BlockSearch {
  std::vector<BlockTry> tries;
  std::vector<std::string> not_tried;  // "grid dimension 1: the index map of 'x_ref' computes with it"
  std::optional<std::size_t> largest;  // of the tries
  std::vector<std::string> stops;      // why that is no larger: "grid dimension 0: twice as large holds 40.00 MiB, ..."
  std::size_t together = 0;            // so many sizes were counted along several dimensions of the grid together
  std::optional<std::int64_t> copied;  // by the kernel as it is
};

BlockSearch LargestBlocks(const Legality& legality, const VmemUse& use);

// "8 along grid dimension 0 instead of 1", "2 and 4 along grid dimensions 0 and 1 instead of 8 and 8", "a grid of 8
// over the first dimension".
std::string GridText(const BlockTry& one);
// "[256,4096] of 'x_ref', 'o_ref'".
std::string BlockText(const BlockTry& one);
// "24.00 MiB and an estimated 36 KiB".
std::string HeldText(const BlockTry& one);

}  // namespace palladion::legality

#endif  // PALLADION_EMU_CHECK_LEGALITY_TPU_BLOCK_SEARCH_H_
