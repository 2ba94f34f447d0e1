// Partial order sampling. Operations that conflict with nothing are free to be reordered without any effect on the
// chances of those that do, so it needs no knowledge of how long a run is.
//
// Alone it is not fair: agents that spin with an operation that writes conflict with each other, so they draw a new
// priority each time, while the holder of the lock keeps its low one and never goes on. So all draw anew after every
// kFair operations, more than a run without such loops usually has.
#include <cstdint>

#include "scheduler/policies/policies.h"
#include "scheduler/policies/random.h"
#include "scheduler/policies/slot_table.h"

namespace palladion::scheduler {
namespace {

constexpr std::int64_t kFair = std::int64_t{1} << 16;

constexpr auto kNone = [] { return std::uint64_t{0}; };

class Pos final : public Policy {
 public:
  explicit Pos(std::uint64_t seed) : random_(seed) {}

  const Candidate& Choose(const Choice& choice) override {
    if (++chosen_ % kFair == 0) {
      for (const Candidate& candidate : choice.candidates) priorities_.Of(candidate, kNone) = 0;
    }
    const Candidate* best = nullptr;
    std::uint64_t best_priority = 0;
    for (const Candidate& candidate : choice.candidates) {
      std::uint64_t& priority = priorities_.Of(candidate, kNone);
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
  std::int64_t chosen_ = 0;
  SlotTable<std::uint64_t> priorities_;  // 0: to be drawn
};

}  // namespace

std::unique_ptr<Policy> MakePos(std::uint64_t seed) { return std::make_unique<Pos>(seed); }

}  // namespace palladion::scheduler
