// Engines as late, or as early, as they may be: a copy that nobody waits for is found by the first at once.
#include <utility>
#include <vector>

#include "scheduler/policies/policies.h"

namespace palladion::scheduler {
namespace {

class Engines final : public Policy {
 public:
  Engines(std::unique_ptr<Policy> inner, bool first) : inner_(std::move(inner)), first_(first) {}

  std::size_t Choose(const Choice& choice) override {
    shown_.clear();
    from_.clear();
    std::size_t current = Choice::kNone;
    // Agents that take turns with spinning may all wait for an engine.
    const bool wanted = choice.tired.valid() ? true : first_;
    for (std::size_t i = 0; i < choice.candidates.size(); ++i) {
      if ((choice.candidates[i].role == AgentRole::kOperation) != wanted) continue;
      if (i == choice.current) current = shown_.size();
      shown_.push_back(choice.candidates[i]);
      from_.push_back(i);
    }
    if (shown_.empty() || shown_.size() == choice.candidates.size()) return inner_->Choose(choice);
    return from_[inner_->Choose({.candidates = shown_, .current = current, .tired = choice.tired})];
  }

 private:
  std::unique_ptr<Policy> inner_;
  bool first_;
  std::vector<Candidate> shown_;
  std::vector<std::size_t> from_;
};

}  // namespace

std::unique_ptr<Policy> MakeEnginesLate(std::unique_ptr<Policy> inner) {
  return std::make_unique<Engines>(std::move(inner), false);
}

std::unique_ptr<Policy> MakeEnginesFirst(std::unique_ptr<Policy> inner) {
  return std::make_unique<Engines>(std::move(inner), true);
}

}  // namespace palladion::scheduler
