#include "memory_model/clock.h"

namespace palladion {

void VectorClock::RaiseSlow(const Epoch& epoch) {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), epoch.who,
                                   [](const Epoch& entry, ClockId who) { return entry.who < who; });
  if (epoch.time > 0) entries_.insert(at, epoch);
}

bool VectorClock::Covers(const VectorClock& other) const {
  auto mine = entries_.begin();
  for (const Epoch& theirs : other.entries_) {
    while (mine != entries_.end() && mine->who < theirs.who) ++mine;
    if (mine == entries_.end() || mine->who != theirs.who || mine->time < theirs.time) return false;
  }
  return true;
}

void VectorClock::JoinSlow(const VectorClock& other) {
  absl::InlinedVector<Epoch, 4> joined;
  joined.reserve(entries_.size() + other.entries_.size());
  auto a = entries_.begin();
  auto b = other.entries_.begin();
  while (a != entries_.end() && b != other.entries_.end()) {
    if (a->who == b->who) {
      joined.push_back({a->who, std::max(a->time, b->time)});
      ++a, ++b;
    } else {
      joined.push_back(a->who < b->who ? *a++ : *b++);
    }
  }
  joined.insert(joined.end(), a, entries_.end());
  joined.insert(joined.end(), b, other.entries_.end());
  entries_ = std::move(joined);
}

}  // namespace palladion
