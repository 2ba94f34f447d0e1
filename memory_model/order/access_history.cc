#include "memory_model/order/access_history.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "semantics/base/cat.h"

namespace palladion::memory_model {
namespace {

constexpr std::size_t kMaxSlots = 64;        // leading indices that get a list of their own
constexpr std::size_t kSlotsFrom = 3;        // live boxes in the one list
constexpr std::size_t kMaxBoxes = 32;        // live boxes in a list, before it is considered fragmented
constexpr std::int64_t kGranulesPerBox = 4;  // looking at a box costs as much as at so many granules

ElementCount ElementsOf(const AccessBox& box) {
  std::int64_t n = 1;
  for (std::size_t d = 0; d < static_cast<std::size_t>(box.rank); ++d) n *= box.dim[d].count;
  return ElementCount(n);
}

// Where the conflict goes in *out, or nullptr: each earlier access once, and the worse sort first to get a place.
AccessConflict* PlaceFor(const AccessEvent& earlier, Ordering order, std::vector<AccessConflict>* out) {
  for (const AccessConflict& conflict : *out) {
    if (conflict.earlier == earlier) return nullptr;
  }
  if (out->size() < AccessHistory::kMaxConflicts) return &out->emplace_back();
  const auto milder =
      std::find_if(out->begin(), out->end(), [order](const AccessConflict& other) { return other.order < order; });
  return milder == out->end() ? nullptr : &*milder;
}

// The steady state of a ring: all that touched a box before is ordered, and it is replaced, or stays and at most one
// access of it is replaced by a read. False: it is not so, and nothing has been done.
template <class Events>
bool ApplyOrdered(Events* cell, const AccessEvent& event, const Vantage& vantage) {
  AccessEvent* const events = cell->data();
  const std::size_t n = cell->size();
  std::size_t replaced = 0, replaces = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (vantage.Order(events[i]) != Ordering::kOrdered) return false;
    if (!AtLeastAsStrong(event.kind, events[i].kind)) continue;
    replaced = i;
    ++replaces;
  }
  if (replaces == 0) {
    cell->push_back(event);
  } else if (replaces == n) {
    events[0] = event;
    if (n > 1) cell->resize(1);
  } else if (replaces == 1) {
    events[replaced] = event;
  } else {
    return false;
  }
  return true;
}

}  // namespace

AccessHistory::AccessHistory(absl::Span<const std::int64_t> shape, ElementSize element_size)
    : shape_(shape.begin(), shape.end()), element_size_(element_size), regions_(1) {
  slot_bytes_ = std::accumulate(shape_.begin() + (shape_.empty() ? 0 : 1), shape_.end(), element_size.value(),
                                std::multiplies<>());
  may_slot_ = shape_.size() >= 2 && shape_[0] >= 2 && shape_[0] <= static_cast<std::int64_t>(kMaxSlots);
}

void AccessHistory::Apply(const AccessEvent& event, const AccessSet& set, const Vantage& vantage, Conflicts* out) {
  if (set.is_box) {
    // Of a box over several slots, the first: its list has boxes of that slot alone, and is not the same.
    Region* region = regions_.data();
    if (regions_.size() > 1) region += set.box.dim[0].start;
    std::vector<Cell>& list = region->list;
    if (list.size() == 1 && Same(set.box, list[0].box) && ApplyOrdered(&list[0].events, event, vantage)) return;
  }
  ApplySet(event, set, vantage, out);
}

void AccessHistory::Remember(const AccessEvent& event, const AccessSet& set) {
  const ClockBundle nothing;  // an empty clock: so nothing is replaced
  Conflicts unlooked;
  ApplySet(event, set, {nothing, ClockPart::kGeneric, {}}, &unlooked);
}

void AccessHistory::ApplySet(const AccessEvent& event, const AccessSet& set, const Vantage& vantage, Conflicts* out) {
  if (regions_.size() > 1) {
    if (!set.is_box || set.box.dim[0].count > 1) return ApplySlots(event, set, vantage, out);
    return ApplyBox(&regions_[static_cast<std::size_t>(set.box.dim[0].start)], event, set.box, vantage, out);
  }
  if (!set.is_box) return ApplyRanges(&regions_[0], event, set.ranges, vantage, out);
  ApplyBox(&regions_[0], event, set.box, vantage, out);
  if (may_slot_ && set.box.dim[0].count == 1 && HasSlots(regions_[0].list)) MakeSlots();
}

// Boxes enough; of a double buffer its two halves are.
bool AccessHistory::HasSlots(const std::vector<Cell>& list) const {
  if (list.size() >= kSlotsFrom) return true;
  return shape_[0] == 2 && list.size() == 2 && list[0].box.dim[0].count == 1 && list[1].box.dim[0].count == 1 &&
         list[0].box.dim[0].start != list[1].box.dim[0].start;
}

// An access of several slots is one access of each.
void AccessHistory::ApplySlots(const AccessEvent& event, const AccessSet& set, const Vantage& vantage, Conflicts* out) {
  if (set.is_box) {
    AccessBox piece = set.box;
    const Progression leading = set.box.dim[0];
    for (std::int32_t i = 0; i < leading.count; ++i) {
      piece.dim[0] = {leading.start + i * leading.step, 1, 1};
      ApplyBox(&regions_[static_cast<std::size_t>(piece.dim[0].start)], event, piece, vantage, out);
    }
    if (leading.count != shape_[0] || !IsWholeRegion(set.box)) return;
    const auto only_this = [&](const Region& r) {
      return !r.fine.has_value() && r.list.size() == 1 && r.list[0].events.size() == 1 && r.list[0].events[0] == event;
    };
    if (!std::all_of(regions_.begin(), regions_.end(), only_this)) return;
    regions_.resize(1);  // whole again
    regions_[0].list[0].box = set.box;
    return;
  }
  std::vector<ByteRange> pieces;
  for (const ByteRange& range : set.ranges) {
    for (std::int64_t at = range.begin; at < range.end;) {
      const std::int64_t slot_end = (at / slot_bytes_ + 1) * slot_bytes_;
      pieces.push_back({at, std::min(range.end, slot_end)});
      at = pieces.back().end;
    }
  }
  for (std::size_t i = 0, k = 0; i < pieces.size(); i = k) {
    const std::int64_t slot = pieces[i].begin / slot_bytes_;
    while (k < pieces.size() && pieces[k].begin / slot_bytes_ == slot) ++k;
    ApplyRanges(&regions_[static_cast<std::size_t>(slot)], event, absl::MakeConstSpan(pieces).subspan(i, k - i),
                vantage, out);
  }
}

void AccessHistory::ApplyBox(Region* region, const AccessEvent& event, const AccessBox& box, const Vantage& vantage,
                             Conflicts* out) {
  if (region->fine.has_value()) return ApplyFine(region, event, box, vantage, out);
  std::vector<Cell>& list = region->list;
  if (ApplyNextPiece(&list, event, box, vantage)) return;
  const Touch touch{event, box, vantage};
  const bool crowded = list.size() > kMaxBoxes;
  std::size_t kept = 0;
  bool known = false;
  for (std::size_t i = 0; i < list.size(); ++i) {
    Cell& cell = list[i];
    if (Same(box, cell.box)) {
      ApplyCell(&cell, touch, BoxRelation::kCovers, crowded, out);
      if (!known) cell.events.push_back(event);
      known = true;
    } else if (const BoxRelation relation = Relate(box, cell.box); relation != BoxRelation::kDisjoint) {
      known |= ApplyCell(&cell, touch, relation, crowded, out);
    }
    if (cell.events.empty()) continue;
    if (kept != i) list[kept] = std::move(cell);
    ++kept;
  }
  if (kept < list.size()) list.erase(list.begin() + static_cast<std::ptrdiff_t>(kept), list.end());
  if (!known) Insert(region, event, box);
}

// An access that comes in pieces: the next one, adjacent to those that are there, and all others ordered before it and
// none replaced by it. False: it is not so, and nothing has been done.
bool AccessHistory::ApplyNextPiece(std::vector<Cell>* list, const AccessEvent& event, const AccessBox& box,
                                   const Vantage& vantage) {
  if (list->size() < 2) return false;
  Cell& last = list->back();
  if (last.events.size() != 1 || !(last.events[0] == event)) return false;
  for (std::size_t i = 0; i + 1 < list->size(); ++i) {
    const Cell& cell = (*list)[i];
    for (const AccessEvent& earlier : cell.events) {
      if (AtLeastAsStrong(event.kind, earlier.kind) || vantage.Order(earlier) != Ordering::kOrdered) return false;
    }
    if (Same(box, cell.box)) return false;
  }
  return MergeAdjacent(&last.box, box);
}

// True: the event is there already, and its box has all of this one.
bool AccessHistory::ApplyCell(Cell* cell, const Touch& touch, BoxRelation relation, bool crowded, Conflicts* out) {
  const auto& [event, box, vantage] = touch;
  bool known = false;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < cell->events.size(); ++i) {
    const AccessEvent& earlier = cell->events[i];
    const bool replaces = relation == BoxRelation::kCovers && AtLeastAsStrong(event.kind, earlier.kind);
    const Ordering order = vantage.Order(earlier);
    bool keep = !replaces;
    const bool conflicts = order != Ordering::kOrdered && Conflict(earlier.kind, event.kind);
    if (conflicts) {
      if (AccessConflict* at = PlaceFor(earlier, order, out); at != nullptr)
        *at = {earlier, order, memory_model::Describe(Overlap(box, cell->box))};
    }
    if (!IsOrdered(order)) {
      keep = !(conflicts && replaces && (crowded || cell->events.size() > kMaxBoxes));
      dropped_ += keep ? 0 : 1;
    } else if (keep && earlier == event) {
      known |= Relate(cell->box, box) == BoxRelation::kCovers;
    }
    if (!keep) continue;
    if (kept != i) cell->events[kept] = earlier;
    ++kept;
  }
  cell->events.resize(kept);
  return known;
}

void AccessHistory::Insert(Region* region, const AccessEvent& event, const AccessBox& box) {
  std::vector<Cell>& list = region->list;
  const auto merges = [&](Cell& into, const AccessBox& more) {
    return into.events.size() == 1 && into.events[0] == event && MergeAdjacent(&into.box, more);
  };
  if (!list.empty() && merges(list.back(), box)) {
    while (list.size() >= 2 && merges(list[list.size() - 2], list.back().box)) list.pop_back();
    return;
  }
  list.push_back({box, {event}});
  const auto live = static_cast<std::int64_t>(list.size());
  const ByteCount worth(live * kGranulesPerBox * Granules::kBytes);
  if (list.size() > kMaxBoxes && ElementsOf(box) * element_size_ < worth) {
    MakeFine(region);
  }
}

void AccessHistory::MakeFine(Region* region) {
  region->fine.emplace();
  for (const Cell& cell : region->list) {
    for (const AccessEvent& event : cell.events) {
      region->fine->Begin(event);
      ForEachRun(cell.box, shape_, element_size_, [&](std::int64_t begin, std::int64_t end) {
        region->fine->Apply({begin, end}, nullptr, [](const AccessEvent&, Ordering, const ByteRange&) {});
      });
      region->fine->End();
    }
  }
  region->list = {};
}

void AccessHistory::ApplyFine(Region* region, const AccessEvent& event, const AccessBox& box, const Vantage& vantage,
                              Conflicts* out) {
  Granules& fine = *region->fine;
  const std::int64_t dropped = fine.dropped();
  if (IsWholeRegion(box) && fine.ApplyWhole(event, vantage)) {
    dropped_ += dropped;
    region->fine.reset();
    region->list.push_back({box, {event}});
    return;
  }
  absl::InlinedVector<ByteRange, 8> ranges;  // a few elements: no allocation
  ForEachRun(box, shape_, element_size_, [&](std::int64_t begin, std::int64_t end) { ranges.push_back({begin, end}); });
  ApplyRanges(region, event, ranges, vantage, out);
}

void AccessHistory::ApplyRanges(Region* region, const AccessEvent& event, absl::Span<const ByteRange> ranges,
                                const Vantage& vantage, Conflicts* out) {
  if (ranges.empty()) return;
  if (!region->fine.has_value()) MakeFine(region);
  const auto found = [&](const AccessEvent& earlier, Ordering order, const ByteRange& bytes) {
    if (AccessConflict* at = PlaceFor(earlier, order, out); at != nullptr) *at = {earlier, order, Describe(bytes)};
  };
  region->fine->Begin(event);
  for (const ByteRange& range : ranges) region->fine->Apply(range, &vantage, found);
  region->fine->End();
}

void AccessHistory::MakeSlots() {
  const std::vector<Cell> list = std::move(regions_[0].list);
  regions_.assign(static_cast<std::size_t>(shape_[0]), {});
  for (const Cell& cell : list) {
    Cell piece = cell;
    for (std::int32_t i = 0; i < cell.box.dim[0].count; ++i) {
      piece.box.dim[0] = {cell.box.dim[0].start + i * cell.box.dim[0].step, 1, 1};
      AddTo(&regions_[static_cast<std::size_t>(piece.box.dim[0].start)].list, piece);
    }
  }
}

// Boxes that differed in their slots alone are one in a slot.
void AccessHistory::AddTo(std::vector<Cell>* list, const Cell& piece) {
  for (Cell& cell : *list) {
    if (!Same(cell.box, piece.box)) continue;
    cell.events.insert(cell.events.end(), piece.events.begin(), piece.events.end());
    return;
  }
  list->push_back(piece);
}

// All of the region that the box lies in: all of the array, or of one slot.
bool AccessHistory::IsWholeRegion(const AccessBox& box) const {
  for (std::size_t d = regions_.size() > 1 ? 1 : 0; d < shape_.size(); ++d) {
    if (box.dim[d].count != shape_[d]) return false;
  }
  return true;
}

std::string AccessHistory::Describe(const ByteRange& bytes) const {
  const std::int64_t each = element_size_.value(), first = bytes.begin / each, past = (bytes.end + each - 1) / each;
  std::vector<std::string> index(shape_.size());
  std::int64_t rest = first;
  for (std::size_t d = shape_.size(); d-- > 0;) {
    const std::int64_t at = rest % shape_[d];
    rest /= shape_[d];
    index[d] = Cat(at);
    if (d + 1 == shape_.size() && past - first > 1) Append(&index[d], ":", std::min(at + past - first, shape_[d]));
  }
  std::string text = "[";
  for (std::size_t d = 0; d < index.size(); ++d) Append(&text, d == 0 ? "" : ", ", index[d]);
  return text + "]";
}

std::size_t AccessHistory::records() const {
  std::size_t n = 0;
  for (const Region& region : regions_) {
    for (const Cell& cell : region.list) n += cell.events.size();
  }
  return n;
}

std::size_t AccessHistory::granules() const {
  std::int64_t n = 0;
  for (const Region& region : regions_) n += region.fine.has_value() ? region.fine->live() : 0;
  return static_cast<std::size_t>(n);
}

std::int64_t AccessHistory::dropped() const {
  std::int64_t n = dropped_;
  for (const Region& region : regions_) n += region.fine.has_value() ? region.fine->dropped() : 0;
  return n;
}

}  // namespace palladion::memory_model
