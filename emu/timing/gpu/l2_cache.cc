#include "emu/timing/gpu/l2_cache.h"

#include <algorithm>
#include <array>
#include <bit>

namespace palladion::timing::gpu {

using scheduler::Ticks;

namespace {

// How many sectors a mask has: a table, as processors of the oldest kind that we build for have no instruction.
constexpr std::array<std::int8_t, 256> kCounts = [] {
  std::array<std::int8_t, 256> counts{};
  for (unsigned i = 0; i < counts.size(); ++i) counts[i] = static_cast<std::int8_t>(std::popcount(i));
  return counts;
}();

std::int64_t CountOf(unsigned sectors) { return kCounts[sectors & 0xff]; }

int ShiftOf(std::int64_t size) { return std::countr_zero(static_cast<std::uint64_t>(size)); }

}  // namespace

L2Cache::L2Cache(const Sizes& sizes)
    : sizes_(sizes), line_shift_(ShiftOf(sizes.line_bytes)), sector_shift_(ShiftOf(sizes.sector_bytes)) {}

std::int32_t L2Cache::Find(std::int64_t array, std::int64_t number) {
  const auto a = static_cast<std::size_t>(array), n = static_cast<std::size_t>(number);
  if (a >= line_of_.size()) line_of_.resize(a + 1);
  std::vector<std::int32_t>& lines = line_of_[a];
  if (n >= lines.size()) lines.resize(std::max(n + 1, 2 * lines.size()), kNone);
  if (lines[n] == kNone) {
    lines[n] = static_cast<std::int32_t>(lines_.size());
    lines_.emplace_back();
  }
  return lines[n];
}

void L2Cache::Unlink(std::int32_t line) {
  const Line& it = At(line);
  (it.newer == kNone ? newest_ : At(it.newer).older) = it.older;
  (it.older == kNone ? oldest_ : At(it.older).newer) = it.newer;
}

// A line without sectors is in no list.
void L2Cache::Use(std::int32_t line) {
  if (newest_ == line) return;
  if (At(line).here != 0) {
    Unlink(line);
  } else {
    ++here_;
  }
  At(line).newer = kNone;
  At(line).older = newest_;
  if (newest_ != kNone) At(newest_).newer = line;
  newest_ = line;
  if (oldest_ == kNone) oldest_ = line;
  if (here_ <= sizes_.lines) return;
  const std::int32_t gone = oldest_;
  Unlink(gone);
  At(gone).here = At(gone).dirty = 0;
  --here_;
}

template <class F>
void L2Cache::ForEachLine(const GlobalBox& box, const F& on_line) {
  if (box.row_bytes <= 0) return;
  const std::int64_t in_line = sizes_.line_bytes - 1;
  for (std::int64_t plane = 0; plane < box.planes; ++plane) {
    for (std::int64_t row = 0; row < box.rows; ++row) {
      const std::int64_t first = box.first_byte + plane * box.plane_stride + row * box.row_stride;
      const std::int64_t last = first + box.row_bytes - 1;
      const std::int64_t last_line = last >> line_shift_;
      std::int64_t from = (first & in_line) >> sector_shift_;
      for (std::int64_t number = first >> line_shift_; number <= last_line; ++number, from = 0) {
        const std::int64_t to = (number < last_line ? in_line : last & in_line) >> sector_shift_;
        on_line(Find(box.array, number), static_cast<Sectors>((2u << to) - (1u << from)));
      }
    }
  }
}

L2Cache::Found L2Cache::Look(const GlobalBox& box, Ticks at) {
  Found found;
  ForEachLine(box, [&](std::int32_t line, Sectors sectors) {
    Line* it = &At(line);
    const Sectors here = it->here & sectors, missing = sectors & ~here;
    if (here != 0) (at - it->requested < sizes_.together ? found.merged : found.hit) += CountOf(here);
    if (here != 0 && it->arrival != kNone) {
      const Ticks arrives = arrivals_[static_cast<std::size_t>(it->arrival)];
      found.in_flight = std::max(found.in_flight, arrives);
      if (arrives <= at) it->arrival = kNone;
    }
    Use(line);
    if (const unsigned first = sectors & ~(it->was_read | it->was_written); first != 0) read_ += CountOf(first);
    it->was_read |= sectors;
    if (missing == 0) {
      it->requested = std::max(it->requested, at);
      return;
    }
    it->requested = at;
    if (found.missed == 0) arrivals_.emplace_back();
    found.missed += CountOf(missing);
    it->arrival = static_cast<std::int32_t>(arrivals_.size()) - 1;
    it->here |= missing;
  });
  return found;
}

L2Cache::Found L2Cache::Store(const GlobalBox& box, Ticks at) {
  Found found;
  ForEachLine(box, [&](std::int32_t line, Sectors sectors) {
    found.hit += CountOf(sectors);
    Use(line);
    Line& it = At(line);
    it.requested = std::max(it.requested, at);
    written_ += CountOf(sectors & ~it.was_written);
    it.was_written |= sectors;
    found.dirtied += CountOf(sectors & ~it.dirty);
    it.dirty |= sectors;
    it.here |= sectors;
  });
  return found;
}

}  // namespace palladion::timing::gpu
