// The access history of each buffer, as far as it can still matter, from its allocation to its end, and of bytes of
// shared or tensor memory that earlier allocations had. It receives accesses with their agents' clocks, and returns the
// earlier accesses that are not ordered before. It knows no agents: names and findings are AccessFindings'. Plain data:
// a copy is a snapshot. Based on access_history.h and arena_past.h, whose limits it has.
#ifndef PALLADION_MEMORY_MODEL_ORDER_TRACKED_MEMORY_H_
#define PALLADION_MEMORY_MODEL_ORDER_TRACKED_MEMORY_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "memory_model/order/access_history.h"
#include "memory_model/order/arena_past.h"
#include "memory_model/order/fence_rule.h"
#include "memory_model/order/places.h"
#include "semantics/base/ids.h"
#include "semantics/base/units.h"
#include "semantics/port/async.h"

namespace palladion::memory_model {

// Memory as races see it.
struct TrackedBuffer {
  std::string name;  // the user's
  std::vector<std::int64_t> shape;
  ElementSize element_size{4};
  ProxySpace space = ProxySpace::kPlain;
  Place place;
  bool holds_nothing = false;  // when it begins: what is read before a write is undefined
  // Whose bytes it has: those of this arena, from there on. -1: bytes without an earlier owner.
  std::int32_t arena = -1;
  ByteCount offset;
  const TensorCells* cells = nullptr;  // where they lie in an arena that is tensor memory

  ArenaLayout layout() const { return {shape, element_size, offset, cells}; }
};

// A buffer with what was done to it.
class Tracked {
 public:
  explicit Tracked(TrackedBuffer buffer) : info(std::move(buffer)), history(info.shape, info.element_size) {}

  // What its bytes were when that was done to them, by the user's name; nullptr: this buffer.
  const std::string* PastName(const AccessEvent& event) const;
  AccessSet Whole() const;
  AccessSet SetOf(const AsyncOperand& operand) const;

  // A read is made. Of each place that reads, it is noted once whether anything had been written there.
  void NoteRead(const AccessEvent& event, const AccessSet& set);
  bool ReadTooEarly(const AccessEvent& read) const;  // what was not written yet

  TrackedBuffer info;
  AccessHistory history;
  std::optional<AccessEvent> freed;
  std::string freed_by;                                   // where no agent ends it
  std::vector<std::pair<AccessEvent, std::string>> past;  // done when its bytes were another object's: which

 private:
  struct NotedRead {
    AgentId who;  // of an operation: its issuer may differ each time
    LocId loc;
    std::int32_t text_line = 0;
    bool early = false;
  };
  const NotedRead* Find(const AccessEvent& read) const;
  std::vector<NotedRead> reads_;
};

class TrackedMemory {
 public:
  // nullptr: not recorded, or dropped.
  Tracked* Find(BufferId id) {
    return id.index() < buffers_.size() && buffers_[id.index()].has_value() ? &*buffers_[id.index()] : nullptr;
  }
  const Tracked* Find(BufferId id) const { return const_cast<TrackedMemory*>(this)->Find(id); }

  // It is there before every agent. The id must be new, or one that was freed.
  void Adopt(BufferId id, TrackedBuffer buffer);
  // It begins, and what its bytes were before does not count: an access that allocates it is to follow.
  Tracked& Begin(BufferId id, TrackedBuffer buffer);

  // The access is remembered; and the earlier ones that conflict with it and are not ordered before it, or not visibly
  // so. Valid until the next access.
  absl::Span<const AccessConflict> Access(Tracked* buffer, const AccessEvent& event, const AccessSet& set,
                                          const Vantage& vantage);
  // The same of its end, a write of all of it. What was done to bytes of an arena and is ordered before it counts for
  // the next owner. `freed_by`: what ends it, where that is not an agent.
  absl::Span<const AccessConflict> Free(Tracked* buffer, const AccessEvent& event, const Vantage& vantage,
                                        std::string freed_by);
  // Its id may mean other memory from here on, of which no record comes.
  void Drop(BufferId id) {
    if (id.index() < buffers_.size()) buffers_[id.index()].reset();
  }
  void EndArena(std::int32_t arena) { arenas_.erase(arena); }  // its bytes are not reused any more

  // f(event) for each agent still recorded, some more than once.
  template <class F>
  void ForEachEvent(const F& f) const {
    for (const std::optional<Tracked>& buffer : buffers_) {
      if (!buffer.has_value()) continue;
      buffer->history.ForEachEvent(f);
      if (buffer->freed.has_value()) f(*buffer->freed);
    }
    for (const auto& [arena, past] : arenas_) past.ForEachEvent(f);
  }

  std::size_t ids() const { return buffers_.size(); }  // so many were ever in use at once
  std::size_t known() const;
  std::size_t arenas() const { return arenas_.size(); }

 private:
  void KeepPast(const Tracked& buffer, const Vantage& vantage);

  std::vector<std::optional<Tracked>> buffers_;  // by id
  std::map<std::int32_t, ArenaPast> arenas_;
  std::vector<AccessConflict> conflicts_;  // of one access: memory is kept
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_ORDER_TRACKED_MEMORY_H_
