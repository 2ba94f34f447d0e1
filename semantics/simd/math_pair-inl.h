// Sums and products without error, as unevaluated pairs hi + lo. The same bits with and without fused multiply-add.
// Based on: T. J. Dekker, "A floating-point technique for extending the available precision", Numer. Math. 18 (1971).
#if defined(PALLADION_SEMANTICS_SIMD_MATH_PAIR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PALLADION_SEMANTICS_SIMD_MATH_PAIR_INL_H_
#undef PALLADION_SEMANTICS_SIMD_MATH_PAIR_INL_H_
#else
#define PALLADION_SEMANTICS_SIMD_MATH_PAIR_INL_H_
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace palladion::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class V>
struct Pair {
  V hi;
  V lo;
};

// a + b without error, |a| >= |b| or a = 0.
template <class V>
HWY_INLINE Pair<V> FastTwoSum(V a, V b) {
  const V s = hn::Add(a, b);
  return {s, hn::Sub(b, hn::Sub(s, a))};
}

// a + b without error.
template <class V>
HWY_INLINE Pair<V> TwoSum(V a, V b) {
  const V s = hn::Add(a, b);
  const V bb = hn::Sub(s, a);
  return {s, hn::Add(hn::Sub(a, hn::Sub(s, bb)), hn::Sub(b, bb))};
}

// a * b without error if nothing overflows (|a|, |b| < 2^990) or underflows (|a b| > 2^-960 or 0).
template <class V>
HWY_INLINE Pair<V> TwoProd(V a, V b) {
  const V p = hn::Mul(a, b);
#if HWY_NATIVE_FMA
  return {p, hn::MulSub(a, b, p)};
#else
  const hn::DFromV<V> d;
  const V split = hn::Set(d, 134217729.0);  // 2^27 + 1
  const V ta = hn::Mul(a, split), tb = hn::Mul(b, split);
  const V a_hi = hn::Sub(ta, hn::Sub(ta, a)), b_hi = hn::Sub(tb, hn::Sub(tb, b));
  const V a_lo = hn::Sub(a, a_hi), b_lo = hn::Sub(b, b_hi);
  // Exact in this order.
  V e = hn::Sub(hn::Mul(a_hi, b_hi), p);
  e = hn::Add(hn::Add(e, hn::Mul(a_hi, b_lo)), hn::Mul(a_lo, b_hi));
  return {p, hn::Add(e, hn::Mul(a_lo, b_lo))};
#endif
}

}  // namespace palladion::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // PALLADION_SEMANTICS_SIMD_MATH_PAIR_INL_H_
