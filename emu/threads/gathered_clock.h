// What many agents know together, gathered as they end: as many as a grid has blocks, so no clock is joined with each.
// Based on: VectorClock, whose join costs as much as all that is known so far. Limits: of a bundle the generic clock.
#ifndef PALLADION_EMU_THREADS_GATHERED_CLOCK_H_
#define PALLADION_EMU_THREADS_GATHERED_CLOCK_H_

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "memory_model/order/clock.h"

namespace palladion::threads {

class GatheredClock {
 public:
  void Add(const memory_model::ClockBundle& known) {
    const memory_model::VectorClock& clock = known[memory_model::ClockPart::kGeneric];
    const absl::Span<const memory_model::Epoch> entries = clock.entries();
    epochs_.insert(epochs_.end(), entries.begin(), entries.end());
    operations_.Join(clock.many());
    if (epochs_.size() >= next_round_) Compact();
  }
  memory_model::ClockBundle All() {
    Compact();
    memory_model::ClockBundle all;
    for (const memory_model::Epoch& epoch : epochs_) all.RaiseGeneric(epoch);
    all.KnowGenerically(operations_);
    return all;
  }
  std::size_t size() const { return epochs_.size(); }

 private:
  // Of each agent the latest time; the next round comes when as many again have been added.
  void Compact() {
    const auto later_first = [](const memory_model::Epoch& a, const memory_model::Epoch& b) {
      return a.who == b.who ? b.time < a.time : a.who < b.who;
    };
    const auto same = [](const memory_model::Epoch& a, const memory_model::Epoch& b) { return a.who == b.who; };
    std::sort(epochs_.begin(), epochs_.end(), later_first);
    epochs_.erase(std::unique(epochs_.begin(), epochs_.end(), same), epochs_.end());
    next_round_ = std::max(kFirstRound, 2 * epochs_.size());
  }

  static constexpr std::size_t kFirstRound = 1024;
  std::vector<memory_model::Epoch> epochs_;
  memory_model::KnownOperations operations_;  // of those who know of many
  std::size_t next_round_ = kFirstRound;
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_THREADS_GATHERED_CLOCK_H_
