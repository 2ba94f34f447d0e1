// Numbers that JAX folded from a grid: `program_id(2) == num_programs(2) - 1` is a comparison with 7 in the text of a
// grid of 8, and must become one with 3 where the grid becomes one of 4. Known are comparisons of a program's number
// with the last one's or with how many there are, and a program's number times the size of its block. Based on: what
// jax.experimental.pallas traces. What it does not know: a number that went through anything but sums and conversions;
// a change that needed it is refused for its results.
#ifndef PALLADION_EMU_TOOLS_ADVICE_FOLDED_H_
#define PALLADION_EMU_TOOLS_ADVICE_FOLDED_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "semantics/ir/module.h"

namespace palladion::advice {

// One dimension of a grid gets other programs, with blocks of another size.
struct GridChange {
  std::size_t dim = 0;
  std::int64_t programs_before = 1, programs = 1;
  std::int64_t block_before = 1, block = 1;
};

// Writes the numbers of the bodies anew. The result is why that is ambiguous, "" where it is not: the kernel is then to
// be thrown away.
std::string FollowGrid(Kernel& kernel, const GridChange& change);

}  // namespace palladion::advice

#endif  // PALLADION_EMU_TOOLS_ADVICE_FOLDED_H_
