// What an operation has touched, as exhaustive search compares it: exactly, where a footprint says beforehand what it
// may touch at most. Two operations that do not conflict give the same state, and the same happens-before, in either
// order. Limits: too many pieces count as one that has them all.
#ifndef PALLADION_SCHEDULER_TOUCHES_H_
#define PALLADION_SCHEDULER_TOUCHES_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "scheduler/operation.h"

namespace palladion::scheduler {

struct Touched : Touch {
  // Changes the object as others with this number do, in any order: all arrivals of a phase but the last. 0: none does.
  // `turns`: the next of these will be no such one any more.
  std::int64_t commutes = 0;
  bool turns = false;
  // Comes after those it commutes with, and whichever had been the last would have been this one: the last end of a
  // block's threads, the last of a meeting. `closing`: what comes of that, whichever it was.
  bool closes = false, closing = false;
  std::int64_t held = -1;  // of a count: what it held before; -1: not known
};

class Touches {
 public:
  Touches() = default;  // nothing
  explicit Touches(const Footprint& footprint) { Add(footprint); }

  void Add(const Touched& touched) { touches_.push_back(touched); }
  void Add(const Footprint& footprint) {
    everything_ |= footprint.everything();
    for (const Touch& touch : footprint.touches()) touches_.push_back({touch});
  }
  void Add(const Touches& other) {
    everything_ |= other.everything_;
    touches_.insert(touches_.end(), other.touches_.begin(), other.touches_.end());
  }
  void AddEverything() { everything_ = true; }
  bool empty() const { return touches_.empty() && !everything_; }
  void Clear() {
    touches_.clear();
    everything_ = false;
  }

  bool Conflicts(const Touches& other) const {
    return ConflictsBy(other, [](const Touched& a, const Touched& b) { return a.Conflicts(b) && !Commute(a, b); });
  }
  // With what is its own, whether it closes something or not.
  bool ConflictsItself(const Touches& other) const {
    return ConflictsBy(
        other, [](const Touched& a, const Touched& b) { return !a.closing && a.Conflicts(b) && !Commute(a, b); });
  }
  // It closes something, and `other` was among that.
  bool Closes(const Touches& other) const {
    return !everything_ && !other.everything_ && ConflictsBy(other, [](const Touched& a, const Touched& b) {
      return a.closes && a.Conflicts(b) && Commute(a, b);
    });
  }
  // An operation that would have touched this: may it be another one after `done`?
  bool ChangedBy(const Touches& done) const {
    return ConflictsBy(
        done, [](const Touched& a, const Touched& b) { return a.Conflicts(b) && !(Commute(a, b) && !b.turns); });
  }

  // What a count held before the operation; without a value where the operation did not touch it, or did not say.
  std::optional<std::int64_t> HeldBefore(std::int64_t object) const {
    for (const Touched& touch : touches_) {
      if (touch.object == object && touch.held >= 0) return touch.held;
    }
    return std::nullopt;
  }

 private:
  static bool Commute(const Touched& a, const Touched& b) { return a.commutes != 0 && a.commutes == b.commutes; }

  template <class F>
  bool ConflictsBy(const Touches& other, const F& conflict) const {
    if (everything_ || other.everything_) return !empty() && !other.empty();
    return std::any_of(touches_.begin(), touches_.end(), [&](const Touched& mine) {
      return std::any_of(other.touches_.begin(), other.touches_.end(),
                         [&](const Touched& theirs) { return conflict(mine, theirs); });
    });
  }

  std::vector<Touched> touches_;
  bool everything_ = false;
};

}  // namespace palladion::scheduler

#endif  // PALLADION_SCHEDULER_TOUCHES_H_
