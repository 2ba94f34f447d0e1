// The core of every function that contains log. x = 2^e m with m in [0.704, 1.408), c = 1/m to 7 bits from a table of
// 128, r = c m - 1 exactly, log x = e ln2 - log c + log1p(r). The table's entry around 1 is c = 1, so near 1 nothing
// cancels. After P. T. P. Tang, "Table-driven implementation of the logarithm function in IEEE floating-point
// arithmetic", ACM TOMS 16 (1990).
#if defined(PALLADION_SEMANTICS_SIMD_MATH_LOG_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PALLADION_SEMANTICS_SIMD_MATH_LOG_INL_H_
#undef PALLADION_SEMANTICS_SIMD_MATH_LOG_INL_H_
#else
#define PALLADION_SEMANTICS_SIMD_MATH_LOG_INL_H_
#endif

#include "semantics/simd/math_coefficients.h"
#include "semantics/simd/math_map-inl.h"
#include "semantics/simd/math_pair-inl.h"

HWY_BEFORE_NAMESPACE();
namespace palladion::simd::HWY_NAMESPACE {

template <class V, class VI>
struct SplitLog {
  V e;       // exponent
  V m;       // mantissa
  VI index;  // of the table
};

// x positive, normal, finite (else garbage).
template <class D, class V>
HWY_INLINE auto SplitForLog(D d, V x) {
  const Bits<D> du;
  const hn::RebindToSigned<D> di;
  const auto bits = hn::BitCast(du, x);
  const auto offset = hn::Sub(bits, hn::Set(du, std::uint64_t{kLogOffset}));
  const auto index = hn::And(hn::ShiftRight<45>(offset), hn::Set(du, std::uint64_t{127}));
  const auto field = hn::And(offset, hn::Set(du, std::uint64_t{0xFFF0000000000000}));
  const V m = hn::BitCast(d, hn::Sub(bits, field));
  // The exponent as a double: e + 1024 in the low bits of 2^52.
  const auto biased = hn::ShiftRight<52>(hn::Add(field, hn::Set(du, std::uint64_t{1024} << 52)));
  const V shifted = hn::BitCast(d, hn::Or(biased, hn::Set(du, std::uint64_t{0x4330000000000000})));
  const V e = hn::Sub(shifted, hn::Set(d, 0x1p52 + 1024.0));
  const auto table_index = hn::BitCast(di, index);
  return SplitLog<V, decltype(table_index)>{e, m, table_index};
}

// log(x + x_lo) as a pair, relative error about 2^-60; |x_lo| <= ulp(x). x positive, normal, finite. The same
// operations on every target.
template <class D, class V>
HWY_INLINE Pair<V> LogPair(D d, V x, V x_lo) {
  const auto [e, m, index] = SplitForLog(d, x);
  // x_lo scaled as m is: m / x is a power of two, exact.
  const V m_lo = hn::Mul(x_lo, hn::Div(m, x));
  const V c = hn::GatherIndex(d, kLogC, index);
  // Rounded, not cut: just below 1, m - top must be as small as m - 1.
  const auto rounded = hn::Add(hn::BitCast(Bits<D>(), m), hn::Set(Bits<D>(), std::uint64_t{1} << 20));
  const V top = hn::BitCast(d, hn::And(rounded, hn::Set(Bits<D>(), std::uint64_t{0xFFFFFFFFFFE00000})));
  const V r_hi = hn::Sub(hn::Mul(top, c), hn::Set(d, 1.0));  // 32 * 20 bits: exact
  const V r_lo = hn::Mul(hn::Add(hn::Sub(m, top), m_lo), c);
  const V r = hn::Add(r_hi, r_lo);
  const V table_hi = hn::Add(hn::Mul(e, hn::Set(d, kLn2Hi)), hn::GatherIndex(d, kLogHi, index));  // exact
  const V table_lo = hn::Add(hn::Mul(e, hn::Set(d, kLn2Lo)), hn::GatherIndex(d, kLogLo, index));
  const Pair<V> sum = TwoSum(table_hi, r_hi);
  const V rest = hn::Mul(hn::Mul(r, r), Poly<false>(d, r, kLogPoly6));
  return FastTwoSum(sum.hi, hn::Add(hn::Add(sum.lo, hn::Add(table_lo, r_lo)), rest));
}

// log(x) of a widened f32, x positive and finite: error below 1 ulp of a double.
template <class D, class V>
HWY_INLINE V LogNarrow(D d, V x) {
  const auto [e, m, index] = SplitForLog(d, x);
  const V r = hn::MulSub(m, hn::GatherIndex(d, kLogC, index), hn::Set(d, 1.0));  // 24 * 20 bits: exact
  const V hi = Mad<true>(e, hn::Set(d, kLn2), hn::GatherIndex(d, kLogFull, index));
  const V log1p = Mad<true>(hn::Mul(r, r), Poly<true>(d, r, kLogPoly5), r);
  return hn::Add(hi, log1p);
}

// The logarithm's special cases: y where x is positive and finite, else +inf, -inf (x = 0) or NaN.
template <class D, class V>
HWY_INLINE V LogSpecial(D d, V x, V y) {
  const V zero = hn::Zero(d);
  y = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(Infinity(d)), y);
  y = hn::IfThenElse(hn::Lt(x, zero), QuietNaN(d), y);
  return hn::IfThenElse(hn::Eq(x, Infinity(d)), x, y);
}

template <bool kNarrow, class D, class V>
HWY_INLINE V Log(D d, V x) {
  if constexpr (kNarrow) {
    return LogSpecial(d, x, LogNarrow(d, x));
  } else {
    const auto tiny = hn::Lt(x, hn::Set(d, 0x1p-1022));
    const V scaled = hn::IfThenElse(tiny, hn::Mul(x, hn::Set(d, 0x1p54)), x);
    const Pair<V> y = LogPair(d, scaled, hn::Zero(d));
    const V shift = hn::IfThenElseZero(tiny, hn::Set(d, -54.0 * kLn2));
    return LogSpecial(d, x, hn::Add(hn::Add(y.hi, shift), y.lo));
  }
}

// e + log(m) / ln2: exact for powers of two, whose m is 1, and near 1, where e is 0.
template <class D, class V>
HWY_INLINE V Log2(D d, V x) {
  const auto tiny = hn::Lt(x, hn::Set(d, 0x1p-1022));
  const V scaled = hn::IfThenElse(tiny, hn::Mul(x, hn::Set(d, 0x1p54)), x);
  const auto [e, m, index] = SplitForLog(d, scaled);
  const Pair<V> y = LogPair(d, m, hn::Zero(d));
  const Pair<V> scaled_hi = TwoProd(y.hi, hn::Set(d, kInvLn2));
  const V rest = hn::Add(hn::Mul(y.hi, hn::Set(d, kInvLn2Lo)), hn::Mul(y.lo, hn::Set(d, kInvLn2)));
  const V exponent = hn::Sub(e, hn::IfThenElseZero(tiny, hn::Set(d, 54.0)));
  const Pair<V> sum = TwoSum(exponent, scaled_hi.hi);
  return LogSpecial(d, x, hn::Add(sum.hi, hn::Add(sum.lo, hn::Add(scaled_hi.lo, rest))));
}

}  // namespace palladion::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // PALLADION_SEMANTICS_SIMD_MATH_LOG_INL_H_
