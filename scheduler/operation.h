// What a visible operation is to a scheduler: which objects it touches, what it must wait for, and where it stands in
// the kernel. Two operations whose footprints do not conflict give the same state in either order, which is what POS
// and exhaustive search use. A footprint may be too large, never too small.
#ifndef PALLADION_SCHEDULER_OPERATION_H_
#define PALLADION_SCHEDULER_OPERATION_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "semantics/base/ids.h"

namespace palladion::scheduler {

// An agent in a schedule: agents are numbered from 0 in the order in which they come to be, engines' operations among
// them, the programs of a grid in program order. Moves and replay strings are made of these. Who that is to the rest of
// the run is an AgentId; the creator of the agents keeps the relation of the two.
using AgentOrdinal = Id<struct AgentOrdinalTag>;

// An interval of an object. What an object is, and what is counted in it, is up to the creator of the operations:
// buffers and bytes, semaphores and nothing.
struct Touch {
  std::int64_t object = 0;
  std::int64_t first = 0;
  std::int64_t last = std::numeric_limits<std::int64_t>::max();  // inclusive
  bool writes = true;  // changes it, or depends on being alone: atomics and semaphores too

  bool Conflicts(const Touch& other) const {
    return object == other.object && (writes || other.writes) && first <= other.last && other.first <= last;
  }
};

class Footprint {
 public:
  Footprint() = default;  // touches nothing
  static Footprint Everything() {
    Footprint all;
    all.everything_ = true;
    return all;
  }
  static Footprint Reads(std::int64_t object) { return Footprint().Add({.object = object, .writes = false}); }
  static Footprint Writes(std::int64_t object) { return Footprint().Add({.object = object}); }

  // More than a few touches become "everything".
  Footprint& Add(const Touch& touch) {
    if (count_ == touches_.size()) everything_ = true;
    if (!everything_) touches_[count_++] = touch;
    return *this;
  }

  bool Conflicts(const Footprint& other) const {
    if (everything_ || other.everything_) return !empty() && !other.empty();
    for (std::size_t i = 0; i < count_; ++i) {
      for (std::size_t k = 0; k < other.count_; ++k) {
        if (touches_[i].Conflicts(other.touches_[k])) return true;
      }
    }
    return false;
  }
  bool empty() const { return count_ == 0 && !everything_; }
  bool everything() const { return everything_; }
  absl::Span<const Touch> touches() const { return {touches_.data(), count_}; }

 private:
  std::array<Touch, 3> touches_;
  std::uint32_t count_ = 0;
  bool everything_ = false;
};

// A count (Touched::held), and how much it has to hold.
struct Need {
  std::int64_t object = 0, at_least = 0;
};

// What an operation waits for. It may change only through operations whose footprints conflict with the waiting one's.
class Condition {
 public:
  virtual ~Condition() = default;
  virtual bool Ready() const = 0;
  virtual std::string Describe() const = 0;              // "semaphore 'full' to hold 1; it holds 0"
  virtual bool MaySignal(AgentOrdinal agent) const = 0;  // can this agent, if it goes on, make it ready?
  // Of a wait for a count: ready exactly where that holds as much. Without a value: it is another kind of wait.
  virtual std::optional<Need> Needs() const { return std::nullopt; }
  // The agent that has to act, where it is known: for a lock that is polled, its holder. Engaged and invalid: no agent
  // did what would have to be undone. Without a value: any agent that may signal.
  virtual std::optional<AgentOrdinal> Holder() const { return std::nullopt; }
  // The name of an agent that is done, for messages; "": it is not known.
  virtual std::string NameOf(AgentOrdinal) const { return ""; }
};

// What the current operation has done to objects that others may wait for, as far as its agent knows: a footprint
// says what it might do. Filled by what the agents of a source act on, emptied by the run loop.
class Changes {
 public:
  void Add(std::int64_t object) {
    if (objects_.size() < kMost) return objects_.push_back(object);
    Clear();
    AddAnything();
  }
  void AddAnything() { anything_ = true; }
  void Clear() {
    objects_.clear();
    anything_ = false;
  }
  bool anything() const { return anything_; }
  const std::vector<std::int64_t>& objects() const { return objects_; }

 private:
  // Many are anything: a loop that does not ask (of several launches together) never empties the list.
  static constexpr std::size_t kMost = 64;
  std::vector<std::int64_t> objects_;
  bool anything_ = false;  // or something that has no object
};

struct Operation {
  Footprint footprint;
  const Condition* waits_for = nullptr;  // nullptr: may always go; else outlives the wait
  // Nothing but changes of this object, or of anything (Changes), makes the condition true or false; kUnknown: whatever
  // conflicts with the footprint.
  static constexpr std::int64_t kUnknown = -1;
  std::int64_t waits_on = kUnknown;
  LocId loc;  // for messages
  int text_line = 0;
  std::int64_t work = 1;  // operations that it counts as in the budget, with what its agent did before it
};

}  // namespace palladion::scheduler

#endif  // PALLADION_SCHEDULER_OPERATION_H_
