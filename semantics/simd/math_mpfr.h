// For tests only: the correctly rounded value of every elementary function in any narrower binary format, from MPFR.
// erf_inv and logistic, which MPFR lacks, are made here from MPFR's erf, erfc and exp at high precision.
// What it does not catch: a true value closer to a rounding boundary than 2^-140 of itself, other than exact cases.
#ifndef PALLADION_SEMANTICS_SIMD_MATH_MPFR_H_
#define PALLADION_SEMANTICS_SIMD_MATH_MPFR_H_

#include <mpfr.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "semantics/simd/math.h"

namespace palladion::simd {

// A binary format by its precision and the exponents of MPFR's convention (0.1xxx * 2^e).
struct Format {
  int precision;
  int emin;
  int emax;
};
inline constexpr Format kFormatF64 = {53, -1073, 1024};
inline constexpr Format kFormatF32 = {24, -148, 128};
inline constexpr Format kFormatBF16 = {8, -132, 128};
inline constexpr Format kFormatF16 = {11, -23, 16};

class Mpfr {
 public:
  explicit Mpfr(int precision) { mpfr_init2(value_, precision); }
  ~Mpfr() { mpfr_clear(value_); }
  Mpfr(const Mpfr&) = delete;
  Mpfr& operator=(const Mpfr&) = delete;
  mpfr_ptr get() { return value_; }

 private:
  mpfr_t value_;
};

// x rounded once to the format, as a double (every format fits in one).
inline double RoundTo(mpfr_ptr x, const Format& format) {
  const mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
  Mpfr y(format.precision);
  mpfr_set_emin(format.emin);
  mpfr_set_emax(format.emax);
  int ternary = mpfr_set(y.get(), x, MPFR_RNDN);
  ternary = mpfr_check_range(y.get(), ternary, MPFR_RNDN);
  mpfr_subnormalize(y.get(), ternary, MPFR_RNDN);
  const double rounded = mpfr_get_d(y.get(), MPFR_RNDN);
  mpfr_set_emin(emin);
  mpfr_set_emax(emax);
  return rounded;
}

// Newton's iteration on log erfc (x > 0.5) or erf, from zero knowledge but monotone: doubling the digits at the end.
inline void MpfrErfInv(mpfr_ptr y, mpfr_ptr x, int precision) {
  const int sign = mpfr_signbit(x) ? -1 : 1;
  Mpfr a(precision), c(precision), f(precision), slope(precision), step(precision);
  mpfr_abs(a.get(), x, MPFR_RNDN);
  if (mpfr_nan_p(x) || mpfr_cmp_ui(a.get(), 1) > 0) {
    mpfr_set_nan(y);
    return;
  }
  if (mpfr_zero_p(x) || mpfr_cmp_ui(a.get(), 1) == 0) {
    if (mpfr_zero_p(x)) {
      mpfr_set(y, x, MPFR_RNDN);
    } else {
      mpfr_set_inf(y, sign);
    }
    return;
  }
  mpfr_ui_sub(c.get(), 1, a.get(), MPFR_RNDN);  // 1 - |x|
  const bool tail = mpfr_cmp_d(a.get(), 0.5) > 0;
  // Start: |x| sqrt(pi) / 2, or 0.9 sqrt(-log(1 - |x|)) which is left of the root, where -log erfc is concave enough.
  const double log_c = std::log(mpfr_get_d(c.get(), MPFR_RNDN));
  mpfr_set_d(y, tail ? 0.9 * std::sqrt(-log_c) : 0.0, MPFR_RNDN);
  if (!tail) mpfr_mul_d(y, a.get(), 0.8862269254527580, MPFR_RNDN);
  for (int i = 0; i < 60; ++i) {
    mpfr_sqr(slope.get(), y, MPFR_RNDN);
    mpfr_neg(slope.get(), slope.get(), MPFR_RNDN);
    mpfr_exp(slope.get(), slope.get(), MPFR_RNDN);
    mpfr_const_pi(step.get(), MPFR_RNDN);
    mpfr_sqrt(step.get(), step.get(), MPFR_RNDN);
    mpfr_div(slope.get(), slope.get(), step.get(), MPFR_RNDN);
    mpfr_mul_2ui(slope.get(), slope.get(), 1, MPFR_RNDN);  // erf'
    if (tail) {
      mpfr_erfc(f.get(), y, MPFR_RNDN);  // d(log erfc) = -erf' / erfc
      mpfr_div(step.get(), f.get(), c.get(), MPFR_RNDN);
      mpfr_log(step.get(), step.get(), MPFR_RNDN);
      mpfr_mul(step.get(), step.get(), f.get(), MPFR_RNDN);
    } else {
      mpfr_erf(f.get(), y, MPFR_RNDN);
      mpfr_sub(step.get(), a.get(), f.get(), MPFR_RNDN);
    }
    mpfr_div(step.get(), step.get(), slope.get(), MPFR_RNDN);
    mpfr_add(y, y, step.get(), MPFR_RNDN);
    if (mpfr_zero_p(step.get()) || mpfr_get_exp(step.get()) < mpfr_get_exp(y) - precision + 4) break;
  }
  if (sign < 0) mpfr_neg(y, y, MPFR_RNDN);
}

inline void MpfrLogistic(mpfr_ptr y, mpfr_ptr x) {
  mpfr_neg(y, x, MPFR_RNDN);
  mpfr_exp(y, y, MPFR_RNDN);
  mpfr_add_ui(y, y, 1, MPFR_RNDN);
  mpfr_ui_div(y, 1, y, MPFR_RNDN);
}

// op(x) at the precision of y, far above the format's.
inline void MpfrCompute(MathOp op, mpfr_ptr y, mpfr_ptr x) {
  constexpr mpfr_rnd_t kNear = MPFR_RNDN;
  switch (op) {
    case MathOp::kExp:
      mpfr_exp(y, x, kNear);
      return;
    case MathOp::kExp2:
      mpfr_exp2(y, x, kNear);
      return;
    case MathOp::kExpm1:
      mpfr_expm1(y, x, kNear);
      return;
    case MathOp::kLog:
      mpfr_log(y, x, kNear);
      return;
    case MathOp::kLog2:
      mpfr_log2(y, x, kNear);
      return;
    case MathOp::kLog1p:
      mpfr_log1p(y, x, kNear);
      return;
    case MathOp::kLogistic:
      MpfrLogistic(y, x);
      return;
    case MathOp::kTanh:
      mpfr_tanh(y, x, kNear);
      return;
    case MathOp::kSqrt:
      mpfr_sqrt(y, x, kNear);
      return;
    case MathOp::kRsqrt:
      mpfr_rec_sqrt(y, x, kNear);
      return;
    case MathOp::kCbrt:
      mpfr_cbrt(y, x, kNear);
      return;
    case MathOp::kSin:
      mpfr_sin(y, x, kNear);
      return;
    case MathOp::kCos:
      mpfr_cos(y, x, kNear);
      return;
    case MathOp::kTan:
      mpfr_tan(y, x, kNear);
      return;
    case MathOp::kAsin:
      mpfr_asin(y, x, kNear);
      return;
    case MathOp::kAcos:
      mpfr_acos(y, x, kNear);
      return;
    case MathOp::kAtan:
      mpfr_atan(y, x, kNear);
      return;
    case MathOp::kSinh:
      mpfr_sinh(y, x, kNear);
      return;
    case MathOp::kCosh:
      mpfr_cosh(y, x, kNear);
      return;
    case MathOp::kAsinh:
      mpfr_asinh(y, x, kNear);
      return;
    case MathOp::kAcosh:
      mpfr_acosh(y, x, kNear);
      return;
    case MathOp::kAtanh:
      mpfr_atanh(y, x, kNear);
      return;
    case MathOp::kErf:
      mpfr_erf(y, x, kNear);
      return;
    case MathOp::kErfc:
      mpfr_erfc(y, x, kNear);
      return;
    case MathOp::kErfInv:
      MpfrErfInv(y, x, static_cast<int>(mpfr_get_prec(y)));
      return;
  }
}

// The correctly rounded op(x) in the format.
inline double Reference(MathOp op, double x, const Format& format) {
  if (op == MathOp::kRsqrt && x == 0) return std::copysign(std::numeric_limits<double>::infinity(), x);  // MPFR: +inf
  Mpfr in(53), y(160);
  mpfr_set_d(in.get(), x, MPFR_RNDN);
  MpfrCompute(op, y.get(), in.get());
  return RoundTo(y.get(), format);
}

// x rounded to odd: the double that any further rounding treats as x itself.
inline double RoundToOdd(mpfr_ptr x) {
  const double y = mpfr_get_d(x, MPFR_RNDZ);
  if (mpfr_cmp_d(x, y) == 0 || !std::isfinite(y)) return y;
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(y) | 1);
}

// op(x) rounded to odd, for types so narrow that a second rounding follows.
inline double ReferenceOdd(MathOp op, double x) {
  if (std::isnan(x)) return x;
  if (op == MathOp::kRsqrt && x == 0) return std::copysign(std::numeric_limits<double>::infinity(), x);  // MPFR: +inf
  Mpfr in(53), y(160);
  mpfr_set_d(in.get(), x, MPFR_RNDN);
  MpfrCompute(op, y.get(), in.get());
  return RoundToOdd(y.get());
}

// How far a double result is from the true op(x), in units of the last place of the true value (subnormals included).
inline double UlpError(MathOp op, double x, double result) {
  const double rounded = Reference(op, x, kFormatF64);
  if (std::isnan(rounded) || std::isnan(result)) return std::isnan(rounded) && std::isnan(result) ? 0 : 1e9;
  if (std::isinf(rounded) || std::isinf(result)) return rounded == result ? 0 : 1e9;
  Mpfr in(53), y(200);
  mpfr_set_d(in.get(), x, MPFR_RNDN);
  MpfrCompute(op, y.get(), in.get());
  mpfr_sub_d(y.get(), y.get(), result, MPFR_RNDN);
  const int exponent = rounded == 0 ? -1074 : std::max(std::ilogb(rounded) - 52, -1074);
  mpfr_mul_2si(y.get(), y.get(), -exponent, MPFR_RNDN);
  return std::fabs(mpfr_get_d(y.get(), MPFR_RNDN));
}

}  // namespace palladion::simd

#endif  // PALLADION_SEMANTICS_SIMD_MATH_MPFR_H_
