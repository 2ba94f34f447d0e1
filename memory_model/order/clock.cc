#include "memory_model/order/clock.h"

namespace palladion::memory_model {

void VectorClock::RaiseSlow(const Epoch& epoch) {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), epoch.who,
                                   [](const Epoch& entry, AgentId who) { return entry.who < who; });
  if (at != entries_.end() && at->who == epoch.who) {
    at->time = std::max(at->time, epoch.time);
  } else if (epoch.time > 0) {
    entries_.insert(at, epoch);
  }
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
  if (entries_.empty()) {
    entries_ = other.entries_;
    return;
  }
  auto known = entries_.begin();  // most messages tell of nobody new
  auto news = other.entries_.begin();
  for (; news != other.entries_.end(); ++news) {
    while (known != entries_.end() && known->who < news->who) ++known;
    if (known == entries_.end() || known->who != news->who) break;
    known->time = std::max(known->time, news->time);
  }
  if (news == other.entries_.end()) return;
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

void ClockBundle::JoinMore(const ClockBundle& other, std::size_t parts) {
  plain_ = false;
  for (std::size_t i = 1; i < parts; ++i) parts_[i].Join(other.parts_[i]);
}

void ClockBundle::ClearMore() {
  for (std::size_t i = 1; i < kClockParts; ++i) parts_[i].Clear();
  plain_ = true;
}

}  // namespace palladion::memory_model
