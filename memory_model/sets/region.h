// Sets of elements of one array: the elements an access touches, and what tasks have touched so far. While the set is a
// few boxes it is a list of boxes, merged where they are adjacent; after that, one byte for each element in pages that
// are made when touched, and one word where tasks go on after others ran. All are exact. Based on: box lists with a
// switch to cells where an allocation fragments. Limits: a box whose step is not 1 is not kept as a box.
#ifndef PALLADION_MEMORY_MODEL_SETS_REGION_H_
#define PALLADION_MEMORY_MODEL_SETS_REGION_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "memory_model/sets/box.h"
#include "semantics/port/machine.h"

namespace palladion::memory_model {

// Indices low[d] <= i < high[d] of each dimension; only the first `rank` entries are set. A scalar has rank 1 here.
struct ElementBox {
  int rank = 0;
  std::array<std::int64_t, kMaxBoxRank> low, high;
};

std::string ToString(const ElementBox& box);  // "[0:64, 3]"

enum class Extent : std::uint8_t {
  kNothing,
  kBox,        // exactly the elements of one box
  kScattered,  // a step, or a mask whose lanes are no box
};

// What of a buffer an access touches: lanes that the mask admits, inside the array. Sets `box` for kBox; for
// kScattered it is a box around them.
Extent ExtentOf(const BoxAccess& access, const BoxReach& reach, ElementBox* box);

// Is the element at `index` of the buffer among those that the access touches? The reach is not empty.
bool HoldsElement(const BoxAccess& access, const BoxReach& reach, absl::Span<const std::int64_t> index);

// A set as at most kMaxBoxes boxes, in the order they came.
class BoxList {
 public:
  static constexpr std::size_t kMaxBoxes = 32;

  explicit BoxList(int rank) : rank_(static_cast<std::size_t>(rank)) {}

  bool empty() const { return bounds_.empty(); }
  std::size_t size() const { return bounds_.size() / (2 * rank_); }
  void clear() { bounds_.clear(); }
  ElementBox At(std::size_t i) const;

  // Does one box of the list hold all of `box`? (Several together may without this saying so.)
  bool Covers(const ElementBox& box) const;
  // Is an element of `box` in the set? `overlap`, when not nullptr: the common part of it and the last such box.
  bool Meets(const ElementBox& box, ElementBox* overlap) const;
  // False, and nothing is added, where the list would grow beyond kMaxBoxes.
  bool Add(const ElementBox& box);

 private:
  const std::int64_t* Bounds(std::size_t i) const { return &bounds_[i * 2 * rank_]; }
  void Remove(std::size_t i);

  std::size_t rank_;
  std::vector<std::int64_t> bounds_;  // low, high of each dimension of each box
};

// What kinds of access there were.
using KindSet = std::uint32_t;
inline constexpr KindSet kReadKind = 1, kWriteKind = 2, kAtomicKind = 4;
inline constexpr KindSet kAllKinds = kReadKind | kWriteKind | kAtomicKind;
KindSet KindSetOf(AccessKind kind);  // of a read, a write or an atomic

// Where an access is in conflict with accesses of others, or -1: the first unit that one side writes and the other
// writes or updates atomically, and the first that one side only reads.
struct Conflicts {
  std::int64_t write_write = -1, read_write = -1;
  bool any() const { return write_write >= 0 || read_write >= 0; }
};

// Which tasks touched each unit of an array, and how: the last task, and what all others did. Until a conflict is found
// that answers "did another task do this" exactly, also where tasks go on after others ran: units without a conflict
// are only read, or only updated, by all. After one it is exact where tasks do not return.
class UnitOwners {
 public:
  static constexpr std::uint32_t kSeveral = 1;  // a task that has ended, or several: not the caller
  static constexpr std::uint32_t kFirstTask = 2, kMaxTask = (std::uint32_t{1} << 26) - 1;
  struct Toucher {  // an access
    std::uint32_t task;
    KindSet kind;
    Conflicts* conflicts;
  };

  // `tasks_return`: may a task go on after others ran? Else an eighth more than a byte for each unit will do.
  explicit UnitOwners(std::int64_t units, bool tasks_return = false)
      : units_(units),
        tasks_return_(tasks_return),
        pages_(tasks_return ? static_cast<std::size_t>(units / kPage + 1) : 0),
        lines_(tasks_return ? 0 : static_cast<std::size_t>(units / kPage + 1)) {}

  // `task` touches the units first <= u < last. What it reads after it wrote it needs no record: another writer there
  // is in conflict with the write already.
  void Touch(std::int64_t first, std::int64_t last, std::uint32_t task, KindSet kind, Conflicts* conflicts);

  // For memory of a task's own that tasks inherit from each other: the last writer. The first unit of the range that
  // was last written by another task, or -1.
  void Overwrite(std::int64_t first, std::int64_t last, std::uint32_t task);
  std::int64_t FirstInherited(std::int64_t first, std::int64_t last, std::uint32_t task) const;

  void EndAllTasks();       // every owner becomes kSeveral: task numbers may be used again
  void Refine(int factor);  // each unit becomes `factor` smaller ones
  std::int64_t units() const { return units_; }

 private:
  static constexpr std::int64_t kPage = 1024;
  static constexpr std::int64_t kLine = 64;  // units that have one owner: the last task that touched one of them
  static constexpr int kOthersShift = 3, kOwnerShift = 6;
  struct Line {
    std::uint32_t owner = 0;
    std::array<std::uint8_t, kLine> kinds{};  // of others, of the owner
  };
  std::uint32_t* PageOf(std::int64_t unit);
  const Line* FindLine(std::int64_t unit) const;  // nullptr: the page is untouched
  Line& LineFor(std::int64_t unit, std::uint32_t task);
  static void Disown(Line& line);  // what the owner did is others' from here on
  static std::uint8_t InLine(std::uint8_t both, std::int64_t unit, const Toucher& now);
  static std::uint32_t InWord(std::uint32_t word, std::int64_t unit, const Toucher& now);

  std::int64_t units_;
  bool tasks_return_;
  // One of the two, by tasks_return_.
  std::vector<std::unique_ptr<std::uint32_t[]>> pages_;  // owner, others' kinds, the owner's kinds; 0: none
  std::vector<std::unique_ptr<Line[]>> lines_;           // kPage / kLine of them
};

// Calls f(element, lane) for each element that the access touches: its row-major number in the buffer, and that of its
// element in the value.
template <class F>
void VisitElements(const BoxAccess& access, const BoxReach& reach, absl::Span<const std::int64_t> shape, F&& f) {
  if (reach.empty || reach.none_copied) return;
  std::array<std::int64_t, kMaxBoxRank> stride, value_stride, at;
  std::int64_t elements = 1, lanes = 1, element = 0, lane = 0;
  const auto rank = static_cast<std::size_t>(access.rank), named = static_cast<std::size_t>(access.value_rank);
  for (std::size_t d = rank; d-- > 0;) {
    stride[d] = elements * access.step[d];
    element += elements * access.start[d] + reach.copy[d].begin * stride[d];
    elements *= shape[d];
  }
  for (std::size_t j = named; j-- > 0;) {
    const std::size_t d = access.order[j];
    value_stride[j] = lanes;
    lanes *= access.count[d];
    at[j] = reach.copy[d].begin;
    lane += at[j] * value_stride[j];
  }
  while (true) {
    if (access.mask.lanes == nullptr || access.mask.lanes[lane] != 0) f(element, lane);
    std::size_t j = named;
    while (j-- > 0) {
      const std::size_t d = access.order[j];
      element += stride[d];
      lane += value_stride[j];
      if (++at[j] < reach.copy[d].end) break;
      element -= stride[d] * (at[j] - reach.copy[d].begin);
      lane -= value_stride[j] * (at[j] - reach.copy[d].begin);
      at[j] = reach.copy[d].begin;
    }
    if (j == ~std::size_t{0}) return;
  }
}

// Calls f(first, last) for runs of consecutive elements (row-major numbers, last excluded) that make up the box.
template <class F>
void VisitRuns(const ElementBox& box, absl::Span<const std::int64_t> shape, F&& f) {
  std::size_t d = shape.size();
  std::int64_t inner = 1;  // elements of the dimensions that are whole
  while (d > 0 && box.low[d - 1] == 0 && box.high[d - 1] == shape[d - 1]) inner *= shape[--d];
  if (d == 0) return f(std::int64_t{0}, inner);
  const std::size_t last = d - 1;
  std::array<std::int64_t, kMaxBoxRank> at = box.low;
  const std::int64_t run = (box.high[last] - box.low[last]) * inner;
  while (true) {
    std::int64_t row = 0;
    for (std::size_t i = 0; i <= last; ++i) row = row * shape[i] + at[i];
    f(row * inner, row * inner + run);
    std::size_t i = last;
    while (i-- > 0) {
      if (++at[i] < box.high[i]) break;
      at[i] = box.low[i];
    }
    if (i == ~std::size_t{0}) return;
  }
}

// Is the piece of a list of places an access? Not where a mask turns it off, nor outside the array.
inline bool Touches(const PointAccess& access, std::size_t piece) {
  const std::uint8_t* lanes = access.mask.lanes;
  return access.offset[piece] >= 0 && (lanes == nullptr || lanes[piece / access.pieces_per_element] != 0);
}

// Calls f(first, last) for runs of bytes that a list of places touches (last excluded).
template <class F>
void VisitBytes(const PointAccess& access, F&& f) {
  const auto piece = static_cast<std::int64_t>(access.piece_bytes);
  std::int64_t first = 0, last = 0;
  for (std::size_t p = 0; p < access.offset.size(); ++p) {
    if (!Touches(access, p)) continue;
    const std::int64_t offset = access.offset[p];
    if (offset != last || last == first) {
      if (last != first) f(first, last);
      first = offset;
    }
    last = offset + piece;
  }
  if (last != first) f(first, last);
}

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_SETS_REGION_H_
