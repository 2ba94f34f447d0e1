// Numbers of a machine that say the same fact, or bound each other: a peak is units times rate times clock. What
// contradicts itself is refused; in a what-if the number on the left follows those on the right, in proportion.
#ifndef PALLADION_EMU_CHIP_MACHINES_RELATIONS_H_
#define PALLADION_EMU_CHIP_MACHINES_RELATIONS_H_

#include <array>
#include <cstddef>
#include <optional>
#include <string>

#include "absl/types/span.h"
#include "emu/chip/machines/description.h"

namespace palladion::machines {

struct Term {
  std::size_t row = key_table::kCount;  // kCount: there is no such term
  int power = 1;
};

struct Relation {
  enum class Kind { kIs, kAtMost };
  std::size_t target;
  Kind kind;
  double constant;  // that the product of the terms is multiplied with
  std::array<Term, 5> terms;
  double slack;         // how far kIs may be off, as a part of it
  bool follows = true;  // in a what-if
};
absl::Span<const Relation> AllRelations();

// The product, where the machine has all of its numbers and the target.
std::optional<double> Product(const Relation& relation, const Machine& machine);
bool Holds(const Relation& relation, const Machine& machine);  // true where a number is missing
// "peak.bf16 is 900 TFLOP/s, but chip.cores * tensor.bf16 * clock.peak is 989.5 TFLOP/s; ..."
std::string Contradiction(const Relation& relation, const Machine& machine);

}  // namespace palladion::machines

#endif  // PALLADION_EMU_CHIP_MACHINES_RELATIONS_H_
