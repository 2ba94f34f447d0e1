#include "memory_model/sets/region.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "semantics/base/cat.h"

namespace palladion::memory_model {

std::string ToString(const ElementBox& box) {
  std::string text = "[";
  for (std::size_t d = 0; d < static_cast<std::size_t>(box.rank); ++d) {
    if (d > 0) text += ", ";
    if (box.high[d] == box.low[d] + 1) {
      Append(&text, box.low[d]);
    } else {
      Append(&text, box.low[d], ":", box.high[d]);
    }
  }
  return text + "]";
}

KindSet KindSetOf(AccessKind kind) {
  return kind == AccessKind::kRead ? kReadKind : kind == AccessKind::kAtomic ? kAtomicKind : kWriteKind;
}

namespace {

// The lanes that a mask admits, of those that are copied: the box around them in value coordinates, and how many.
struct AdmittedLanes {
  std::array<Range, kMaxBoxRank> around;
  std::int64_t count = 0;
};

// The first lane in [first, last) that is admitted, or last. Masks are mostly long runs: eight lanes at a time.
std::int64_t SkipZeros(const std::uint8_t* lanes, std::int64_t first, std::int64_t last) {
  for (std::uint64_t eight; first + 8 <= last; first += 8) {
    std::memcpy(&eight, lanes + first, sizeof(eight));
    if (eight != 0) break;
  }
  while (first < last && lanes[first] == 0) ++first;
  return first;
}

struct RowLanes {
  std::int64_t first = 0, last = 0, count = 0;  // the admitted ones are among [first, last)
};

RowLanes AdmittedInRow(const std::uint8_t* lanes, const Range& row) {
  RowLanes found{.first = SkipZeros(lanes, row.begin, row.end)};
  for (std::int64_t at = found.first; at < row.end; at = SkipZeros(lanes, at, row.end)) {
    const void* zero = std::memchr(lanes + at, 0, static_cast<std::size_t>(row.end - at));
    const std::int64_t end = zero == nullptr ? row.end : static_cast<const std::uint8_t*>(zero) - lanes;
    found.count += end - at;
    found.last = at = end;
  }
  return found;
}

AdmittedLanes Admitted(const BoxAccess& access, const BoxReach& reach) {
  AdmittedLanes lanes;
  const auto named = static_cast<std::size_t>(access.value_rank);
  std::array<std::int64_t, kMaxBoxRank> at, stride;
  std::int64_t all = 1;
  for (std::size_t j = named; j-- > 0;) {
    const std::size_t d = access.order[j];
    stride[j] = all;
    all *= access.count[d];
    at[j] = reach.copy[d].begin;
    lanes.around[j] = {reach.copy[d].end, reach.copy[d].begin};
  }
  const Range inner = named == 0 ? Range{0, 1} : reach.copy[access.order[named - 1]];
  while (true) {
    std::int64_t base = 0;
    for (std::size_t j = 0; j + 1 < named; ++j) base += at[j] * stride[j];
    const RowLanes row = AdmittedInRow(access.mask.lanes + base, inner);
    if (row.count > 0) {
      for (std::size_t j = 0; j + 1 < named; ++j)
        lanes.around[j] = {std::min(lanes.around[j].begin, at[j]), std::max(lanes.around[j].end, at[j] + 1)};
      if (named > 0)
        lanes.around[named - 1] = {std::min(lanes.around[named - 1].begin, row.first),
                                   std::max(lanes.around[named - 1].end, row.last)};
      lanes.count += row.count;
    }
    std::size_t j = named == 0 ? 0 : named - 1;
    while (j-- > 0) {
      if (++at[j] < reach.copy[access.order[j]].end) break;
      at[j] = reach.copy[access.order[j]].begin;
    }
    if (j == ~std::size_t{0}) return lanes;
  }
}

// Narrows `box` to the lanes that the mask admits.
Extent Masked(const BoxAccess& access, const BoxReach& reach, ElementBox* box) {
  const AdmittedLanes lanes = Admitted(access, reach);
  if (lanes.count == 0) return Extent::kNothing;
  std::int64_t volume = 1;
  for (std::size_t j = 0; j < static_cast<std::size_t>(access.value_rank); ++j) {
    const std::size_t d = access.order[j];
    volume *= lanes.around[j].end - lanes.around[j].begin;
    box->low[d] = access.start[d] + lanes.around[j].begin * access.step[d];
    box->high[d] = access.start[d] + (lanes.around[j].end - 1) * access.step[d] + 1;
  }
  return lanes.count == volume ? Extent::kBox : Extent::kScattered;
}

}  // namespace

Extent ExtentOf(const BoxAccess& access, const BoxReach& reach, ElementBox* box) {
  if (reach.empty || reach.none_copied) return Extent::kNothing;
  box->rank = std::max(1, access.rank);
  if (access.rank == 0) {
    box->low[0] = 0;
    box->high[0] = 1;
  }
  bool steps = false;
  for (std::size_t d = 0; d < static_cast<std::size_t>(access.rank); ++d) {
    const Range& range = reach.copy[d];
    box->low[d] = access.start[d] + range.begin * access.step[d];
    box->high[d] = access.start[d] + (range.end - 1) * access.step[d] + 1;
    steps |= access.step[d] > 1 && range.end - range.begin > 1;
  }
  const Extent extent = access.mask.lanes == nullptr ? Extent::kBox : Masked(access, reach, box);
  return extent == Extent::kBox && steps ? Extent::kScattered : extent;
}

bool HoldsElement(const BoxAccess& access, const BoxReach& reach, absl::Span<const std::int64_t> index) {
  std::array<std::int64_t, kMaxBoxRank> at{};
  for (std::size_t d = 0; d < static_cast<std::size_t>(access.rank); ++d) {
    const std::int64_t distance = index[d] - access.start[d], step = access.step[d];
    if (step == 0 ? distance != 0 : distance % step != 0) return false;
    at[d] = step == 0 ? reach.copy[d].begin : distance / step;
    if (!reach.copy[d].contains(at[d])) return false;
  }
  if (access.mask.lanes == nullptr) return true;
  std::int64_t lane = 0;
  for (std::size_t j = 0; j < static_cast<std::size_t>(access.value_rank); ++j)
    lane = lane * access.count[access.order[j]] + at[access.order[j]];
  return access.mask.lanes[lane] != 0;
}

ElementBox BoxList::At(std::size_t i) const {
  ElementBox box;
  box.rank = static_cast<int>(rank_);
  for (std::size_t d = 0; d < rank_; ++d) {
    box.low[d] = Bounds(i)[2 * d];
    box.high[d] = Bounds(i)[2 * d + 1];
  }
  return box;
}

bool BoxList::Covers(const ElementBox& box) const {
  for (std::size_t i = size(); i-- > 0;) {
    const std::int64_t* bounds = Bounds(i);
    bool covers = true;
    for (std::size_t d = 0; d < rank_ && covers; ++d)
      covers = bounds[2 * d] <= box.low[d] && box.high[d] <= bounds[2 * d + 1];
    if (covers) return true;
  }
  return false;
}

bool BoxList::Meets(const ElementBox& box, ElementBox* overlap) const {
  for (std::size_t i = size(); i-- > 0;) {
    const std::int64_t* bounds = Bounds(i);
    bool meets = true;
    for (std::size_t d = 0; d < rank_ && meets; ++d)
      meets = bounds[2 * d] < box.high[d] && box.low[d] < bounds[2 * d + 1];
    if (!meets) continue;
    if (overlap == nullptr) return true;
    overlap->rank = box.rank;
    for (std::size_t d = 0; d < rank_; ++d) {
      overlap->low[d] = std::max(bounds[2 * d], box.low[d]);
      overlap->high[d] = std::min(bounds[2 * d + 1], box.high[d]);
    }
    return true;
  }
  return false;
}

void BoxList::Remove(std::size_t i) {
  const auto at = bounds_.begin() + static_cast<std::ptrdiff_t>(i * 2 * rank_);
  bounds_.erase(at, at + static_cast<std::ptrdiff_t>(2 * rank_));
}

namespace {

enum class Union : std::uint8_t { kNone, kFirst, kMerged };  // kFirst: the first box holds the second

// Where the union of the two is a box again, `b` becomes it.
Union Join(const std::int64_t* a, std::size_t rank, ElementBox* b) {
  std::size_t differs = rank;
  bool a_holds = true, b_holds = true;
  int different = 0;
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t low = a[2 * d], high = a[2 * d + 1];
    if (low == b->low[d] && high == b->high[d]) continue;
    if (low > b->high[d] || b->low[d] > high) return Union::kNone;
    a_holds &= low <= b->low[d] && b->high[d] <= high;
    b_holds &= b->low[d] <= low && high <= b->high[d];
    differs = d;
    ++different;
  }
  if (a_holds) return Union::kFirst;
  if (b_holds) return Union::kMerged;
  if (different > 1) return Union::kNone;
  b->low[differs] = std::min(b->low[differs], a[2 * differs]);
  b->high[differs] = std::max(b->high[differs], a[2 * differs + 1]);
  return Union::kMerged;
}

}  // namespace

bool BoxList::Add(const ElementBox& box) {
  ElementBox grown;
  grown.rank = box.rank;
  for (std::size_t d = 0; d < rank_; ++d) {
    grown.low[d] = box.low[d];
    grown.high[d] = box.high[d];
  }
  for (std::size_t i = size(); i-- > 0;) {
    const Union joined = Join(Bounds(i), rank_, &grown);
    if (joined == Union::kFirst)
      return true;  // a box that has grown is nowhere held: the list's boxes are not joinable
    if (joined == Union::kNone) continue;
    Remove(i);
    i = size();
  }
  if (size() == kMaxBoxes) return false;
  for (std::size_t d = 0; d < rank_; ++d) {
    bounds_.push_back(grown.low[d]);
    bounds_.push_back(grown.high[d]);
  }
  return true;
}

std::uint32_t* UnitOwners::PageOf(std::int64_t unit) {
  std::unique_ptr<std::uint32_t[]>& page = pages_[static_cast<std::size_t>(unit / kPage)];
  if (page == nullptr) page = std::make_unique<std::uint32_t[]>(kPage);
  return page.get();
}

const UnitOwners::Line* UnitOwners::FindLine(std::int64_t unit) const {
  const std::unique_ptr<Line[]>& page = lines_[static_cast<std::size_t>(unit / kPage)];
  return page == nullptr ? nullptr : &page[static_cast<std::size_t>(unit % kPage / kLine)];
}

UnitOwners::Line& UnitOwners::LineFor(std::int64_t unit, std::uint32_t task) {
  std::unique_ptr<Line[]>& page = lines_[static_cast<std::size_t>(unit / kPage)];
  if (page == nullptr) page = std::make_unique<Line[]>(kPage / kLine);
  Line& line = page[static_cast<std::size_t>(unit % kPage / kLine)];
  if (line.owner != task) Disown(line);
  line.owner = task;
  return line;
}

// Eight units at once; what the shift carries from one byte to the next is masked away.
void UnitOwners::Disown(Line& line) {
  constexpr std::uint64_t kOthers = std::uint64_t{0x0101010101010101} * (kAllKinds << kOthersShift);
  for (std::size_t i = 0; i < kLine; i += sizeof(std::uint64_t)) {
    std::uint64_t eight;
    std::memcpy(&eight, line.kinds.data() + i, sizeof(eight));
    eight = (eight | eight << kOthersShift) & kOthers;
    std::memcpy(line.kinds.data() + i, &eight, sizeof(eight));
  }
  line.owner = 0;
}

namespace {

// The units begin <= u < end, each by update(unit's record, u, now). Most often all have one record, and get one.
template <class T>
void UpdateAll(T* units, std::int64_t begin, std::int64_t end, const UnitOwners::Toucher& now,
               T (*update)(T, std::int64_t, const UnitOwners::Toucher&)) {
  const std::int64_t count = end - begin;
  // libc's comparison uses vectors.
  if (std::memcmp(units, units + 1, static_cast<std::size_t>(count - 1) * sizeof(T)) != 0) {
    for (std::int64_t i = 0; i < count; ++i) units[i] = update(units[i], begin + i, now);
    return;
  }
  const T is = update(units[0], begin, now);
  if (is != units[0]) std::fill(units, units + count, is);
}

// An access to unit `u`, which others touched as `theirs` says.
void Compare(KindSet kind, KindSet theirs, std::int64_t u, Conflicts* conflicts) {
  const KindSet strong = theirs & (kind == kAtomicKind ? kWriteKind : kWriteKind | kAtomicKind);
  const bool read_write = kind == kReadKind ? strong != 0 : (theirs & kReadKind) != 0;
  if (read_write && conflicts->read_write < 0) conflicts->read_write = u;
  if (kind != kReadKind && strong != 0 && conflicts->write_write < 0) conflicts->write_write = u;
}

}  // namespace

// An access by the owner of a line. What it reads after it wrote it needs no record.
std::uint8_t UnitOwners::InLine(std::uint8_t both, std::int64_t unit, const Toucher& now) {
  if ((both & kWriteKind) != 0 && now.task != kSeveral) return both;
  Compare(now.kind, both >> kOthersShift, unit, now.conflicts);
  return static_cast<std::uint8_t>(both | now.kind);
}

std::uint32_t UnitOwners::InWord(std::uint32_t word, std::int64_t unit, const Toucher& now) {
  const KindSet own = word & kAllKinds, others = word >> kOthersShift & kAllKinds;
  const bool same = word >> kOwnerShift == now.task;
  if (same && (own & kWriteKind) != 0 && now.task != kSeveral) return word;
  const KindSet theirs = same ? others : own | others;
  Compare(now.kind, theirs, unit, now.conflicts);
  return now.task << kOwnerShift | theirs << kOthersShift | (same ? own : 0) | now.kind;
}

void UnitOwners::Touch(std::int64_t first, std::int64_t last, std::uint32_t task, KindSet kind, Conflicts* conflicts) {
  const Toucher now{task, kind, conflicts};
  const std::int64_t part = tasks_return_ ? kPage : kLine;
  for (std::int64_t begin = first; begin < last;) {
    const std::int64_t end = std::min(last, (begin / part + 1) * part);
    if (tasks_return_) {
      UpdateAll(PageOf(begin) + begin % kPage, begin, end, now, InWord);
    } else {
      UpdateAll(LineFor(begin, task).kinds.data() + begin % kLine, begin, end, now, InLine);
    }
    begin = end;
  }
}

void UnitOwners::Overwrite(std::int64_t first, std::int64_t last, std::uint32_t task) {
  const std::int64_t part = tasks_return_ ? kPage : kLine;
  for (std::int64_t begin = first; begin < last;) {
    const std::int64_t end = std::min(last, (begin / part + 1) * part), count = end - begin;
    if (tasks_return_) {
      std::fill_n(PageOf(begin) + begin % kPage, count, task << kOwnerShift | kWriteKind);
    } else {
      std::fill_n(LineFor(begin, task).kinds.data() + begin % kLine, count, static_cast<std::uint8_t>(kWriteKind));
    }
    begin = end;
  }
}

std::int64_t UnitOwners::FirstInherited(std::int64_t first, std::int64_t last, std::uint32_t task) const {
  const std::uint32_t own = task << kOwnerShift | kWriteKind;
  for (std::int64_t u = first; u < last; ++u) {
    if (tasks_return_) {
      const std::unique_ptr<std::uint32_t[]>& page = pages_[static_cast<std::size_t>(u / kPage)];
      const std::uint32_t word = page == nullptr ? 0 : page[static_cast<std::size_t>(u % kPage)];
      if (word != 0 && word != own) return u;
    } else {
      const Line* line = FindLine(u);
      const std::uint8_t kinds = line == nullptr ? 0 : line->kinds[static_cast<std::size_t>(u % kLine)];
      if (kinds != 0 && (line->owner != task || kinds != kWriteKind)) return u;
    }
  }
  return -1;
}

void UnitOwners::EndAllTasks() {
  for (const std::unique_ptr<Line[]>& page : lines_) {
    for (std::size_t i = 0; page != nullptr && i < kPage / kLine; ++i) Disown(page[i]);
  }
  for (const std::unique_ptr<std::uint32_t[]>& page : pages_) {
    for (std::size_t i = 0; page != nullptr && i < kPage; ++i) {
      const KindSet kinds = (page[i] | page[i] >> kOthersShift) & kAllKinds;
      if (page[i] != 0) page[i] = kSeveral << kOwnerShift | kinds;
    }
  }
}

// A factor divides kLine, so a finer line has its units from one line.
void UnitOwners::Refine(int factor) {
  UnitOwners finer(units_ * factor, tasks_return_);
  for (std::int64_t u = 0; u < units_; ++u) {
    const std::int64_t fine = u * factor;
    if (const Line* line = tasks_return_ ? nullptr : FindLine(u); line != nullptr) {
      const std::uint8_t kinds = line->kinds[static_cast<std::size_t>(u % kLine)];
      if (kinds != 0) std::fill_n(finer.LineFor(fine, line->owner).kinds.data() + fine % kLine, factor, kinds);
    } else if (tasks_return_) {
      const std::unique_ptr<std::uint32_t[]>& page = pages_[static_cast<std::size_t>(u / kPage)];
      const std::uint32_t word = page == nullptr ? 0 : page[static_cast<std::size_t>(u % kPage)];
      if (word != 0) std::fill_n(finer.PageOf(fine) + fine % kPage, factor, word);
    }
  }
  *this = std::move(finer);
}

}  // namespace palladion::memory_model
