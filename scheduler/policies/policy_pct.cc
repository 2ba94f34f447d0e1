// Probabilistic concurrency testing. The bound holds for agents that do not spin; where one does, the run loop's
// patience lowers it, which is one more change than the paper's.
#include <algorithm>
#include <vector>

#include "scheduler/policies/policies.h"
#include "scheduler/policies/random.h"
#include "scheduler/policies/slot_table.h"

namespace palladion::scheduler {
namespace {

class Pct final : public Policy {
 public:
  Pct(std::uint64_t seed, int depth, std::int64_t steps) : random_(seed) {
    const auto k = static_cast<std::uint64_t>(std::max<std::int64_t>(1, steps));
    for (int i = 1; i < depth; ++i) changes_.push_back(static_cast<std::int64_t>(random_.Below(k)) + 1);
    std::sort(changes_.begin(), changes_.end());
    lowest_ = kFirstPriority;
  }

  const Candidate& Choose(const Choice& choice) override {
    if (choice.tired.valid()) Lower(choice.tired);
    const Candidate* best = Best(choice);
    ++step_;
    for (; next_change_ < changes_.size() && changes_[next_change_] <= step_; ++next_change_) {
      priorities_.Of(*best) = --lowest_;
      best = Best(choice);
    }
    return *best;
  }

 private:
  // Random priorities are above all that change points give out.
  static constexpr std::uint64_t kFirstPriority = std::uint64_t{1} << 32;

  void Lower(AgentOrdinal id) {
    if (std::uint64_t* priority = priorities_.Find(id); priority != nullptr) *priority = --lowest_;
  }

  const Candidate* Best(const Choice& choice) {
    const Candidate* best = nullptr;
    std::uint64_t best_priority = 0;
    for (const Candidate& candidate : choice.candidates) {
      const std::uint64_t priority = priorities_.Of(candidate, [&] { return random_.Next() | kFirstPriority; });
      if (priority > best_priority) best = &candidate, best_priority = priority;
    }
    return best;
  }

  Random random_;
  SlotTable<std::uint64_t> priorities_;
  std::vector<std::int64_t> changes_;
  std::size_t next_change_ = 0;
  std::int64_t step_ = 0;
  std::uint64_t lowest_;
};

}  // namespace

std::unique_ptr<Policy> MakePct(std::uint64_t seed, int depth, std::int64_t steps) {
  return std::make_unique<Pct>(seed, depth, steps);
}

}  // namespace palladion::scheduler
