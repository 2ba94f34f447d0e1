// Random walk, and the one that mostly stays. Sticky 0 finds what a late engine breaks; random walk finds little by
// itself where there are many operations, but everything in the end.
#include "scheduler/policies/policies.h"
#include "scheduler/policies/random.h"

namespace palladion::scheduler {
namespace {

class Sticky final : public Policy {
 public:
  Sticky(std::uint64_t seed, int switch_per_mille)
      : random_(seed), switch_per_mille_(static_cast<std::uint64_t>(switch_per_mille)) {}

  const Candidate& Choose(const Choice& choice) override {
    const bool stay = choice.current != nullptr && !random_.Chance(switch_per_mille_);
    return stay ? *choice.current : choice.candidates[random_.Below(choice.candidates.size())];
  }

 private:
  Random random_;
  std::uint64_t switch_per_mille_;
};

}  // namespace

std::unique_ptr<Policy> MakeRandomWalk(std::uint64_t seed) { return MakeSticky(seed, 1000); }

std::unique_ptr<Policy> MakeSticky(std::uint64_t seed, int switch_per_mille) {
  return std::make_unique<Sticky>(seed, switch_per_mille);
}

}  // namespace palladion::scheduler
