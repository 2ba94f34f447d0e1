// Happens-before, as vector clocks. Sparse, because a run may have a hundred thousand programs and as many asynchronous
// operations, and each synchronises with a few. Based on FastTrack (Flanagan and Freund, PLDI 2009): an access is one
// epoch, and only clocks are vectors. A loop may issue as many asynchronous operations as it has iterations, each after
// all before it; and where the blocks of a grid meet, each is ordered after all others: clocks with more than a few
// entries share structure (known_operations.h, known_agents.h). What clocks do not know: orders that a run did not
// show.
#ifndef PALLADION_MEMORY_MODEL_ORDER_CLOCK_H_
#define PALLADION_MEMORY_MODEL_ORDER_CLOCK_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "memory_model/order/known_agents.h"
#include "memory_model/order/known_operations.h"
#include "semantics/base/ids.h"
#include "semantics/port/who.h"

namespace palladion::memory_model {

// A component of a clock is an agent; an asynchronous operation is one too.
struct Epoch {
  AgentId who;
  std::uint32_t time = 0;  // 0: before anything it did
  friend bool operator==(const Epoch& a, const Epoch& b) { return a.who == b.who && a.time == b.time; }
};

constexpr bool IsOperation(AgentId who) { return who.value >= kFirstOperation; }

// Agents that may still be queried, sorted; of the others, operations are forgotten: one round, in all clocks.
class Remaining {
 public:
  explicit Remaining(absl::Span<const AgentId> live) : live_(live) {}
  bool Has(AgentId who) const { return std::binary_search(live_.begin(), live_.end(), who); }
  bool Forgets(AgentId who) const { return IsOperation(who) && !Has(who); }
  bool AnyOf(AgentId first, AgentId last) const {
    const auto at = std::lower_bound(live_.begin(), live_.end(), first);
    return at != live_.end() && !(last < *at);
  }

  KnownOperations::Round* round() { return &round_; }

 private:
  absl::Span<const AgentId> live_;
  KnownOperations::Round round_;
};

class VectorClock {
 public:
  std::uint32_t TimeOf(AgentId who) const {
    const Epoch* entry = entries_.data();
    const std::size_t n = entries_.size();
    // Where all know of all, an agent's place is its number.
    if (who.index() < n && entry[who.index()].who == who) return entry[who.index()].time;
    if (n > kFew) return TimeOfMany(who);
    for (const Epoch* end = entry + n; entry != end; ++entry) {
      if (!(entry->who < who)) return entry->who == who ? entry->time : TimeInMany(who);
    }
    return TimeInMany(who);
  }
  bool Covers(const Epoch& epoch) const { return epoch.time <= TimeOf(epoch.who); }
  bool Covers(const VectorClock& other) const;

  // To at least this.
  void Raise(const Epoch& epoch) {
    if (epoch.who.index() < entries_.size()) {
      Epoch& entry = entries_.data()[epoch.who.index()];
      if (entry.who == epoch.who) {
        entry.time = std::max(entry.time, epoch.time);
        return;
      }
    }
    RaiseSlow(epoch);
  }
  void Join(const VectorClock& other);
  void Clear() {
    entries_.clear();
    if (IsOfFew()) return;
    agents_.Clear();
    operations_.Clear();
  }
  friend void swap(VectorClock& a, VectorClock& b) {
    a.entries_.swap(b.entries_);
    if (a.IsOfFew() && b.IsOfFew()) return;
    swap(a.agents_, b.agents_);
    swap(a.operations_, b.operations_);
  }
  // Where the two know of the same operations, they share what they know from here on.
  void ShareOperations(const VectorClock& other) {
    const KnownOperations& theirs = other.operations_;
    if (operations_.IsSame(theirs)) return;
    if (operations_.Covers(theirs) && theirs.Covers(operations_)) operations_ = theirs;
  }

  // Without those that are not needed again.
  void Forget(Remaining& remaining);

  std::size_t size() const { return entries_.size() + agents_.nodes() + operations_.nodes(); }  // what it takes
  bool empty() const { return entries_.empty() && agents_.empty() && operations_.empty(); }
  // Agents, by number, and after them operations, where these are few; many are all in `agents`, in `operations`.
  absl::Span<const Epoch> entries() const { return entries_; }
  const KnownAgents& agents() const { return agents_; }
  const KnownOperations& operations() const { return operations_; }

 private:
  static constexpr std::size_t kFew = 16;        // operations, and what is looked at one after another
  static constexpr std::size_t kFewAgents = 64;  // as many as a leaf has: fewer share nothing

  static std::uint32_t OperationNumber(AgentId who) { return static_cast<std::uint32_t>(who.value - kFirstOperation); }
  static std::uint32_t AgentNumber(AgentId who) { return static_cast<std::uint32_t>(who.value); }
  bool IsOfFew() const { return agents_.empty() && operations_.empty(); }
  bool IsInMany(AgentId who) const { return IsOperation(who) ? !operations_.empty() : !agents_.empty(); }
  std::uint32_t TimeInMany(AgentId who) const {
    if (!IsInMany(who)) return 0;
    return IsOperation(who) ? operations_.At(OperationNumber(who)) : agents_.At(AgentNumber(who));
  }
  std::uint32_t TimeOfMany(AgentId who) const;
  void RaiseInMany(const Epoch& epoch);
  void RaiseSlow(const Epoch& epoch);
  bool CoversEntries(const VectorClock& other) const;
  void JoinSlow(const VectorClock& other);
  void JoinEntries(const VectorClock& other);
  std::size_t FirstOperation() const;  // of the entries
  void MoveAgents();
  void MoveOperations();
  void MoveToMany();

  absl::InlinedVector<Epoch, 4> entries_;  // by component
  KnownAgents agents_;                     // of more than a few
  KnownOperations operations_;
};

inline void VectorClock::Join(const VectorClock& other) {
  const std::size_t n = other.entries_.size();
  if (n == entries_.size()) {  // agents that exchange clocks have the same few entries
    Epoch* mine = entries_.data();
    const Epoch* theirs = other.entries_.data();
    std::size_t i = 0;
    for (; i < n && mine[i].who == theirs[i].who; ++i) mine[i].time = std::max(mine[i].time, theirs[i].time);
    if (i == n && operations_.IsSame(other.operations_) && agents_.IsSame(other.agents_)) return;
  }
  JoinSlow(other);
}

// What is known is not one thing: a write that another thread can see may not be visible to the units that access
// memory asynchronously. A bundle has a clock for each way to look; `generic` covers all others.
enum class ClockPart : std::uint8_t { kGeneric, kAsyncSmem, kAsyncGmem, kTensorCore };
inline constexpr std::size_t kClockParts = 4;

class ClockBundle {
 public:
  const VectorClock& operator[](ClockPart part) const { return parts_[static_cast<std::size_t>(part)]; }

  void Join(const ClockBundle& other) {
    parts_[0].Join(other.parts_[0]);
    if (!other.plain_) JoinMore(other, kClockParts);
  }
  void JoinGeneric(const ClockBundle& other) { parts_[0].Join(other.parts_[0]); }
  // As a barrier carries it that does not order the tensor core.
  void JoinWithoutTensorCore(const ClockBundle& other) {
    parts_[0].Join(other.parts_[0]);
    if (!other.plain_) JoinMore(other, kClockParts - 1);
  }
  void Raise(const Epoch& epoch) {
    plain_ = false;
    IsOperation(epoch.who) ? RaiseOperation(epoch) : RaiseAll(epoch);
  }
  void RaiseGeneric(const Epoch& epoch) { parts_[0].Raise(epoch); }
  void RaiseTensorCore(const Epoch& epoch) {
    parts_[static_cast<std::size_t>(ClockPart::kTensorCore)].Raise(epoch);
    plain_ = false;
  }
  // A fence: what is known generically is from here on visible this way too.
  void Commit(ClockPart to) {
    parts_[static_cast<std::size_t>(to)].Join(parts_[0]);
    plain_ = false;
  }
  void ForgetTensorCore() { parts_[static_cast<std::size_t>(ClockPart::kTensorCore)].Clear(); }
  void Clear() {
    parts_[0].Clear();
    if (!plain_) ClearMore();
  }
  friend void swap(ClockBundle& a, ClockBundle& b) {
    swap(a.parts_[0], b.parts_[0]);
    if (a.plain_ && b.plain_) return;
    for (std::size_t i = 1; i < kClockParts; ++i) swap(a.parts_[i], b.parts_[i]);
    std::swap(a.plain_, b.plain_);
  }
  void Forget(Remaining& remaining);

 private:
  void RaiseAll(const Epoch& epoch) {
    for (VectorClock& part : parts_) part.Raise(epoch);
  }
  void RaiseOperation(const Epoch& epoch);
  static_assert(static_cast<std::size_t>(ClockPart::kTensorCore) == kClockParts - 1);

  void JoinMore(const ClockBundle& other, std::size_t parts);
  void ClearMore();

  bool plain_ = true;  // nothing but the generic clock
  std::array<VectorClock, kClockParts> parts_;
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_ORDER_CLOCK_H_
