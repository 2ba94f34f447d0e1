#include "semantics/simd/math_reduce.h"

#include <bit>
#include <limits>

#include "semantics/simd/math_coefficients.h"

namespace palladion::simd {
namespace {

using Wide = unsigned __int128;

// 64 bits of 2/pi starting `start` bits after the binary point; 0 before it.
std::uint64_t TwoOverPiAt(int start) {
  if (start <= -64) return 0;
  if (start < 0) return kTwoOverPiBits[0] >> -start;
  const int word = start / 64, bit = start % 64;
  const std::uint64_t high = kTwoOverPiBits[word] << bit;
  return bit == 0 ? high : high | kTwoOverPiBits[word + 1] >> (64 - bit);
}

// value * 2^exponent, value rounded to nearest; -1022 <= exponent <= 1023.
double ToDouble(std::uint64_t value, int exponent) {
  return static_cast<double>(value) * std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

}  // namespace

ReducedAngle ReduceAngle(double x) {
  if (!(x < std::numeric_limits<double>::infinity())) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    return {nan, nan, 0};
  }
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  const int exponent = static_cast<int>(bits >> 52) - 1075;  // x = m 2^exponent, m an integer of 53 bits
  const std::uint64_t m = (bits & ((std::uint64_t{1} << 52) - 1)) | std::uint64_t{1} << 52;
  // The product m * (2/pi) * 2^exponent modulo 4, to 190 bits after the point: bits of 2/pi above 2^(1 - exponent) give
  // multiples of 4, so a window of 256 bits that starts there is enough: 2 bits of quadrant, 53 consumed by m.
  const int start = exponent - 2;
  const std::uint64_t w[4] = {TwoOverPiAt(start), TwoOverPiAt(start + 64), TwoOverPiAt(start + 128),
                              TwoOverPiAt(start + 192)};
  Wide carry = static_cast<Wide>(m) * w[3] >> 64;
  carry += static_cast<Wide>(m) * w[2];
  std::uint64_t p2 = static_cast<std::uint64_t>(carry);
  carry = (carry >> 64) + static_cast<Wide>(m) * w[1];
  std::uint64_t p1 = static_cast<std::uint64_t>(carry);
  // The window's top bit weighs 2, so bit 63 of p0 does.
  std::uint64_t p0 = static_cast<std::uint64_t>(carry >> 64) + m * w[0];
  std::uint64_t quadrant = p0 >> 62;
  // The fraction, 190 bits in p0:p1:p2 shifted left by 2; if it is at least 1/2, go to the next quadrant, negative.
  std::uint64_t f0 = p0 << 2 | p1 >> 62, f1 = p1 << 2 | p2 >> 62, f2 = p2 << 2;
  const bool negative = f0 >> 63 != 0;
  if (negative) {
    ++quadrant;
    f2 = ~f2 + 1;
    f1 = ~f1 + (f2 == 0 ? 1 : 0);
    f0 = ~f0 + (f1 == 0 && f2 == 0 ? 1 : 0);
  }
  // Normalise to 128 significant bits f0:f1 = fraction * 2^(128 + zeros); at most about 62 bits cancel for a double.
  int zeros = 0;
  if (f0 == 0) {
    f0 = f1;
    f1 = f2;
    f2 = 0;
    zeros = 64;
  }
  const int more = f0 == 0 ? 0 : std::countl_zero(f0);
  if (more > 0) {
    f0 = f0 << more | f1 >> (64 - more);
    f1 = f1 << more | f2 >> (64 - more);
    zeros += more;
  }
  // Cut into three exact doubles and multiply by pi/2 as a pair: hi 32 bits by 33 bits is exact.
  const double a = ToDouble(f0 >> 32, -32 - zeros), b = ToDouble(f0 & 0xFFFFFFFF, -64 - zeros);
  const double c = ToDouble(f1 >> 32, -96 - zeros);
  const double top = a * kHalfPi1;  // 65 bits at most: not exact; its error by splitting
  const double a_hi = ToDouble(f0 >> 44, -20 - zeros), a_lo = ToDouble(f0 >> 32 & 0xFFF, -32 - zeros);
  const double top_error = (a_hi * kHalfPi1 - top) + a_lo * kHalfPi1;  // 20 * 33 and 12 * 33 bits: exact
  const double rest = top_error + (b * kHalfPi1 + (a * kHalfPi2 + (c * kHalfPi1 + b * kHalfPi2 + a * kHalfPi3)));
  const double hi = top + rest;
  const double lo = rest - (hi - top);
  return {negative ? -hi : hi, negative ? -lo : lo, quadrant & 3};
}

}  // namespace palladion::simd
