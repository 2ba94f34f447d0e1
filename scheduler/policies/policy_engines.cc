// Engines as late, or as early, as they may be: a copy without a wait is found by the first at once.
#include <utility>

#include "scheduler/policies/policies.h"

namespace palladion::scheduler {
namespace {

class Engines final : public Policy {
 public:
  Engines(std::unique_ptr<Policy> inner, bool first) : inner_(std::move(inner)), first_(first) {}

  const Candidate& Choose(const Choice& choice) override {
    // Agents that take turns with spinning may all wait for an engine.
    const bool wanted = choice.tired.valid() ? true : first_;
    const Candidates shown = choice.candidates.Only(wanted ? Candidates::Who::kEngines : Candidates::Who::kOthers);
    if (shown.empty()) return inner_->Choose(choice);
    const bool current = choice.current != nullptr && (choice.current->role == AgentRole::kOperation) == wanted;
    return inner_->Choose({.candidates = shown, .current = current ? choice.current : nullptr, .tired = choice.tired});
  }

 private:
  std::unique_ptr<Policy> inner_;
  bool first_;
};

}  // namespace

std::unique_ptr<Policy> MakeEnginesLate(std::unique_ptr<Policy> inner) {
  return std::make_unique<Engines>(std::move(inner), false);
}

std::unique_ptr<Policy> MakeEnginesFirst(std::unique_ptr<Policy> inner) {
  return std::make_unique<Engines>(std::move(inner), true);
}

}  // namespace palladion::scheduler
