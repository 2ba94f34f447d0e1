// The race check: which agents accessed which elements of one allocation, as far as it can still matter. An access is
// dropped when a later one covers it, is ordered after it and conflicts with all that it conflicts with; so memory is
// bounded by the bytes touched, and a run has a finding if and only if some pair of its accesses is unordered
// (access_history_test.cc compares it with an oracle that keeps everything). There are three representations, depending
// on the kernel: one list of boxes; a list for each leading index, once the slots of a ring are used separately;
// granules, once there are too many boxes. What it does not see: accesses that this run did not make.
#ifndef PALLADION_MEMORY_MODEL_ORDER_ACCESS_HISTORY_H_
#define PALLADION_MEMORY_MODEL_ORDER_ACCESS_HISTORY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "memory_model/order/fence_rule.h"
#include "memory_model/order/granules.h"
#include "memory_model/sets/access_set.h"
#include "semantics/base/units.h"

namespace palladion::memory_model {

// An earlier access that conflicts with the new one and is not ordered before it, or not visibly so.
struct AccessConflict {
  AccessEvent earlier;
  Ordering order = Ordering::kUnordered;
  std::string overlap;  // "[0:64, 3]", or a part of it
};

class AccessHistory {
 public:
  // Row-major.
  AccessHistory(absl::Span<const std::int64_t> shape, ElementSize element_size);

  // The new access is checked against all before it, and is remembered. Conflicts go to the end of an empty
  // *conflicts: one for each earlier access, the first kMaxConflicts, unordered ones before unfenced ones.
  static constexpr std::size_t kMaxConflicts = 8;
  void Apply(const AccessEvent& event, const AccessSet& set, const Vantage& vantage,
             std::vector<AccessConflict>* conflicts);

  // An access that is not looked at: what was done to the memory when it was other memory.
  void Remember(const AccessEvent& event, const AccessSet& set);
  // f(event, set) for whatever is still remembered; an access may come in several parts.
  template <class F>
  void ForEachUse(const F& f) const {
    for (const Region& region : regions_) {
      for (const Cell& cell : region.list) {
        for (const AccessEvent& event : cell.events) f(event, AccessSet::Of(cell.box));
      }
      if (!region.fine.has_value()) continue;
      for (const auto& [event, set] : region.fine->Uses()) f(event, set);
    }
  }

  // Live accesses, for tests and statistics.
  std::size_t records() const;
  std::size_t granules() const;
  // In a kernel with many races, accesses are dropped once a finding has reported them: how often.
  std::int64_t dropped() const;

  // f(event) for each agent still recorded.
  template <class F>
  void ForEachEvent(const F& f) const {
    for (const Region& region : regions_) {
      for (const Cell& cell : region.list) {
        for (const AccessEvent& event : cell.events) f(event);
      }
      if (region.fine.has_value()) region.fine->ForEachEvent(f);
    }
  }

 private:
  struct Cell {
    AccessBox box;
    absl::InlinedVector<AccessEvent, 2> events;  // that touched exactly this box
  };
  // A piece of the allocation with a history of its own.
  struct Region {
    std::vector<Cell> list;  // no box twice; empty where `fine` is there
    std::optional<Granules> fine;
  };
  using Conflicts = std::vector<AccessConflict>;

  void ApplySet(const AccessEvent& event, const AccessSet& set, const Vantage& vantage, Conflicts* out);
  void ApplyBox(Region* region, const AccessEvent& event, const AccessBox& box, const Vantage& vantage, Conflicts* out);
  void ApplyFine(Region* region, const AccessEvent& event, const AccessBox& box, const Vantage& vantage,
                 Conflicts* out);
  void ApplyRanges(Region* region, const AccessEvent& event, absl::Span<const ByteRange> ranges, const Vantage& vantage,
                   Conflicts* out);
  void ApplySlots(const AccessEvent& event, const AccessSet& set, const Vantage& vantage, Conflicts* out);
  static bool ApplyNextPiece(std::vector<Cell>* list, const AccessEvent& event, const AccessBox& box,
                             const Vantage& vantage);
  // An access of one box, as its agent stands.
  struct Touch {
    const AccessEvent& event;
    const AccessBox& box;
    const Vantage& vantage;
  };
  bool ApplyCell(Cell* cell, const Touch& touch, BoxRelation relation, bool crowded, Conflicts* out);
  void Insert(Region* region, const AccessEvent& event, const AccessBox& box);
  void MakeFine(Region* region);
  bool HasSlots(const std::vector<Cell>& list) const;
  void MakeSlots();
  static void AddTo(std::vector<Cell>* list, const Cell& piece);
  bool IsWholeRegion(const AccessBox& box) const;
  std::string Describe(const ByteRange& bytes) const;

  absl::InlinedVector<std::int64_t, 6> shape_;
  ElementSize element_size_;
  std::int64_t slot_bytes_ = 0;  // of one leading index
  bool may_slot_ = false;
  std::int64_t dropped_ = 0;
  std::vector<Region> regions_;  // one, or one for each leading index
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_ORDER_ACCESS_HISTORY_H_
