// Scalars that a kernel computes from literals alone: what JAX traces where a Python loop counts steps of a grid in
// arrays, and how emit_pipeline says which block is fetched first in the loop. Known are sums, differences, products,
// comparisons, conversions and choices of i32 and bool; anything else is not known.
#ifndef PALLADION_EMU_TOOLS_ADVICE_KNOWN_NUMBERS_H_
#define PALLADION_EMU_TOOLS_ADVICE_KNOWN_NUMBERS_H_

#include <cstdint>
#include <map>
#include <optional>

#include "emu/tools/advice/origins.h"
#include "semantics/ir/module.h"

namespace palladion::advice {

class KnownNumbers {
 public:
  // Both stay alive, and no instruction of the kernel changes, while this is used.
  KnownNumbers(const Kernel& kernel, const Origins& origins) : kernel_(kernel), origins_(origins) {}

  // A bool is 0 or 1.
  std::optional<std::int64_t> Of(const Arg& arg);

 private:
  std::optional<std::int64_t> OfInstr(const Instr& instr);

  const Kernel& kernel_;
  const Origins& origins_;
  std::map<ValueId, std::optional<std::int64_t>> found_;
};

// Loops of the kernel begin with literals where they begin with known i32 scalars: the same kernel.
void WriteKnownStarts(Kernel& kernel, const Origins& origins);

// Is this carry of a loop, but for choices, one more each turn?
bool CountsUp(const Origins& origins, const Instr& loop, std::size_t carry);

}  // namespace palladion::advice

#endif  // PALLADION_EMU_TOOLS_ADVICE_KNOWN_NUMBERS_H_
