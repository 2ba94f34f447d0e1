// Saturating sums and products, for numbers of a kernel's text, which may be arbitrarily large: a result that does not
// fit into 64 bits is the largest or the smallest number that does. For comparisons with a limit, not for addresses.
#ifndef PALLADION_SEMANTICS_BASE_SATURATING_H_
#define PALLADION_SEMANTICS_BASE_SATURATING_H_

#include <cstdint>
#include <limits>

namespace palladion {

constexpr std::int64_t SaturatingAdd(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}

constexpr std::int64_t SaturatingMultiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a < 0) == (b < 0) ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}

constexpr std::int64_t RoundUp(std::int64_t n, std::int64_t multiple) {
  return SaturatingAdd(n, multiple - 1) / multiple * multiple;
}

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_BASE_SATURATING_H_
