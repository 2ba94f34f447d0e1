// Partial order sampling. Operations that conflict with nothing are free to be reordered without any effect on the
// chances of those that do, so it needs no knowledge of how long a run is.
#include "scheduler/policies/policies.h"
#include "scheduler/policies/random.h"
#include "scheduler/policies/slot_table.h"

namespace palladion::scheduler {
namespace {

class Pos final : public Policy {
 public:
  explicit Pos(std::uint64_t seed) : random_(seed) {}

  const Candidate& Choose(const Choice& choice) override {
    const Candidate* best = nullptr;
    std::uint64_t best_priority = 0;
    for (const Candidate& candidate : choice.candidates) {
      std::uint64_t& priority = priorities_.Of(candidate, [] { return std::uint64_t{0}; });
      if (priority == 0) priority = random_.Next() | 1;
      if (priority > best_priority) best = &candidate, best_priority = priority;
    }
    // The agent's next operation is another one, and those that race with this one start again.
    priorities_.Of(*best) = 0;
    const Footprint& done = best->operation->footprint;
    if (done.empty()) return *best;
    for (const Candidate& candidate : choice.candidates) {
      if (candidate.operation->footprint.Conflicts(done)) priorities_.Of(candidate) = 0;
    }
    return *best;
  }

 private:
  Random random_;
  SlotTable<std::uint64_t> priorities_;  // 0: to be drawn
};

}  // namespace

std::unique_ptr<Policy> MakePos(std::uint64_t seed) { return std::make_unique<Pos>(seed); }

}  // namespace palladion::scheduler
