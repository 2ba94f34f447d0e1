// The agent components of a large vector clock. All blocks of all devices may meet repeatedly; then each clock has an
// entry for all of them, and the clocks differ in a few entries only. Based on SharedTrie.
#ifndef PALLADION_MEMORY_MODEL_ORDER_KNOWN_AGENTS_H_
#define PALLADION_MEMORY_MODEL_ORDER_KNOWN_AGENTS_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "memory_model/order/shared_trie.h"

namespace palladion::memory_model {

class KnownTimes {
 public:
  static constexpr std::uint32_t kRoom = 64, kFullValue = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t At(std::uint32_t i) const { return times_[i]; }
  void Raise(std::uint32_t i, std::uint32_t time) { times_[i] = std::max(times_[i], time); }
  void Join(const KnownTimes& other) {
    for (std::size_t i = 0; i < times_.size(); ++i) times_[i] = std::max(times_[i], other.times_[i]);
  }
  bool Covers(const KnownTimes& other) const {
    std::uint32_t missing = 0;  // no early end: so that all are compared side by side
    for (std::size_t i = 0; i < times_.size(); ++i) missing |= times_[i] < other.times_[i] ? 1 : 0;
    return missing == 0;
  }
  bool IsFull() const { return false; }  // there is always a later time

 private:
  std::array<std::uint32_t, kRoom> times_{};
};

using KnownAgents = SharedTrie<KnownTimes>;

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_ORDER_KNOWN_AGENTS_H_
