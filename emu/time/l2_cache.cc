#include "emu/time/l2_cache.h"

#include <algorithm>

namespace palladion::time {

using scheduler::Ticks;

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

void L2Cache::Use(std::int32_t line) {
  if (newest_ == line) return;
  if (At(line).here) {
    Unlink(line);
  } else {
    At(line).here = true;
    ++here_;
  }
  At(line).newer = kNone;
  At(line).older = newest_;
  if (newest_ != kNone) At(newest_).newer = line;
  newest_ = line;
  if (oldest_ == kNone) oldest_ = line;
  if (here_ <= room_) return;
  const std::int32_t gone = oldest_;
  Unlink(gone);
  At(gone).here = false;
  --here_;
}

L2Cache::Found L2Cache::Look(const GlobalBox& box, Ticks at) {
  Found found;
  for (std::int64_t plane = 0; plane < box.planes; ++plane) {
    for (std::int64_t row = 0; row < box.rows; ++row) {
      const std::int64_t first = box.first_byte + plane * box.plane_stride + row * box.row_stride;
      const std::int64_t last = (first + box.row_bytes - 1) / line_bytes_;
      for (std::int64_t number = first / line_bytes_; number <= last; ++number) {
        const std::int32_t line = Find(box.array, number);
        if (!At(line).here) {
          ++found.missed;
          At(line).asked = at;
        } else {
          ++(at - At(line).asked < together_ ? found.merged : found.hit);
          At(line).asked = std::max(At(line).asked, at);
        }
        Use(line);
      }
    }
  }
  return found;
}

}  // namespace palladion::time
