// Starve one: what goes wrong when one agent is far behind all others. After each interval another one is left behind,
// and intervals double, so that some run is as long as the gap that a bug needs.
#include "scheduler/policies/policies.h"
#include "scheduler/policies/random.h"

namespace palladion::scheduler {
namespace {

class StarveOne final : public Policy {
 public:
  explicit StarveOne(std::uint64_t seed) : random_(seed) {}

  const Candidate& Choose(const Choice& choice) override {
    const std::size_t n = choice.candidates.size();
    if (left_-- == 0) {
      interval_ = interval_ < kLongest ? 2 * interval_ : kShortest;
      left_ = interval_;
      starved_ = choice.candidates[random_.Below(n)].id;
    }
    // One in ten turns goes to any agent, so that the rest do not just follow each other.
    if (choice.current != nullptr && choice.current->id != starved_ && !random_.Chance(100)) return *choice.current;
    if (n == 1) return choice.candidates[0];
    const std::size_t position = static_cast<std::size_t>(random_.Below(n));
    const Candidate& pick = choice.candidates[position];
    return pick.id == starved_ ? choice.candidates[(position + 1) % n] : pick;
  }

 private:
  static constexpr std::int64_t kShortest = 8, kLongest = std::int64_t{1} << 20;
  Random random_;
  std::int64_t interval_ = kShortest / 2, left_ = 0;
  AgentOrdinal starved_;
};

}  // namespace

std::unique_ptr<Policy> MakeStarveOne(std::uint64_t seed) { return std::make_unique<StarveOne>(seed); }

}  // namespace palladion::scheduler
