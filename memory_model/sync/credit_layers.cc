#include "memory_model/sync/credit_layers.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace palladion::memory_model {

void CreditLayers::Withhold() {
  *this = {};
  race_ = true;
}

void CreditLayers::Signal(const Epoch& done, const VectorClock& known, std::int64_t amount) {
  if (race_ || amount < 1) return;
  if (done.time == 0) return Withhold();  // a clock that does not say when
  if (!layers_.empty() && !known.Covers(layers_.back().done)) return Withhold();
  open_.push_back({done, known, amount});
}

// Does the wait come after the one before in every schedule? What it has learned from waits that may be one with it
// does not count: in another schedule they may have taken other credits.
bool CreditLayers::MayFollow(const Wait& wait) const {
  if (!last_wait_.has_value() || last_wait_->who == wait.at.who) return true;
  return wait.first && wait.known.Covers(*last_wait_);
}

void CreditLayers::Take(const Wait& wait) {
  if (race_ || wait.value < 1) return;
  (wait.decrement ? takes_ : looks_) = true;
  if (takes_ && looks_) return Withhold();
  if (looks_) {
    if (!EndsAt(wait.value, wait.whole)) Withhold();
    return;
  }
  if (!MayFollow(wait)) return Withhold();
  const bool one = last_wait_.has_value() && last_wait_->who == wait.at.who && acts_ == wait.acts;
  if (!one && !Settled()) return Withhold();
  taken_ += wait.value;
  last_wait_ = wait.at;
  acts_ = wait.acts;
  whole_ = wait.whole;
}

bool CreditLayers::Settled() { return taken_ == 0 || EndsAt(taken_, whole_); }

// The first of the credits that come to as much, which are taken away there.
CreditLayers::Layer CreditLayers::FirstOf(std::deque<Credit>* credits, std::int64_t before, std::int64_t upto) {
  Layer layer{.sum = before, .least = 0, .done = {}, .credits = {}};
  while (layer.sum < upto && !credits->empty()) {
    Credit& credit = credits->front();
    layer.least = layer.credits.empty() ? credit.amount : std::min(layer.least, credit.amount);
    layer.sum += credit.amount;
    layer.done.Raise(credit.done);
    layer.credits.push_back(std::move(credit));
    credits->pop_front();
  }
  return layer;
}

bool CreditLayers::Layer::NeedsAllFor(std::int64_t upto, bool whole) const {
  return whole ? sum == upto : sum >= upto && sum - upto < least;
}

bool CreditLayers::AllFollow(const std::deque<Credit>& credits, const Layer& layer) {
  return std::all_of(credits.begin(), credits.end(),
                     [&](const Credit& credit) { return credit.known.Covers(layer.done); });
}

// Are the credits that come to as much the end of a layer, or can they be made one?
bool CreditLayers::EndsAt(std::int64_t upto, bool whole) {
  const auto is_before = [](const Layer& layer, std::int64_t sum) { return layer.sum < sum; };
  const auto at = std::lower_bound(layers_.begin(), layers_.end(), upto, is_before);
  if (at != layers_.end()) return at->NeedsAllFor(upto, whole) || (looks_ && Divide(at - layers_.begin(), upto));
  Layer layer = FirstOf(&open_, layers_.empty() ? 0 : layers_.back().sum, upto);
  if (!layer.NeedsAllFor(upto, whole) || !AllFollow(open_, layer)) return false;
  if (takes_) layers_.clear();  // the next wait wants more than this one
  layers_.push_back(std::move(layer));
  return true;
}

// A wait that leaves the count may ask for less than another one has.
bool CreditLayers::Divide(std::ptrdiff_t which, std::int64_t upto) {
  const auto at = layers_.begin() + which;
  const std::int64_t sum = at->sum;
  std::deque<Credit> rest(at->credits.begin(), at->credits.end());
  Layer first = FirstOf(&rest, which == 0 ? 0 : std::prev(at)->sum, upto);
  if (rest.empty() || !first.NeedsAllFor(upto, /*whole=*/false) || !AllFollow(rest, first)) return false;
  *at = FirstOf(&rest, first.sum, sum);
  layers_.insert(layers_.begin() + which, std::move(first));
  return true;
}

bool CreditLayers::race() const {
  if (race_ || !takes_) return race_;
  CreditLayers all = *this;
  return !all.Settled();
}

}  // namespace palladion::memory_model
