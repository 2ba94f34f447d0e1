// Double-double arithmetic (T. J. Dekker, Numer. Math. 18 (1971)); std::fma is exact on every host.
// Why kOdd is right: the result is known to 2^-88 of itself, so only a true value that close to the midpoint of two
// 24-bit numbers could be rounded wrongly. For pow such a value is exact with overwhelming likelihood (2^64 pairs of
// f32, of which the non-trivial are fewer than 2^58, put the closest inexact one near 2^-83), so a value within 2^-88
// of a double is taken to be it. atan2 of non-zero rationals is transcendental: never exact, only y/x itself can be,
// and atan is below it. What is not proved: that no inexact pow lies within 2^-88 of a midpoint.
#include "semantics/simd/math_exact.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "semantics/simd/math_coefficients.h"

namespace palladion::simd {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Sum2 {
  double hi;
  double lo;
};

Sum2 Fast(double a, double b) {  // |a| >= |b| or a = 0
  const double s = a + b;
  return {s, b - (s - a)};
}

Sum2 Two(double a, double b) {
  const double s = a + b, bb = s - a;
  return {s, (a - (s - bb)) + (b - bb)};
}

Sum2 Product(double a, double b) {
  const double p = a * b;
  return {p, std::fma(a, b, -p)};
}

Sum2 Add(Sum2 a, Sum2 b) {
  Sum2 s = Two(a.hi, b.hi);
  const Sum2 t = Two(a.lo, b.lo);
  s = Fast(s.hi, s.lo + t.hi);
  return Fast(s.hi, s.lo + t.lo);
}

Sum2 Mul(Sum2 a, Sum2 b) {
  const Sum2 p = Product(a.hi, b.hi);
  return Fast(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

Sum2 Div(Sum2 a, Sum2 b) {
  const double q = a.hi / b.hi;
  const Sum2 p = Mul({q, 0}, b);
  const Sum2 r = Add(a, {-p.hi, -p.lo});
  const double q2 = r.hi / b.hi;
  const Sum2 p2 = Mul({q2, 0}, b);
  const Sum2 r2 = Add(r, {-p2.hi, -p2.lo});
  return Add(Fast(q, q2), {r2.hi / b.hi, 0});
}

// 2^e, e from -1022 to 1023.
double Power2(int e) { return std::bit_cast<double>(static_cast<std::uint64_t>(e + 1023) << 52); }

double ToOdd(Sum2 v) {
  if (std::fabs(v.lo) < std::fabs(v.hi) * 0x1p-88) return v.hi;
  const auto bits = std::bit_cast<std::uint64_t>(v.hi);
  if ((bits & 1) != 0) return v.hi;
  const bool outward = (v.lo > 0) == (v.hi > 0);
  return std::bit_cast<double>(outward ? bits + 1 : bits - 1);
}

// log x for finite x > 0: relative error about 2^-96 away from 1, where it is 2^-100 by the series alone.
Sum2 LogPair(double x) {
  int shift = 0;
  if (x < 0x1p-1022) {
    x *= 0x1p54;
    shift = -54;
  }
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t offset = bits - kLogOffset;
  const std::size_t i = offset >> 45 & 127;
  const double e = static_cast<double>(static_cast<std::int64_t>(offset) >> 52) + shift;
  const double m = std::bit_cast<double>(bits - (offset & 0xFFF0000000000000));
  const Sum2 product = Product(m, kLogC[i]);
  const Sum2 r = Fast(product.hi - 1.0, product.lo);
  // log1p(r) = r - r^2/2 + r^3/3 - ...; |r| < 2^-8, so 14 terms leave 2^-115.
  Sum2 series = Div({1, 0}, {14, 0});
  for (int k = 13; k >= 1; --k) {
    series = Add(Div({1, 0}, {static_cast<double>(k), 0}), Mul({-r.hi, -r.lo}, series));
  }
  series = Mul(series, r);
  Sum2 sum = Add(Product(e, kLn2Lo), {e * kLn2Lo2, 0});
  sum = Add(sum, Two(kLogLo[i], kLogLo2[i]));
  sum = Add(sum, series);
  return Add({e * kLn2Hi + kLogHi[i], 0}, sum);  // the leading part is exact
}

struct Scaled {
  Sum2 value;  // about 1
  int exponent;
};

// e^p, |p| < 1100.
Scaled Exp(Sum2 p) {
  const double k = std::nearbyint(p.hi * kExpInvStep);
  Sum2 r = Add(Two(p.hi - k * kExpStepHi, p.lo), Product(-k, kExpStepLo));
  r = Add(r, {-k * kExpStepLo2, 0});
  Sum2 series = {1, 0};
  for (int n = 15; n >= 1; --n) {
    series = Add({1, 0}, Mul(Div(r, {static_cast<double>(n), 0}), series));
  }
  const int index = static_cast<int>(k);
  const int j = index & 15;
  return {Mul(series, {kExpTable[j], kExpTableLo[j]}), (index - j) / 16};
}

bool IsInteger(double y) { return std::nearbyint(y) == y; }
bool IsOddInteger(double y) { return std::fabs(y) < 0x1p53 && IsInteger(y) && !IsInteger(y * 0.5); }

// x^y where a factor is 0, infinite or NaN, or x = 1, -1 or negative with y no integer; false if none of these.
bool PowSpecial(double x, double y, double& result) {
  const double a = std::fabs(x);
  if (y == 0 || x == 1) {
    result = 1;
  } else if (std::isnan(x) || std::isnan(y)) {
    result = kNaN;
  } else if (std::isinf(y)) {
    result = a == 1 ? 1 : (a > 1) == (y > 0) ? kInfinity : 0;
  } else if (x == 0 || std::isinf(x)) {
    result = (a == 0) == (y > 0) ? 0 : kInfinity;
    if (std::signbit(x) && IsOddInteger(y)) result = -result;
  } else if (x < 0 && !IsInteger(y)) {
    result = kNaN;
  } else {
    return false;
  }
  return true;
}

}  // namespace

double PowExact(double x, double y, ExactRounding rounding) {
  double result;
  if (PowSpecial(x, y, result)) return result;
  const double sign = x < 0 && IsOddInteger(y) ? -1.0 : 1.0;
  const Sum2 log = LogPair(std::fabs(x));
  const double rough = y * log.hi;
  // Beyond f64: one more rounding gives infinity or zero.
  if (rough > 720) return sign * (rounding == ExactRounding::kOdd ? std::numeric_limits<double>::max() : kInfinity);
  if (rough < -760) return sign * (rounding == ExactRounding::kOdd ? 0x1p-1000 : 0.0);
  if (std::fabs(rough) < 0x1p-70) return sign;  // 1 and less than any type shows
  const Scaled power = Exp(Mul({y, 0}, log));
  if (rounding == ExactRounding::kOdd) {  // clamped: far outside f32's range, and odd either way
    const int e = power.exponent < -1000 ? -1000 : power.exponent > 1000 ? 1000 : power.exponent;
    return sign * (ToOdd(power.value) * Power2(e));
  }
  const int half = power.exponent / 2;
  return sign * ((power.value.hi * Power2(half)) * Power2(power.exponent - half));
}

namespace {

// atan(a / b) for 0 < a <= b, a / b above 2^-300.
Sum2 AtanRatioPair(double a, double b) {
  const double c = std::nearbyint(a / b * 16) / 16;
  const int i = static_cast<int>(c * 16);
  const Sum2 cb = Product(c, b), ca = Product(c, a);
  const Sum2 t = Div(Add({a, 0}, {-cb.hi, -cb.lo}), Add({b, 0}, ca));
  const Sum2 z = Mul(t, t);
  // t - t^3/3 + t^5/5 - ...; |t| <= 1/31, so terms to t^21 leave 2^-113.
  Sum2 series = Div({1, 0}, {21, 0});
  for (int k = 19; k >= 1; k -= 2) {
    series = Add(Div({1, 0}, {static_cast<double>(k), 0}), Mul({-z.hi, -z.lo}, series));
  }
  const Sum2 angle = Mul(t, series);
  return i == 0 ? angle : Add({kAtanHi[i], kAtanLo[i]}, angle);
}

// Zero or infinite coordinates; NaN was dealt with.
double Atan2Axis(double y, double x) {
  const double half_pi = kHalfPiHi;
  double angle;
  if (std::isinf(x) && std::isinf(y)) {
    angle = x > 0 ? half_pi / 2 : half_pi * 1.5;
  } else if (y == 0 || std::isinf(x)) {
    angle = std::signbit(x) ? 2 * half_pi : 0;
  } else {
    angle = half_pi;
  }
  return std::copysign(angle, y);
}

}  // namespace

double Atan2Exact(double y, double x, ExactRounding rounding) {
  if (std::isnan(x) || std::isnan(y)) return kNaN;
  if (x == 0 || y == 0 || std::isinf(x) || std::isinf(y)) return Atan2Axis(y, x);
  double a = std::fabs(y), b = std::fabs(x);
  if (rounding == ExactRounding::kNearest) {
    // Beyond 2^60 the smaller one no longer shows, except as the quotient itself. Then bring both to where nothing
    // overflows or underflows.
    if (a > b * 0x1p60 || b < a * 0x1p-60) return std::copysign(kHalfPiHi, y);
    if (b > a * 0x1p60 || a < b * 0x1p-60) return std::copysign(x < 0 ? 2 * kHalfPiHi : a / b, y);
    const double scale = b > 1 ? 0x1p-600 : 0x1p600;
    if (b > 0x1p400 || b < 0x1p-400) {
      a *= scale;
      b *= scale;
    }
  }
  const bool steep = a > b;
  Sum2 angle = steep ? AtanRatioPair(b, a) : AtanRatioPair(a, b);
  if (!steep && x > 0 && std::fabs(angle.lo) < angle.hi * 0x1p-88 && a < b * 0x1p-40) {
    angle.lo = -angle.hi * 0x1p-80;  // the quotient is exact, and the angle is below it
  }
  if (steep) angle = Add({kHalfPiHi, kHalfPiLo}, {-angle.hi, -angle.lo});
  if (x < 0) angle = Add({2 * kHalfPiHi, 2 * kHalfPiLo}, {-angle.hi, -angle.lo});
  return std::copysign(rounding == ExactRounding::kOdd ? ToOdd(angle) : angle.hi, y);
}

}  // namespace palladion::simd
