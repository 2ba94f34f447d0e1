#include "emu/tools/hunt/reference_explore.h"

#include <unordered_set>
#include <utility>
#include <vector>

namespace palladion::hunt {

Reached ExploreFrom(const ReferenceMachine& start, std::int64_t max_states) {
  Reached explored;
  std::unordered_set<std::string> seen;
  std::vector<ReferenceMachine> stack = {start};
  stack.back().ListenWith(nullptr);
  seen.insert(stack.back().State());
  while (!stack.empty()) {
    if (++explored.states > max_states) {
      explored.complete = false;
      break;
    }
    const ReferenceMachine machine = std::move(stack.back());
    stack.pop_back();
    const std::vector<Choice> choices = machine.Choices();
    if (choices.empty()) {
      explored.outcomes.insert(machine.Outcome());
      explored.leaves |= machine.LeavesSemaphores();
    }
    for (const Choice& choice : choices) {
      ReferenceMachine next = machine;
      next.Do(choice);
      if (seen.insert(next.State()).second) stack.push_back(std::move(next));
    }
  }
  return explored;
}

}  // namespace palladion::hunt
