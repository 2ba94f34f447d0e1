// The largest blocks with which a TPU kernel fits its VMEM: blocks are scaled by powers of two along one dimension of
// the grid at a time, each kernel that this gives is counted (vmem.h), and the largest that fits is kept. A dimension
// of the grid is scaled where each index map that depends on it returns it as it is. Scratch and scopes grow with a
// block's dimension where theirs, counted from the end, is as large. Estimates grow in proportion. A kernel without a
// grid is given one over the first dimension of its outputs and of the operands where it is as large. Does not know:
// whether the body is written for blocks of any size, and whether its rows depend on each other.
#ifndef PALLADION_EMU_LEGALITY_BLOCK_SEARCH_H_
#define PALLADION_EMU_LEGALITY_BLOCK_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emu/legality/vmem.h"

namespace palladion::legality {

struct ScaledBlock {
  std::string name;  // of the operand, as the user has it
  Shape before, after;
};

struct BlockTry {
  std::size_t dimension = 0;                    // of the grid
  bool adds_grid = false;                       // the kernel has none: one over the first dimension of its arrays
  std::int64_t programs_now = 0, programs = 0;  // along it
  std::vector<ScaledBlock> blocks;
  double factor = 1;
  std::int64_t exact = 0, estimate = 0;
  VmemVerdict verdict = VmemVerdict::kFits;
};

struct BlockSearch {
  std::vector<BlockTry> tries;
  std::vector<std::string> not_tried;  // "grid dimension 1: the index map of 'x_ref' computes with it"
  std::optional<std::size_t> largest;  // of the tries: the one with the largest blocks that fit
};

BlockSearch LargestBlocks(const Legality& legality, const VmemUse& use);

// "8 along grid dimension 0 instead of 1", "a grid of 8 over the first dimension".
std::string GridText(const BlockTry& one);
// "[256,4096] of 'x_ref', 'o_ref'".
std::string BlockText(const BlockTry& one);
// "24.00 MiB and an estimated 36 KiB".
std::string HeldText(const BlockTry& one);

}  // namespace palladion::legality

#endif  // PALLADION_EMU_LEGALITY_BLOCK_SEARCH_H_
