#include "memory_model/order/clock.h"

namespace palladion::memory_model {
namespace {

bool IsBefore(const Epoch& entry, AgentId who) { return entry.who < who; }

}  // namespace

std::uint32_t VectorClock::TimeOfMany(AgentId who) const {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), who, IsBefore);
  return at != entries_.end() && at->who == who ? at->time : TimeInMany(who);
}

std::size_t VectorClock::FirstOperation() const {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), AgentId{kFirstOperation}, IsBefore);
  return static_cast<std::size_t>(at - entries_.begin());
}

void VectorClock::MoveToMany() {
  const std::size_t first = FirstOperation();
  for (std::size_t i = first; i < entries_.size(); ++i) RaiseMany(entries_[i]);
  entries_.resize(first);
}

void VectorClock::RaiseSlow(const Epoch& epoch) {
  if (!many_.empty() && IsOperation(epoch.who)) return RaiseMany(epoch);
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), epoch.who, IsBefore);
  if (at != entries_.end() && at->who == epoch.who) {
    at->time = std::max(at->time, epoch.time);
  } else if (epoch.time > 0) {
    entries_.insert(at, epoch);
    if (entries_.size() > kFew && IsOperation(epoch.who) && entries_.size() - FirstOperation() > kFew) MoveToMany();
  }
}

bool VectorClock::Covers(const VectorClock& other) const {
  const bool few = many_.empty();
  if (few && !other.many_.empty()) {  // it may have just become many there
    VectorClock mine = *this;
    mine.MoveToMany();
    return !mine.many_.empty() && mine.Covers(other);
  }
  auto mine = entries_.begin();
  for (const Epoch& theirs : other.entries_) {
    if (!few && IsOperation(theirs.who)) {
      if (TimeInMany(theirs.who) < theirs.time) return false;
      continue;
    }
    while (mine != entries_.end() && mine->who < theirs.who) ++mine;
    if (mine == entries_.end() || mine->who != theirs.who || mine->time < theirs.time) return false;
  }
  return few || many_.Covers(other.many_);
}

void VectorClock::Forget(const Remaining& remaining) {
  entries_.erase(
      std::remove_if(entries_.begin(), entries_.end(), [&](const Epoch& e) { return remaining.Forgets(e.who); }),
      entries_.end());
  many_.Forget([&](KnownOperations::Number first, KnownOperations::Number last) {
    const auto id = [](KnownOperations::Number number) {
      return AgentId{kFirstOperation +
                     static_cast<std::int32_t>(std::min(number, KnownOperations::Number{0x6fffffff}))};
    };
    return remaining.AnyOf(id(first), id(last));
  });
}

// What the other knows of operations, and then of agents.
void VectorClock::JoinSlow(const VectorClock& other) {
  if (many_.empty() && other.many_.empty()) {
    JoinEntries(other);
    if (entries_.size() > kFew && entries_.size() - FirstOperation() > kFew) MoveToMany();
    return;
  }
  Know(other.many_);
  if (other.entries_.empty()) return;
  JoinEntries(other);
  if (!many_.empty()) MoveToMany();
}

void VectorClock::Know(const KnownOperations& operations) {
  if (operations.empty()) return;
  const bool few = many_.empty();
  many_.Join(operations);
  if (few) MoveToMany();
}

void VectorClock::JoinEntries(const VectorClock& other) {
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

// The parts of a bundle learn of most operations together, so they share what they know of them.
void ClockBundle::RaiseOperation(const Epoch& epoch) {
  std::array<bool, kClockParts> shares{};
  for (std::size_t i = 1; i < kClockParts; ++i) shares[i] = parts_[i].many().IsSame(parts_[0].many());
  parts_[0].Raise(epoch);
  for (std::size_t i = 1; i < kClockParts; ++i) {
    parts_[i].Raise(epoch);
    if (shares[i]) parts_[i].ShareOperations(parts_[0]);
  }
}

void ClockBundle::Forget(const Remaining& remaining) {
  for (VectorClock& part : parts_) {
    part.Forget(remaining);
    part.ShareOperations(parts_[0]);
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
