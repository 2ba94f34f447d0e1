#include "emu/timing/timeline/trace_tracks.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

namespace palladion::timing::timeline {
namespace {

std::int64_t EndOf(const TraceSlice& slice) { return slice.begin + slice.ticks; }

// By begin; of those that begin together the longest first, which holds the others.
std::vector<std::size_t> InOrder(absl::Span<const TraceSlice> slices) {
  std::vector<std::size_t> order(slices.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(slices[a].begin, -slices[a].ticks) < std::pair(slices[b].begin, -slices[b].ticks);
  });
  return order;
}

}  // namespace

TraceRows NestedRows(absl::Span<const TraceSlice> slices) {
  TraceRows rows{.row = std::vector<int>(slices.size())};
  std::vector<std::vector<std::int64_t>> open;  // of each row the ends of what is open, outermost first
  for (const std::size_t i : InOrder(slices)) {
    const auto takes = [&](std::vector<std::int64_t>& ends) {
      while (!ends.empty() && ends.back() <= slices[i].begin) ends.pop_back();
      return ends.empty() || ends.back() >= EndOf(slices[i]);
    };
    const auto found = std::find_if(open.begin(), open.end(), takes);
    rows.row[i] = static_cast<int>(found - open.begin());
    (found == open.end() ? open.emplace_back() : *found).push_back(EndOf(slices[i]));
  }
  rows.count = static_cast<int>(open.size());
  return rows;
}

TraceRows SeparateRows(absl::Span<const TraceSlice> slices) {
  TraceRows rows{.row = std::vector<int>(slices.size())};
  using Free = std::pair<std::int64_t, int>;  // from when on, and which row
  std::priority_queue<Free, std::vector<Free>, std::greater<>> free;
  for (const std::size_t i : InOrder(slices)) {
    const bool again = !free.empty() && free.top().first <= slices[i].begin;
    rows.row[i] = again ? free.top().second : rows.count++;
    if (again) free.pop();
    free.emplace(EndOf(slices[i]), rows.row[i]);
  }
  return rows;
}

}  // namespace palladion::timing::timeline
