// Uniform random walk. An agent that has done more than the first run said counts as having one operation left, so no
// agent is ever left out.
#include <algorithm>
#include <utility>

#include "scheduler/policies/policies.h"
#include "scheduler/policies/random.h"
#include "scheduler/policies/slot_table.h"

namespace palladion::scheduler {
namespace {

class Urw final : public Policy {
 public:
  Urw(std::uint64_t seed, RunLengths lengths) : random_(seed), lengths_(std::move(lengths)) {}

  const Candidate& Choose(const Choice& choice) override {
    std::uint64_t all = 0;
    for (const Candidate& candidate : choice.candidates) all += Left(candidate);
    std::uint64_t at = random_.Below(all);
    for (auto candidate = choice.candidates.begin();; ++candidate) {
      std::uint64_t& left = left_.Of(*candidate);
      if (at < left) {
        left = std::max<std::uint64_t>(1, left - 1);
        return *candidate;
      }
      at -= left;
    }
  }

 private:
  std::uint64_t Left(const Candidate& candidate) {
    return left_.Of(candidate, [&] {
      const std::size_t i = candidate.id.index();
      const std::int64_t known = i < lengths_.operations.size() ? lengths_.operations[i] : 1;
      return static_cast<std::uint64_t>(std::max<std::int64_t>(1, known));
    });
  }

  Random random_;
  RunLengths lengths_;
  SlotTable<std::uint64_t> left_;
};

}  // namespace

std::unique_ptr<Policy> MakeUrw(std::uint64_t seed, RunLengths lengths) {
  return std::make_unique<Urw>(seed, std::move(lengths));
}

}  // namespace palladion::scheduler
