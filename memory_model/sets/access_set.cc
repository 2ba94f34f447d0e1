#include "memory_model/sets/access_set.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "memory_model/sets/region.h"
#include "semantics/base/cat.h"

namespace palladion::memory_model {
namespace {

constexpr std::int64_t kMaxExtent = std::numeric_limits<std::int32_t>::max();

// Dimension d of the access, for `range` of its indices.
Progression ProgressionOf(const BoxAccess& access, std::size_t d, const Range& range) {
  std::int64_t count = range.end - range.begin, step = access.step[d];
  std::int64_t start = access.start[d] + range.begin * step;
  if (step == 0) count = 1;
  if (step < 0) start += (count - 1) * step, step = -step;
  if (count == 1) step = 1;
  return {static_cast<std::int32_t>(start), static_cast<std::int32_t>(count), static_cast<std::int32_t>(step)};
}

bool FitsBox(absl::Span<const std::int64_t> shape) {
  return shape.size() <= kMaxHistoryRank &&
         std::all_of(shape.begin(), shape.end(), [](std::int64_t n) { return n <= kMaxExtent; });
}

// Which lanes of the mask are on: for each dimension of the value the range they span, and how many they are.
struct Lanes {
  std::array<Range, kMaxBoxRank> span;
  std::int64_t on = 0, in_span = 0;
};

// Calls f(indices of the access's buffer dimensions) for each element that is touched.
template <class F>
void ForEachElement(const BoxAccess& access, const BoxReach& reach, const F& f) {
  std::array<std::int64_t, kMaxBoxRank> at = {};
  const auto value_rank = static_cast<std::size_t>(access.value_rank);
  for (std::size_t lane = 0;; ++lane) {
    bool touched = access.mask.lanes == nullptr || access.mask.lanes[lane] != 0;
    for (std::size_t d = 0; touched && d < static_cast<std::size_t>(access.rank); ++d) {
      touched = reach.copy[d].contains(at[d]);
    }
    if (touched) f(at);
    std::size_t j = value_rank;
    while (j > 0 && ++at[access.order[j - 1]] == access.count[access.order[j - 1]]) at[access.order[--j]] = 0;
    if (j == 0) return;
  }
}

Lanes LanesOf(const BoxAccess& access, const BoxReach& reach) {
  Lanes lanes;
  for (Range& range : lanes.span) range = {std::numeric_limits<std::int64_t>::max(), 0};
  ForEachElement(access, reach, [&](const std::array<std::int64_t, kMaxBoxRank>& at) {
    ++lanes.on;
    for (std::size_t d = 0; d < static_cast<std::size_t>(access.rank); ++d) {
      lanes.span[d].begin = std::min(lanes.span[d].begin, at[d]);
      lanes.span[d].end = std::max(lanes.span[d].end, at[d] + 1);
    }
  });
  lanes.in_span = lanes.on > 0 ? 1 : 0;
  for (std::size_t d = 0; lanes.on > 0 && d < static_cast<std::size_t>(access.rank); ++d) {
    lanes.in_span *= lanes.span[d].end - lanes.span[d].begin;
  }
  return lanes;
}

AccessSet BytesOf(absl::Span<const std::int64_t> shape, ElementSize element_size, const BoxAccess& access,
                  const BoxReach& reach) {
  const std::int64_t element_bytes = element_size.value();
  std::vector<ByteRange> ranges;
  ForEachElement(access, reach, [&](const std::array<std::int64_t, kMaxBoxRank>& at) {
    std::int64_t flat = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) flat = flat * shape[d] + access.start[d] + at[d] * access.step[d];
    const ByteRange bytes{flat * element_bytes, (flat + 1) * element_bytes};
    if (!ranges.empty() && ranges.back().end == bytes.begin) {
      ranges.back().end = bytes.end;
    } else {
      ranges.push_back(bytes);
    }
  });
  return AccessSet::Of(std::move(ranges));
}

}  // namespace

AccessSet AccessSet::Of(std::vector<ByteRange> ranges) {
  const auto before = [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; };
  if (!std::is_sorted(ranges.begin(), ranges.end(), before)) std::sort(ranges.begin(), ranges.end(), before);
  AccessSet set;
  for (const ByteRange& range : ranges) {
    if (range.begin >= range.end) continue;
    if (!set.ranges.empty() && range.begin <= set.ranges.back().end) {
      set.ranges.back().end = std::max(set.ranges.back().end, range.end);
    } else {
      set.ranges.push_back(range);
    }
  }
  return set;
}

AccessSet SetOf(absl::Span<const std::int64_t> shape, ElementSize element_size, const BoxAccess& access,
                const BoxReach& reach) {
  if (reach.empty || reach.none_copied) return {};
  const bool fits = FitsBox(shape);
  if (!fits && access.mask.lanes == nullptr) return BytesOf(shape, element_size, access, reach);
  const std::array<Range, kMaxBoxRank>* span = &reach.copy;
  Lanes lanes;
  if (access.mask.lanes != nullptr) {
    lanes = LanesOf(access, reach);
    if (lanes.on == 0) return {};
    if (!fits || lanes.on != lanes.in_span) return BytesOf(shape, element_size, access, reach);
    span = &lanes.span;
  }
  AccessSet set;
  set.is_box = true;
  set.box.rank = access.rank;
  for (std::size_t d = 0; d < static_cast<std::size_t>(access.rank); ++d) {
    set.box.dim[d] = ProgressionOf(access, d, (*span)[d]);
  }
  return set;
}

AccessSet SetOf(const PointAccess& access) {
  std::vector<ByteRange> ranges;
  const auto piece = static_cast<std::int64_t>(access.piece_bytes);
  for (std::size_t p = 0; p < access.offset.size(); ++p) {
    if (!Touches(access, p)) continue;
    if (!ranges.empty() && ranges.back().end == access.offset[p]) {
      ranges.back().end += piece;
    } else {
      ranges.push_back({access.offset[p], access.offset[p] + piece});
    }
  }
  return AccessSet::Of(std::move(ranges));
}

std::string InCommon(const AccessSet& a, const AccessSet& b, absl::Span<const std::int64_t> shape,
                     ElementSize element_size) {
  if (a.is_box && b.is_box) {
    return Relate(a.box, b.box) == BoxRelation::kDisjoint ? "" : Describe(Overlap(a.box, b.box));
  }
  const auto bytes = [&](const AccessSet& set) {
    if (!set.is_box) return set.ranges;
    std::vector<ByteRange> ranges;
    ForEachRun(set.box, shape, element_size, [&](std::int64_t begin, std::int64_t end) {
      ranges.push_back({begin, end});
    });
    return ranges;
  };
  const std::vector<ByteRange> first = bytes(a), second = bytes(b);
  for (auto i = first.begin(), j = second.begin(); i != first.end() && j != second.end();) {
    const std::int64_t begin = std::max(i->begin, j->begin), end = std::min(i->end, j->end);
    if (begin < end) return Cat(" bytes ", begin, ":", end);
    (i->end < j->end ? i : j) += 1;
  }
  return "";
}

bool IsSamePlace(const AsyncOperand& a, const AsyncOperand& b) {
  if (a.where.index() != b.where.index()) return false;
  if (const auto* points = std::get_if<AsyncPoints>(&a.where)) {
    const auto& others = std::get<AsyncPoints>(b.where);
    return points->offset == others.offset && points->piece_bytes == others.piece_bytes;
  }
  const auto &mine = std::get<BoxAccess>(a.where), &theirs = std::get<BoxAccess>(b.where);
  const auto same = [](const auto& one, const auto& other, int n) {
    return std::equal(one.begin(), one.begin() + n, other.begin());
  };
  return mine.value_rank == theirs.value_rank && same(mine.start, theirs.start, mine.rank) &&
         same(mine.count, theirs.count, mine.rank) && same(mine.step, theirs.step, mine.rank) &&
         same(mine.order, theirs.order, mine.value_rank);
}

}  // namespace palladion::memory_model
