#include "memory_model/bytes/mark_rows.h"

#include <algorithm>
#include <cstring>

namespace palladion::memory_model {
namespace {

// MergeMarks in two instructions: less one, 0 is the largest.
constexpr DefinedMark Merge(DefinedMark a, DefinedMark b) {
  return static_cast<DefinedMark>(std::min(static_cast<DefinedMark>(a - 1), static_cast<DefinedMark>(b - 1)) + 1);
}

}  // namespace

// Eight marks at a time, each as a 0 or 1 in its byte of a word.
std::size_t CountMarks(const DefinedMark* marks, std::size_t n) {
  constexpr std::uint64_t kOnes = 0x0101010101010101, kLow = 0x7f * kOnes;
  constexpr std::size_t kWords = 31;  // as many as the sum of eight bytes counts in one
  std::size_t count = 0, i = 0;
  while (i + 8 <= n) {
    std::uint64_t part = 0;
    const std::size_t end = std::min(n, i + 8 * kWords);
    for (; i + 8 <= end; i += 8) {
      std::uint64_t eight;
      std::memcpy(&eight, marks + i, sizeof(eight));
      part += ((((eight & kLow) + kLow) | eight) >> 7) & kOnes;
    }
    count += (part * kOnes) >> 56;
  }
  for (; i < n; ++i) count += marks[i] != 0 ? 1 : 0;
  return count;
}

void StoreMarks(DefinedMark* to, const DefinedMark* value, const std::uint8_t* lanes, const DefinedMark* unsure,
                std::size_t n) {
  if (value == nullptr) {
    for (std::size_t i = 0; i < n && lanes != nullptr; ++i) to[i] = lanes[i] != 0 ? DefinedMark{0} : to[i];
    if (lanes == nullptr) std::fill_n(to, n, DefinedMark{0});
  } else {
    for (std::size_t i = 0; i < n && lanes != nullptr; ++i) to[i] = lanes[i] != 0 ? value[i] : to[i];
    if (lanes == nullptr) std::copy_n(value, n, to);
  }
  for (std::size_t i = 0; i < n && unsure != nullptr; ++i)
    to[i] = unsure[i] != 0 ? Merge(ComputedMark(unsure[i]), to[i]) : to[i];
}

void MaskMarks(DefinedMark* marks, const MaskedLanes& masked, std::size_t n) {
  const auto [lanes, other, other_of_all, unsure] = masked;  // marks are bytes, which may alias a member
  if (other == nullptr) {
    for (std::size_t i = 0; i < n; ++i) marks[i] = lanes[i] != 0 ? marks[i] : other_of_all;
  } else {
    for (std::size_t i = 0; i < n; ++i) marks[i] = lanes[i] != 0 ? marks[i] : other[i];
  }
  for (std::size_t i = 0; i < n && unsure != nullptr; ++i) marks[i] = Merge(marks[i], ComputedMark(unsure[i]));
}

bool ReplaceMarks(DefinedMark* marks, DefinedMark from, DefinedMark to, std::size_t n) {
  std::uint8_t found = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const bool is = marks[i] == from;
    found = static_cast<std::uint8_t>(found | (is ? 1 : 0));
    marks[i] = is ? to : marks[i];
  }
  return found != 0;
}

}  // namespace palladion::memory_model
