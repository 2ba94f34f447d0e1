// The core of every function that contains the arc tangent: atan(p/q) for 0 <= p <= q. With c = i/16 nearest to p/q,
// atan(p/q) = atan(c) + atan((p - c q) / (q + c p)), a table of 17 entries and a short polynomial.
#if defined(PALLADION_SEMANTICS_SIMD_MATH_ATAN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PALLADION_SEMANTICS_SIMD_MATH_ATAN_INL_H_
#undef PALLADION_SEMANTICS_SIMD_MATH_ATAN_INL_H_
#else
#define PALLADION_SEMANTICS_SIMD_MATH_ATAN_INL_H_
#endif

#include "semantics/simd/math_coefficients.h"
#include "semantics/simd/math_map-inl.h"

HWY_BEFORE_NAMESPACE();
namespace palladion::simd::HWY_NAMESPACE {

// q > 0 and finite. Below 1.5 ulp.
template <bool kNarrow, class D, class V>
HWY_INLINE V AtanRatio(D d, V p, V q) {
  const Bits<D> du;
  const hn::RebindToSigned<D> di;
  const V shift = hn::Set(d, 0x1.8p48);  // unit in the last place: 1/16
  const V shifted = hn::Add(hn::Div(p, q), shift);
  const V c = hn::Sub(shifted, shift);
  // NaN must not index beyond the table: 31 entries are there in name only, so clamp.
  const auto raw = hn::And(hn::BitCast(du, shifted), hn::Set(du, std::uint64_t{31}));
  const auto index = hn::BitCast(di, hn::IfThenElseZero(hn::RebindMask(du, hn::Le(p, q)), raw));
  const V t = hn::Div(NegMad<kNarrow>(c, q, p), Mad<kNarrow>(c, p, q));
  const V z = hn::Mul(t, t);
  const V tail = Mad<kNarrow>(hn::Mul(z, t), Poly<kNarrow>(d, z, kAtanPoly), hn::GatherIndex(d, kAtanLo, index));
  return hn::Add(hn::GatherIndex(d, kAtanHi, index), hn::Add(t, tail));
}

// pi/2 - y.
template <class D, class V>
HWY_INLINE V HalfPiMinus(D d, V y) {
  return hn::Sub(hn::Set(d, kHalfPiHi), hn::Sub(y, hn::Set(d, kHalfPiLo)));
}

// The angle in [0, pi/2] of the point (x, y), x, y >= 0, finite, not both 0.
template <bool kNarrow, class D, class V>
HWY_INLINE V AtanQuadrant(D d, V y, V x) {
  const auto steep = hn::Gt(y, x);
  const V angle = AtanRatio<kNarrow>(d, hn::IfThenElse(steep, x, y), hn::IfThenElse(steep, y, x));
  return hn::IfThenElse(steep, HalfPiMinus(d, angle), angle);
}

}  // namespace palladion::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // PALLADION_SEMANTICS_SIMD_MATH_ATAN_INL_H_
