#include <algorithm>
#include <tuple>

#include "scheduler/policies/policies.h"

namespace palladion::scheduler {
namespace {

bool Before(const Move& a, const Move& b) {
  return std::tuple(a.from.value, a.operations) < std::tuple(b.from.value, b.operations);
}

}  // namespace

ReplayPolicy::ReplayPolicy(std::vector<Move> moves) : moves_(std::move(moves)) {
  std::stable_sort(moves_.begin(), moves_.end(), Before);
}

const Candidate& ReplayPolicy::Choose(const Choice& choice) {
  const Move key{running_, running_.valid() ? done_[running_.index()] : 0, {}};
  const Candidate* pick = &DefaultChoice(choice);
  for (auto at = std::lower_bound(moves_.begin(), moves_.end(), key, Before); at != moves_.end() && !Before(key, *at);
       ++at) {
    const Candidate* const to = choice.candidates.Find(at->to);
    if (to == nullptr) continue;
    pick = to;
    ++made_;
  }
  running_ = pick->id;
  if (running_.index() >= done_.size()) done_.resize(running_.index() + 1);
  ++done_[running_.index()];
  return *pick;
}

}  // namespace palladion::scheduler
