#include "memory_model/bytes/padded_bounds.h"

#include <algorithm>
#include <limits>

namespace palladion::memory_model {
namespace {

constexpr std::int64_t kLanes = 128, kSublanes = 8;

std::int64_t RoundUp(std::int64_t size, std::int64_t to) { return (size + to - 1) / to * to; }

}  // namespace

std::vector<std::int64_t> PaddedShape(absl::Span<const std::int64_t> shape, DType dtype, int generation) {
  std::vector<std::int64_t> padded(shape.begin(), shape.end());
  if (shape.empty() || StorageBytes(dtype) > 4) return padded;
  const std::int64_t packing = dtype == DType::kI4 ? 8 : 4 / static_cast<std::int64_t>(StorageBytes(dtype));
  const std::int64_t least = (generation < 4 ? 2 : 1) * packing;
  if (shape.size() == 1) {
    padded[0] = RoundUp(shape[0], least * kLanes);
    return padded;
  }
  const std::size_t last = shape.size() - 1;
  std::int64_t rows = least;
  while (rows < std::min(shape[last - 1], kSublanes)) rows *= 2;
  padded[last - 1] = RoundUp(shape[last - 1], rows);
  padded[last] = RoundUp(shape[last], kLanes);
  return padded;
}

bool PaddedBounds::Covers(std::string_view name, DType dtype, absl::Span<const std::int64_t> shape,
                          const BoxAccess& access) const {
  if (only_at.has_value() && only_at->count(access.site.text_line) == 0) return false;
  if (scalar_memory.find(name) != scalar_memory.end()) return false;
  const std::vector<std::int64_t> padded = PaddedShape(shape, dtype, generation);
  for (std::size_t d = 0; d < static_cast<std::size_t>(access.rank); ++d) {
    const bool windowed = access.lower[d] != std::numeric_limits<std::int64_t>::min();
    const std::int64_t low = windowed ? std::max<std::int64_t>(0, access.lower[d]) : 0;
    const std::int64_t high = windowed && access.upper[d] < shape[d] ? access.upper[d] : padded[d];
    const std::int64_t first = access.start[d], last = first + (access.count[d] - 1) * access.step[d];
    if (std::min(first, last) < low || std::max(first, last) >= high) return false;
  }
  return true;
}

}  // namespace palladion::memory_model
