// The core of every function that contains e^x. x = (16 e + j) ln2/16 + r, |r| <= ln2/32, so e^x = 2^e 2^(j/16) e^r: a
// table of 16 entries (two AVX-512 registers) and a short polynomial, after P. T. P. Tang, "Table-driven
// implementation of the exponential function in IEEE floating-point arithmetic", ACM TOMS 15 (1989).
#if defined(PALLADION_SEMANTICS_SIMD_MATH_EXP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PALLADION_SEMANTICS_SIMD_MATH_EXP_INL_H_
#undef PALLADION_SEMANTICS_SIMD_MATH_EXP_INL_H_
#else
#define PALLADION_SEMANTICS_SIMD_MATH_EXP_INL_H_
#endif

#include "semantics/simd/math_coefficients.h"
#include "semantics/simd/math_map-inl.h"

HWY_BEFORE_NAMESPACE();
namespace palladion::simd::HWY_NAMESPACE {

// Entry (index mod 16) of a table of 16.
template <class D, class VU>
HWY_INLINE hn::Vec<D> Lookup16(D d, const double* table, VU index) {
#if HWY_TARGET == HWY_AVX3
  return hn::Vec<D>{_mm512_permutex2var_pd(hn::LoadU(d, table).raw, index.raw, hn::LoadU(d, table + 8).raw)};
#else
  const hn::RebindToSigned<D> di;
  return hn::GatherIndex(d, table, hn::BitCast(di, hn::And(index, hn::Set(Bits<D>(), std::uint64_t{15}))));
#endif
}

// x split for a table of 16 steps: bits 0..3 of `index` are j, the bits above are e (two's complement); r is the rest.
template <class V, class VU>
struct Reduced {
  VU index;
  V r;
};

// 1.5 * 2^52: a double of this size holds an integer in its low bits, so adding it rounds to an integer.
inline constexpr double kRoundToInteger = 0x1.8p52;

template <bool kNarrow, class D, class V>
HWY_INLINE auto ReduceExp(D d, V x) {
  const V shift = hn::Set(d, kRoundToInteger);
  const V shifted = Mad<kNarrow>(x, hn::Set(d, kExpInvStep), shift);
  const V k = hn::Sub(shifted, shift);
  V r = NegMad<kNarrow>(k, hn::Set(d, kExpStepHi), x);  // exact: |k| < 2^15, the constant has 38 bits
  r = NegMad<kNarrow>(k, hn::Set(d, kExpStepLo), r);
  const auto index = hn::BitCast(Bits<D>(), shifted);
  return Reduced<V, decltype(index)>{index, r};
}

// e^r - 1 for a reduced r.
template <bool kNarrow, class D, class V>
HWY_INLINE V ExpReducedM1(D d, V r) {
  const V q = [&]() HWY_ATTR {
    if constexpr (kNarrow) {
      return Poly<kNarrow>(d, r, kExpPoly4);
    } else {
      return Poly<kNarrow>(d, r, kExpPoly5);
    }
  }();
  return Mad<kNarrow>(hn::Mul(r, r), q, r);
}

// v * 2^e by the exponent field, e from a reduced index; the result must be normal.
template <class D, class V, class VU>
HWY_INLINE V ScaleNormal(D d, V v, VU index) {
  const Bits<D> du;
  const auto e = hn::ShiftLeft<48>(hn::AndNot(hn::Set(du, std::uint64_t{15}), index));
  return hn::BitCast(d, hn::Add(hn::BitCast(du, v), e));
}

// v * 2^e for v near 1 and any e from -2046 to 2046, in two steps so that one rounding at most is inexact.
template <class D, class V, class VU>
HWY_INLINE V ScaleAny(D d, V v, VU index) {
  const Bits<D> du;
  // e + 2048 from the low 16 bits of the index.
  const auto biased =
      hn::And(hn::Add(hn::ShiftRight<4>(index), hn::Set(du, std::uint64_t{2048})), hn::Set(du, std::uint64_t{0xFFF}));
  const auto first = hn::ShiftRight<1>(biased);
  const auto second = hn::Sub(biased, first);
  const auto one_less = hn::Set(du, std::uint64_t{1});
  const V s1 = hn::BitCast(d, hn::ShiftLeft<52>(hn::Sub(first, one_less)));
  const V s2 = hn::BitCast(d, hn::ShiftLeft<52>(hn::Sub(second, one_less)));
  return hn::Mul(hn::Mul(v, s1), s2);
}

template <class D, class V>
HWY_INLINE V Clamp(D d, V x, double low, double high) {
  return hn::Min(hn::Max(x, hn::Set(d, low)), hn::Set(d, high));
}

// e^x; NaN gives garbage. On f64 within 0.6 ulp (0.51 from the core; more where the result is subnormal).
template <bool kNarrow, class D, class V>
HWY_INLINE V Exp(D d, V x) {
  if constexpr (kNarrow) {
    const auto [index, r] = ReduceExp<true>(d, Clamp(d, x, -150.0, 130.0));
    const V t = ScaleNormal(d, Lookup16(d, kExpTable, index), index);
    return Mad<true>(t, ExpReducedM1<true>(d, r), t);
  } else {
    const auto [index, r] = ReduceExp<false>(d, Clamp(d, x, -760.0, 710.0));
    const V t = Lookup16(d, kExpTable, index);
    const V low = Mad<false>(t, ExpReducedM1<false>(d, r), Lookup16(d, kExpTableLo, index));
    return ScaleAny(d, hn::Add(t, low), index);
  }
}

// e^x - 1, relative error below 1 ulp also near 0: with e = j = 0 it is the polynomial alone, and elsewhere
// 2^e 2^(j/16) - 1 is exact in the leading part. x in [-50, 710]; more is clamped.
template <bool kNarrow, class D, class V>
HWY_INLINE V Expm1(D d, V x) {
  // Half the value, so that e = 1024 does not overflow before -1/2 is added.
  const auto [index, r] = ReduceExp<kNarrow>(d, Clamp(d, x, -50.0, 710.0));
  const V half = hn::Set(d, 0.5);
  const V table = Lookup16(d, kExpTable, index);
  const V t = ScaleNormal(d, hn::Mul(table, half), index);
  // The low parts are scaled by t / table, a power of two: through the same exponent field.
  const V scale = ScaleNormal(d, half, index);
  const V low = Mad<kNarrow>(t, ExpReducedM1<kNarrow>(d, r), hn::Mul(scale, Lookup16(d, kExpTableLo, index)));
  const V y = hn::Add(hn::Sub(t, half), low);
  return hn::Add(y, y);
}

}  // namespace palladion::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // PALLADION_SEMANTICS_SIMD_MATH_EXP_INL_H_
