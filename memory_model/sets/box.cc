#include "memory_model/sets/box.h"

#include <algorithm>

namespace palladion::memory_model {
namespace {

Range Inside(std::int64_t start, std::int64_t count, std::int64_t step, std::int64_t low, std::int64_t high) {
  if (count == 0 || low >= high) return {};
  if (start >= low && start + (count - 1) * step < high) return {0, count};
  if (step == 0) return start >= low && start < high ? Range{0, count} : Range{};
  const std::int64_t begin = start >= low ? 0 : (low - start + step - 1) / step;
  const std::int64_t end = start >= high ? 0 : (high - start + step - 1) / step;
  return {std::min(begin, count), std::max(std::min(begin, count), std::min(end, count))};
}

}  // namespace

BoxReach ReachOf(absl::Span<const std::int64_t> shape, const BoxAccess& access) {
  BoxReach reach;
  for (std::size_t d = 0; d < static_cast<std::size_t>(access.rank); ++d) {
    const std::int64_t start = access.start[d], count = access.count[d], step = access.step[d];
    reach.empty |= count == 0;
    const bool inside = count > 0 && step >= 0 && start >= std::max<std::int64_t>(0, access.lower[d]) &&
                        start + (count - 1) * step < std::min(shape[d], access.upper[d]);
    if (inside) {  // as most are
      reach.legal[d] = reach.copy[d] = {0, count};
      continue;
    }
    const bool pads = access.outside != Outside::kError;
    const std::int64_t low = pads ? access.lower[d] : std::max<std::int64_t>(0, access.lower[d]);
    const std::int64_t high = pads ? access.upper[d] : std::min(shape[d], access.upper[d]);
    reach.legal[d] = Inside(start, count, step, low, high);
    reach.copy[d] = Inside(start, count, step, std::max<std::int64_t>(0, low), std::min(shape[d], high));
    reach.all_legal &= reach.legal[d].all(count);
    reach.all_copied &= reach.copy[d].all(count);
    reach.none_copied |= reach.copy[d].begin >= reach.copy[d].end;
  }
  return reach;
}

BoxLayout LayoutOf(const BoxAccess& access, ElementSize element_size) {
  const std::size_t element_bytes = element_size.size();
  BoxLayout layout;
  for (int j = access.value_rank; j-- > 0;) {
    const auto i = static_cast<std::size_t>(j);
    layout.count[i] = access.count[access.order[i]];
    layout.stride[i] = static_cast<std::int64_t>(layout.elements * element_bytes);
    layout.elements *= static_cast<std::size_t>(layout.count[i]);
  }
  return layout;
}

}  // namespace palladion::memory_model
