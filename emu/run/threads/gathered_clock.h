// The join of the clocks of many agents, gathered as they end. A grid may have many blocks, each ordered after all
// others, so one clock is not joined with each of them in turn. Two clocks are joined only if they stand for equally
// many agents, as a binary counter carries; so the clock of each agent is joined as often as the number of agents has
// bits. Based on: the logarithmic method of Bentley and Saxe (Decomposable Searching Problems, 1980). Limits: only
// the generic clock of a bundle.
#ifndef PALLADION_EMU_RUN_THREADS_GATHERED_CLOCK_H_
#define PALLADION_EMU_RUN_THREADS_GATHERED_CLOCK_H_

#include <cstddef>
#include <vector>

#include "memory_model/order/clock.h"

namespace palladion::threads {

class GatheredClock {
 public:
  void Add(const memory_model::ClockBundle& known) {
    parts_.emplace_back().JoinGeneric(known);
    for (std::size_t n = ++added_; n % 2 == 0; n /= 2) JoinLast();
  }
  const memory_model::ClockBundle& All() {
    if (parts_.empty()) parts_.emplace_back();
    while (parts_.size() > 1) JoinLast();
    added_ = 1;
    return parts_[0];
  }
  std::size_t size() const { return parts_.size(); }

 private:
  void JoinLast() {
    parts_[parts_.size() - 2].JoinGeneric(parts_.back());
    parts_.pop_back();
  }

  std::vector<memory_model::ClockBundle> parts_;  // of fewer and fewer agents
  std::size_t added_ = 0;                         // so many agents; each bit of it is a part
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_GATHERED_CLOCK_H_
