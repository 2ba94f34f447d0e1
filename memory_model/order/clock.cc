#include "memory_model/order/clock.h"

namespace palladion::memory_model {
namespace {

bool IsBefore(const Epoch& entry, AgentId who) { return entry.who < who; }

}  // namespace

std::uint32_t VectorClock::TimeOfMany(AgentId who) const {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), who, IsBefore);
  return at != entries_.end() && at->who == who ? at->time : 0;
}

void VectorClock::RaiseSlow(const Epoch& epoch) {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), epoch.who, IsBefore);
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
  if (other.entries_.size() == 1) return RaiseSlow(other.entries_[0]);
  if (entries_.empty()) {
    entries_ = other.entries_;
    return;
  }
  std::size_t unknown = 0;  // most messages tell of nobody new
  Epoch* known = entries_.data();
  const Epoch* const end = known + entries_.size();
  for (const Epoch& news : other.entries_) {
    while (known != end && known->who < news.who) ++known;
    if (known == end || known->who != news.who) {
      ++unknown;
    } else {
      known->time = std::max(known->time, news.time);
    }
  }
  if (unknown == 0) return;
  std::size_t mine = entries_.size(), theirs = other.entries_.size();
  entries_.resize(mine + unknown);
  Epoch* const entry = entries_.data();
  const Epoch* const news = other.entries_.data();
  for (std::size_t to = entries_.size(); to > mine;) {  // from the end, so that each moves once
    if (mine > 0 && news[theirs - 1].who < entry[mine - 1].who) {
      entry[--to] = entry[--mine];
    } else if (mine > 0 && news[theirs - 1].who == entry[mine - 1].who) {
      entry[--to] = entry[--mine];
      --theirs;
    } else {
      entry[--to] = news[--theirs];
    }
  }
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
