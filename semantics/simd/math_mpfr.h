// For tests only: the correctly rounded value of every elementary function in any narrower binary format, from MPFR.
// erf_inv, logistic and bessel_i0e, which MPFR lacks, are made here at high precision from what it has.
// What it does not catch: a true value closer to a rounding boundary than 2^-140 of itself, other than exact cases.
#ifndef PALLADION_SEMANTICS_SIMD_MATH_MPFR_H_
#define PALLADION_SEMANTICS_SIMD_MATH_MPFR_H_

#include <mpfr.h>

#include <algorithm>
#include <bit>
#include <boost/math/special_functions/bessel.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iterator>

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
inline int MpfrErfInv(mpfr_ptr y, mpfr_srcptr x, mpfr_rnd_t) {
  const mpfr_prec_t precision = mpfr_get_prec(y);
  const int sign = mpfr_signbit(x) ? -1 : 1;
  Mpfr a(precision), c(precision), f(precision), slope(precision), step(precision);
  mpfr_abs(a.get(), x, MPFR_RNDN);
  if (mpfr_nan_p(x) || mpfr_cmp_ui(a.get(), 1) > 0) {
    mpfr_set_nan(y);
    return 0;
  }
  if (mpfr_zero_p(x) || mpfr_cmp_ui(a.get(), 1) == 0) {
    if (mpfr_zero_p(x)) {
      mpfr_set(y, x, MPFR_RNDN);
    } else {
      mpfr_set_inf(y, sign);
    }
    return 0;
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
  return 0;
}

inline int MpfrLogistic(mpfr_ptr y, mpfr_srcptr x, mpfr_rnd_t) {
  mpfr_neg(y, x, MPFR_RNDN);
  mpfr_exp(y, y, MPFR_RNDN);
  mpfr_add_ui(y, y, 1, MPFR_RNDN);
  return mpfr_ui_div(y, 1, y, MPFR_RNDN);
}

// MPFR's own gives +inf at -0.
inline int MpfrRsqrt(mpfr_ptr y, mpfr_srcptr x, mpfr_rnd_t) {
  const int ternary = mpfr_rec_sqrt(y, x, MPFR_RNDN);
  if (mpfr_zero_p(x)) mpfr_set_inf(y, mpfr_signbit(x) ? -1 : 1);
  return ternary;
}

// e^-|x| I0(x): the power series of positive terms, or from 64 on the asymptotic one, whose least term is below 2^-184.
inline int MpfrBesselI0e(mpfr_ptr y, mpfr_srcptr x, mpfr_rnd_t) {
  const mpfr_prec_t precision = mpfr_get_prec(y);
  Mpfr a(precision), term(precision), factor(precision);
  mpfr_abs(a.get(), x, MPFR_RNDN);
  if (mpfr_nan_p(x) || mpfr_inf_p(x)) return mpfr_nan_p(x) ? mpfr_set(y, x, MPFR_RNDN) : mpfr_set_ui(y, 0, MPFR_RNDN);
  const bool asymptotic = mpfr_cmp_ui(a.get(), 64) >= 0;
  if (asymptotic) {
    mpfr_mul_ui(factor.get(), a.get(), 8, MPFR_RNDN);
    mpfr_ui_div(factor.get(), 1, factor.get(), MPFR_RNDN);
  } else {
    mpfr_sqr(factor.get(), a.get(), MPFR_RNDN);
    mpfr_div_ui(factor.get(), factor.get(), 4, MPFR_RNDN);
  }
  mpfr_set_ui(term.get(), 1, MPFR_RNDN);
  mpfr_set_ui(y, 1, MPFR_RNDN);
  for (unsigned long k = 1; k < 1000; ++k) {
    mpfr_mul(term.get(), term.get(), factor.get(), MPFR_RNDN);
    if (asymptotic) mpfr_mul_ui(term.get(), term.get(), (2 * k - 1) * (2 * k - 1), MPFR_RNDN);
    mpfr_div_ui(term.get(), term.get(), asymptotic ? k : k * k, MPFR_RNDN);
    if (mpfr_zero_p(term.get()) || mpfr_get_exp(term.get()) < mpfr_get_exp(y) - precision - 4) break;
    if (asymptotic && k > 127) break;
    mpfr_add(y, y, term.get(), MPFR_RNDN);
  }
  if (asymptotic) {
    mpfr_const_pi(factor.get(), MPFR_RNDN);
    mpfr_mul(factor.get(), factor.get(), a.get(), MPFR_RNDN);
    mpfr_mul_ui(factor.get(), factor.get(), 2, MPFR_RNDN);
    mpfr_rec_sqrt(factor.get(), factor.get(), MPFR_RNDN);
  } else {
    mpfr_neg(factor.get(), a.get(), MPFR_RNDN);
    mpfr_exp(factor.get(), factor.get(), MPFR_RNDN);
  }
  return mpfr_mul(y, y, factor.get(), MPFR_RNDN);
}

inline double BoostErfInv(double x) {
  if (!(std::fabs(x) < 1)) return std::fabs(x) == 1 ? std::copysign(INFINITY, x) : NAN;
  return boost::math::erf_inv(x);
}

// Boost has no scaled one: where e^-x could underflow, the first terms of the asymptotic series.
inline double BoostBesselI0e(double x) {
  x = std::fabs(x);
  if (x < 700) return std::exp(-x) * boost::math::cyl_bessel_i(0, x);
  double sum = 1, term = 1;
  for (int k = 1; k < 8; ++k) sum += term *= (2 * k - 1) * (2 * k - 1) / (8 * k * x);
  return sum / std::sqrt(2 * M_PI) / std::sqrt(x);
}

// What every function is compared with, in the order of MathOp.
struct MathOracle {
  MathOp op;
  int (*mpfr)(mpfr_ptr y, mpfr_srcptr x, mpfr_rnd_t);  // at the precision of y, far above the format's
  double (*libm)(double);                              // within a few ulps of a double; math_exhaustive --libm
  double f64_bound;  // ulps that our f64 keeps on math_test.cc's sample; measured, rounded up
};
inline constexpr MathOracle kMathOracles[] = {
    {MathOp::kExp, &mpfr_exp, [](double x) { return std::exp(x); }, 1.0},
    {MathOp::kExp2, &mpfr_exp2, [](double x) { return std::exp2(x); }, 1.0},
    {MathOp::kExpm1, &mpfr_expm1, [](double x) { return std::expm1(x); }, 2.5},
    {MathOp::kLog, &mpfr_log, [](double x) { return std::log(x); }, 1.0},
    {MathOp::kLog2, &mpfr_log2, [](double x) { return std::log2(x); }, 2.0},
    {MathOp::kLog1p, &mpfr_log1p, [](double x) { return std::log1p(x); }, 2.0},
    {MathOp::kLogistic, &MpfrLogistic, [](double x) { return 1 / (1 + std::exp(-x)); }, 2.0},
    {MathOp::kTanh, &mpfr_tanh, [](double x) { return std::tanh(x); }, 2.5},
    {MathOp::kSqrt, &mpfr_sqrt, [](double x) { return std::sqrt(x); }, 0.5},
    {MathOp::kRsqrt, &MpfrRsqrt, [](double x) { return 1 / std::sqrt(x); }, 2.0},
    {MathOp::kCbrt, &mpfr_cbrt, [](double x) { return std::cbrt(x); }, 2.0},
    {MathOp::kSin, &mpfr_sin, [](double x) { return std::sin(x); }, 2.0},
    {MathOp::kCos, &mpfr_cos, [](double x) { return std::cos(x); }, 2.0},
    {MathOp::kTan, &mpfr_tan, [](double x) { return std::tan(x); }, 2.0},
    {MathOp::kAsin, &mpfr_asin, [](double x) { return std::asin(x); }, 2.0},
    {MathOp::kAcos, &mpfr_acos, [](double x) { return std::acos(x); }, 2.0},
    {MathOp::kAtan, &mpfr_atan, [](double x) { return std::atan(x); }, 2.0},
    {MathOp::kSinh, &mpfr_sinh, [](double x) { return std::sinh(x); }, 3.0},
    {MathOp::kCosh, &mpfr_cosh, [](double x) { return std::cosh(x); }, 2.0},
    {MathOp::kAsinh, &mpfr_asinh, [](double x) { return std::asinh(x); }, 2.0},
    {MathOp::kAcosh, &mpfr_acosh, [](double x) { return std::acosh(x); }, 2.0},
    {MathOp::kAtanh, &mpfr_atanh, [](double x) { return std::atanh(x); }, 2.0},
    {MathOp::kErf, &mpfr_erf, [](double x) { return std::erf(x); }, 2.0},
    {MathOp::kErfc, &mpfr_erfc, [](double x) { return std::erfc(x); }, 6.0},
    {MathOp::kErfInv, &MpfrErfInv, [](double x) { return BoostErfInv(x); }, 6.0},
    {MathOp::kBesselI0e, &MpfrBesselI0e, [](double x) { return BoostBesselI0e(x); }, 4.0},
};
static_assert(std::size(kMathOracles) == kMathOpCount);

inline const MathOracle& OracleOf(MathOp op) {
  const MathOracle& oracle = kMathOracles[static_cast<std::size_t>(op)];
  if (oracle.op != op) std::abort();  // the rows are out of order
  return oracle;
}

// The correctly rounded op(x) in the format.
inline double Reference(MathOp op, double x, const Format& format) {
  Mpfr in(53), y(160);
  mpfr_set_d(in.get(), x, MPFR_RNDN);
  OracleOf(op).mpfr(y.get(), in.get(), MPFR_RNDN);
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
  Mpfr in(53), y(160);
  mpfr_set_d(in.get(), x, MPFR_RNDN);
  OracleOf(op).mpfr(y.get(), in.get(), MPFR_RNDN);
  return RoundToOdd(y.get());
}

// How far a double result is from the true op(x), in units of the last place of the true value (subnormals included).
inline double UlpError(MathOp op, double x, double result) {
  const double rounded = Reference(op, x, kFormatF64);
  if (std::isnan(rounded) || std::isnan(result)) return std::isnan(rounded) && std::isnan(result) ? 0 : 1e9;
  if (std::isinf(rounded) || std::isinf(result)) return rounded == result ? 0 : 1e9;
  Mpfr in(53), y(200);
  mpfr_set_d(in.get(), x, MPFR_RNDN);
  OracleOf(op).mpfr(y.get(), in.get(), MPFR_RNDN);
  mpfr_sub_d(y.get(), y.get(), result, MPFR_RNDN);
  const int exponent = rounded == 0 ? -1074 : std::max(std::ilogb(rounded) - 52, -1074);
  mpfr_mul_2si(y.get(), y.get(), -exponent, MPFR_RNDN);
  return std::fabs(mpfr_get_d(y.get(), MPFR_RNDN));
}

}  // namespace palladion::simd

#endif  // PALLADION_SEMANTICS_SIMD_MATH_MPFR_H_
