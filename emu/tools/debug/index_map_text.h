// An index map as its author wrote it, as far as its text goes: the names of its parameters, which are those of the
// grid's axes, and an expression for each result.
#ifndef PALLADION_EMU_TOOLS_DEBUG_INDEX_MAP_TEXT_H_
#define PALLADION_EMU_TOOLS_DEBUG_INDEX_MAP_TEXT_H_

#include <string>
#include <vector>

#include "semantics/ir/module.h"

namespace palladion::debug {

struct IndexMapText {
  std::vector<std::string> parameters, results;  // "i", "rows_ref[i]"
};

IndexMapText TextOfMap(const Kernel& kernel, const Region& map);

// One for each dimension of the grid: of its mesh, else the parameters of the first index map; "" where it has none.
std::vector<std::string> AxisNames(const Kernel& kernel);

}  // namespace palladion::debug

#endif  // PALLADION_EMU_TOOLS_DEBUG_INDEX_MAP_TEXT_H_
