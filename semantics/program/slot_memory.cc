#include "semantics/program/slot_memory.h"

#include <iterator>

namespace palladion {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t RoundUp(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

std::size_t SlotMemory::Allocate(std::size_t bytes) {
  const std::size_t need = RoundUp(bytes == 0 ? 1 : bytes);
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    if (it->second < need) continue;
    const auto [offset, have] = *it;
    free_.erase(it);
    if (have > need) free_.emplace(offset + need, have - need);
    return offset;
  }
  const std::size_t offset = size_;
  size_ += need;
  return offset;
}

void SlotMemory::Free(std::size_t offset, std::size_t bytes) {
  std::size_t length = RoundUp(bytes == 0 ? 1 : bytes);
  auto next = free_.lower_bound(offset);
  if (next != free_.end() && next->first == offset + length) {
    length += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    auto previous = std::prev(next);
    if (previous->first + previous->second == offset) {
      previous->second += length;
      return;
    }
  }
  free_.emplace(offset, length);
}

}  // namespace palladion
