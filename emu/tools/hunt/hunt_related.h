// Equivalent forms of a kernel: a check's report on them must be the same (docs/develop/hunting.md). Every line keeps
// its number, so findings are compared by their code and lines.
#ifndef PALLADION_EMU_TOOLS_HUNT_HUNT_RELATED_H_
#define PALLADION_EMU_TOOLS_HUNT_HUNT_RELATED_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "emu/tools/hunt/hunt_oracle.h"
#include "semantics/tensor/tensor.h"

namespace palladion::hunt {

struct Related {
  std::string name;  // "permuted operands"
  std::string text;
  bool permuted = false;  // inputs and outputs are in another order: the last first
};

std::vector<Related> RelatedTexts(const std::string& text);

// What is compared of a check.
struct Said {
  std::string error = {};
  std::string verdict = {};
  bool tried = false;                   // several schedules, of which more might say more
  std::set<std::string> findings = {};  // code and lines
  std::vector<Tensor> outputs = {};
};
std::string Difference(const Said& a, const Said& b);  // "": the two say the same

// Checks the kernel of `result` and those with so many seeds each; where schedules differ, a difference must be there
// with many more.
void CompareWithRelated(const std::string& target, const std::vector<Tensor>& inputs, std::int64_t seeds,
                        HuntResult* result);

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_TOOLS_HUNT_HUNT_RELATED_H_
