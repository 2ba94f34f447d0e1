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

void VectorClock::RaiseInMany(const Epoch& epoch) {
  if (IsOperation(epoch.who)) {
    operations_.Raise(OperationNumber(epoch.who), epoch.time);
  } else {
    agents_.Raise(AgentNumber(epoch.who), epoch.time);
  }
}

void VectorClock::MoveAgents() {
  const auto first = entries_.begin() + static_cast<std::ptrdiff_t>(FirstOperation());
  std::for_each(entries_.begin(), first,
                [this](const Epoch& entry) { agents_.Raise(AgentNumber(entry.who), entry.time); });
  entries_.erase(entries_.begin(), first);
}

void VectorClock::MoveOperations() {
  const std::size_t first = FirstOperation();
  for (std::size_t i = first; i < entries_.size(); ++i)
    operations_.Raise(OperationNumber(entries_[i].who), entries_[i].time);
  entries_.resize(first);
}

// Those that are many by now, or are known of in the other way already.
void VectorClock::MoveToMany() {
  const std::size_t agents = FirstOperation(), operations = entries_.size() - agents;
  if (operations > 0 && (operations > kFew || !operations_.empty())) MoveOperations();
  if (agents > 0 && (agents > kFewAgents || !agents_.empty())) MoveAgents();
}

void VectorClock::RaiseSlow(const Epoch& epoch) {
  if (epoch.time == 0) return;
  if (IsInMany(epoch.who)) return RaiseInMany(epoch);
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), epoch.who, IsBefore);
  if (at != entries_.end() && at->who == epoch.who) {
    at->time = std::max(at->time, epoch.time);
  } else {
    entries_.insert(at, epoch);
    if (entries_.size() > kFew) MoveToMany();
  }
}

bool VectorClock::CoversEntries(const VectorClock& other) const {
  auto mine = entries_.begin();
  for (const Epoch& theirs : other.entries_) {
    while (mine != entries_.end() && mine->who < theirs.who) ++mine;
    const bool known = mine != entries_.end() && mine->who == theirs.who;
    if ((known ? mine->time : TimeInMany(theirs.who)) < theirs.time) return false;
  }
  return true;
}

bool VectorClock::Covers(const VectorClock& other) const {
  if (other.IsOfFew()) return CoversEntries(other);
  if (agents_.empty() && !other.agents_.empty()) return false;  // no agent is ever forgotten
  if (operations_.empty() && !other.operations_.empty()) {      // but of many operations only a few may be left there
    VectorClock mine = *this;
    mine.MoveOperations();
    return !mine.operations_.empty() && mine.Covers(other);
  }
  return CoversEntries(other) && agents_.Covers(other.agents_) && operations_.Covers(other.operations_);
}

void VectorClock::Forget(Remaining& remaining) {
  entries_.erase(
      std::remove_if(entries_.begin(), entries_.end(), [&](const Epoch& e) { return remaining.Forgets(e.who); }),
      entries_.end());
  const auto id = [](KnownOperations::Number number) {
    return AgentId{kFirstOperation + static_cast<std::int32_t>(std::min(number, KnownOperations::Number{0x6fffffff}))};
  };
  const auto any = [&](KnownOperations::Number first, KnownOperations::Number last) {
    return remaining.AnyOf(id(first), id(last));
  };
  operations_.Forget(any, remaining.round());
}

void VectorClock::JoinSlow(const VectorClock& other) {
  if (!other.IsOfFew()) {
    agents_.Join(other.agents_);
    operations_.Join(other.operations_);
  }
  if (!other.entries_.empty()) JoinEntries(other);
  if (entries_.size() > kFew || !IsOfFew()) MoveToMany();
}

void VectorClock::JoinEntries(const VectorClock& other) {
  if (other.entries_.size() == 1) return RaiseSlow(other.entries_[0]);
  if (entries_.empty()) {
    entries_ = other.entries_;
    return;
  }
  std::size_t unknown = 0;  // most messages have no new agent
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
  for (std::size_t i = 1; i < kClockParts; ++i) shares[i] = parts_[i].operations().IsSame(parts_[0].operations());
  parts_[0].Raise(epoch);
  for (std::size_t i = 1; i < kClockParts; ++i) {
    parts_[i].Raise(epoch);
    if (shares[i]) parts_[i].ShareOperations(parts_[0]);
  }
}

void ClockBundle::Forget(Remaining& remaining) {
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
