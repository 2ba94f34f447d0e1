// The smaller candidates for one number, each one place for the chooser.
#ifndef PALLADION_EMU_TOOLS_REDUCE_SHRINK_NUMBER_H_
#define PALLADION_EMU_TOOLS_REDUCE_SHRINK_NUMBER_H_

#include <cstdint>
#include <vector>

#include "emu/tools/reduce/pass.h"

namespace palladion::reduce {

// One less, half, least + 2, least + 1, least, of those that are smaller than `number`: places from the last are tried
// first, so the smallest is.
std::vector<std::int64_t> SmallerThan(std::int64_t number, std::int64_t least);

// Changes `number` to what is chosen.
void ShrinkNumber(std::int64_t& number, std::int64_t least, Chooser& chooser);

}  // namespace palladion::reduce

#endif  // PALLADION_EMU_TOOLS_REDUCE_SHRINK_NUMBER_H_
