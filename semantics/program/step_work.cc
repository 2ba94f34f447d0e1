#include "semantics/program/step_work.h"

#include <algorithm>
#include <limits>

namespace palladion {

double LargestOf(const Program& program, const std::vector<SlotId>& in, const std::vector<SlotId>& out) {
  std::size_t elements = 0;
  for (const std::vector<SlotId>* slots : {&in, &out}) {
    for (const SlotId slot : *slots) elements = std::max(elements, program.slots[slot.index()].elements);
  }
  return static_cast<double>(elements);
}

void SetWork(Step& step, double work) {
  constexpr double kNoMoreThanAnyStep = 256;
  if (work < kNoMoreThanAnyStep) return;
  step.work = static_cast<std::uint32_t>(std::min<double>(work, std::numeric_limits<std::uint32_t>::max()));
}

// A step takes about as long as kStep elements, so the smallest loops and those of up to kIteration count once. A mark
// does nothing: whether a program is observable should not decide whether it stays in a budget.
std::int64_t LoopWeight(const Program& program, std::size_t first) {
  constexpr std::int64_t kStep = 16, kIteration = 128;
  std::int64_t work = 0;
  for (std::size_t i = first; i < program.steps.size(); ++i) {
    if (program.steps[i].kind != StepKind::kMark) work += kStep + program.steps[i].work;
  }
  return 1 + work / kIteration;
}

}  // namespace palladion
