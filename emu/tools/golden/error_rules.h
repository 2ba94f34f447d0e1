// The bound of one value operation's results, as instructions. Rules: error_kernel.h.
#ifndef PALLADION_EMU_TOOLS_GOLDEN_ERROR_RULES_H_
#define PALLADION_EMU_TOOLS_GOLDEN_ERROR_RULES_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "emu/tools/golden/rewrite.h"

namespace palladion::golden {

// A bound as an argument; none: the value is exact.
using Bound = std::optional<Arg>;

struct BoundedInstr {
  const Instr& instr;     // it stands in the list already
  std::vector<Bound> in;  // of each operand
  std::set<std::string>& rules;
};

// Of each result; none of those that are no floats. Unimplemented: no rule.
absl::StatusOr<std::vector<Bound>> BoundsOf(const BoundedInstr& op, Writer& writer);

// Does a reduction or prefix operation give one of its elements, as max does, and not their sum? The operation itself
// is asked, with 2 and 3.
bool GivesAnElement(const Instr& instr);

// The same instruction over f64: float types in its attributes, too.
Instr InF64(const Instr& instr);

}  // namespace palladion::golden

#endif  // PALLADION_EMU_TOOLS_GOLDEN_ERROR_RULES_H_
