// One operation on vectors of each float type, for each SIMD target: f32 and f64 as they are; bf16 and f16 as pairs,
// the even and the odd element of each 32-bit lane widened to f32, computed there and rounded once. That rounding gives
// the type's own correctly rounded result because 24 >= 2p+2 for p = 8 and 11 (S. A. Figueroa, "When is double rounding
// innocuous?", 1995; half_float_exhaustive_main.cc shows it for every pair, subnormals included). An operation is a
// struct with `static V Apply(D d, V a, V b)`, or of one operand, on float lanes; what it gives as NaN becomes the one
// quiet NaN here. F16C serves f16 where the target has it.
#if defined(PALLADION_SEMANTICS_SIMD_FLOAT_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PALLADION_SEMANTICS_SIMD_FLOAT_LANES_INL_H_
#undef PALLADION_SEMANTICS_SIMD_FLOAT_LANES_INL_H_
#else
#define PALLADION_SEMANTICS_SIMD_FLOAT_LANES_INL_H_
#endif

#include <cstdint>

#include "hwy/highway.h"
#include "semantics/simd/vector_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace palladion::simd::HWY_NAMESPACE {
#if HWY_TARGET != HWY_STATIC_TARGET

template <class D>
HWY_INLINE hn::Vec<D> QuietNaN(D d) {
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    return hn::BitCast(d, hn::Set(hn::RebindToUnsigned<D>(), 0x7fc00000u));
  } else {
    return hn::BitCast(d, hn::Set(hn::RebindToUnsigned<D>(), 0x7ff8000000000000u));
  }
}

#if HWY_TARGET == HWY_AVX3
// One instruction where the comparison and the blend are two: a NaN of either kind becomes the first operand.
constexpr int kNaNToFirst = 0x11111100;
HWY_INLINE hn::Vec512<float> OneNaN(hn::Full512<float> d, hn::Vec512<float> v) {
  return hn::Vec512<float>{_mm512_fixupimm_ps(QuietNaN(d).raw, v.raw, _mm512_set1_epi32(kNaNToFirst), 0)};
}
HWY_INLINE hn::Vec512<double> OneNaN(hn::Full512<double> d, hn::Vec512<double> v) {
  return hn::Vec512<double>{_mm512_fixupimm_pd(QuietNaN(d).raw, v.raw, _mm512_set1_epi64(kNaNToFirst), 0)};
}
#endif

template <class D, class V>
HWY_INLINE V OneNaN(D d, V v) {
  return hn::IfThenElse(hn::IsNaN(v), QuietNaN(d), v);
}

template <class Op>
struct OnF32 {
  using T = float;
  template <class D, class... V>
  static HWY_INLINE hn::Vec<D> Apply(D d, V... v) {
    return OneNaN(d, Op::Apply(d, v...));
  }
};

template <class Op>
struct OnF64 {
  using T = double;
  template <class D, class... V>
  static HWY_INLINE hn::Vec<D> Apply(D d, V... v) {
    return OneNaN(d, Op::Apply(d, v...));
  }
};

// x86's max and min give the second operand for two zeros and for a NaN: both orders together are right for zeros,
// where the and keeps + and the or keeps -.
struct MaxNum {
  template <class D, class V>
  static HWY_INLINE V Apply(D, V a, V b) {
    const V ordered = hn::And(hn::Max(a, b), hn::Max(b, a));
    return hn::IfThenElse(hn::IsNaN(a), b, hn::IfThenElse(hn::IsNaN(b), a, ordered));
  }
};

struct MinNum {
  template <class D, class V>
  static HWY_INLINE V Apply(D, V a, V b) {
    const V ordered = hn::Or(hn::Min(a, b), hn::Min(b, a));
    return hn::IfThenElse(hn::IsNaN(a), b, hn::IfThenElse(hn::IsNaN(b), a, ordered));
  }
};

struct Max {
  template <class D, class V>
  static HWY_INLINE V Apply(D, V a, V b) {
    const V ordered = hn::And(hn::Max(a, b), hn::Max(b, a));
    return hn::IfThenElse(hn::IsNaN(a), a, hn::IfThenElse(hn::IsNaN(b), b, ordered));
  }
};

struct Min {
  template <class D, class V>
  static HWY_INLINE V Apply(D, V a, V b) {
    const V ordered = hn::Or(hn::Min(a, b), hn::Min(b, a));
    return hn::IfThenElse(hn::IsNaN(a), a, hn::IfThenElse(hn::IsNaN(b), b, ordered));
  }
};

// What rounds bits 16..31 of f32 lanes to nearest even. A NaN here comes from bf16 operands or is the processor's own,
// so its low half is zero and its high half stays.
template <class DU, class VU>
HWY_INLINE VU RoundToHighHalf(DU du, VU bits) {
  const VU odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1u));
  return hn::Add(hn::Add(bits, hn::Set(du, 0x7fffu)), odd);
}

// The high halves of both, even lanes from `even`; any NaN becomes the one of bf16.
template <class D, class VU>
HWY_INLINE hn::Vec<D> MergeBF16(D d, VU even, VU odd) {
  const hn::RebindToSigned<D> di;
#if HWY_TARGET <= HWY_AVX2  // smaller is better: a blend in one instruction
  const auto merged = hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<16>(even)));
#else
  const auto merged =
      hn::BitCast(d, hn::Or(hn::And(odd, hn::Set(hn::RepartitionToWide<D>(), 0xffff0000u)), hn::ShiftRight<16>(even)));
#endif
  const auto magnitude = hn::BitCast(di, hn::And(merged, hn::Set(d, std::uint16_t{0x7fff})));
  const auto is_nan = hn::Gt(magnitude, hn::Set(di, std::int16_t{0x7f80}));
  return hn::IfThenElse(hn::RebindMask(d, is_nan), hn::Set(d, std::uint16_t{0x7fc0}), merged);
}

template <class Op>
struct OnBF16 {
  using T = std::uint16_t;
  template <class D, class... V>
  static HWY_INLINE hn::Vec<D> Apply(D d, V... v) {
    const hn::RepartitionToWide<D> du;
    const hn::RebindToFloat<decltype(du)> df;
    const auto high = hn::Set(du, 0xffff0000u);
    const auto even = Op::Apply(df, hn::BitCast(df, hn::ShiftLeft<16>(hn::BitCast(du, v)))...);
    const auto odd = Op::Apply(df, hn::BitCast(df, hn::And(hn::BitCast(du, v), high))...);
    return MergeBF16(d, RoundToHighHalf(du, hn::BitCast(du, even)), RoundToHighHalf(du, hn::BitCast(du, odd)));
  }
};

#if HWY_TARGET <= HWY_AVX2  // smaller is better: AVX2 and up have F16C

template <class Op>
struct OnF16 {
  using T = std::uint16_t;
  template <class D, class... V>
  static HWY_INLINE hn::Vec<D> Apply(D d, V... v) {
    const hn::Half<D> dhalf;
    const hn::Rebind<hwy::float16_t, decltype(dhalf)> d16;
    const hn::Rebind<float, decltype(dhalf)> df;
    const auto low = OneNaN(df, Op::Apply(df, hn::PromoteTo(df, hn::BitCast(d16, hn::LowerHalf(dhalf, v)))...));
    const auto high = OneNaN(df, Op::Apply(df, hn::PromoteTo(df, hn::BitCast(d16, hn::UpperHalf(dhalf, v)))...));
    return hn::Combine(d, hn::BitCast(dhalf, hn::DemoteTo(d16, high)), hn::BitCast(dhalf, hn::DemoteTo(d16, low)));
  }
};

#else

// f16 in the low half of each lane -> f32. A normal number is rebiased; a subnormal one gets the leading one of 2^-14,
// which is then taken off exactly.
template <class DU, class VU>
HWY_INLINE auto HalfToFloat(DU du, VU half) {
  const hn::RebindToFloat<DU> df;
  const hn::RebindToSigned<DU> di;
  const VU magnitude = hn::ShiftLeft<13>(hn::And(half, hn::Set(du, 0x7fffu)));
  const VU sign = hn::ShiftLeft<16>(hn::And(half, hn::Set(du, 0x8000u)));
  const VU normal = hn::Add(magnitude, hn::Set(du, 112u << 23));
  const auto lifted = hn::BitCast(df, hn::Add(magnitude, hn::Set(du, 113u << 23)));
  const VU subnormal = hn::BitCast(du, hn::Sub(lifted, hn::Set(df, 0x1p-14f)));
  const auto is_subnormal =
      hn::BitCast(du, hn::VecFromMask(di, hn::Lt(hn::BitCast(di, magnitude), hn::Set(di, 0x0400 << 13))));
  const auto is_special =
      hn::BitCast(du, hn::VecFromMask(di, hn::Gt(hn::BitCast(di, magnitude), hn::Set(di, 0x7bff << 13))));
  VU bits = hn::Or(hn::And(is_subnormal, subnormal), hn::AndNot(is_subnormal, normal));
  bits = hn::Or(bits, hn::And(is_special, hn::Set(du, 0x7f800000u)));
  return hn::BitCast(df, hn::Or(bits, sign));
}

// f32 lanes -> f16 in the low half of each lane, one rounding to nearest even. A subnormal result is rounded by adding
// 0.5, whose ulp is f16's smallest step. The only NaN is the quiet one.
template <class DF, class VF>
HWY_INLINE auto FloatToHalf(DF df, VF value) {
  const hn::RebindToUnsigned<DF> du;
  const hn::RebindToSigned<DF> di;
  const auto bits = hn::BitCast(du, value);
  const auto magnitude = hn::And(bits, hn::Set(du, 0x7fffffffu));
  const auto sign = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 0x8000u));
  const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(du, 1u));
  const auto rounded = hn::ShiftRight<13>(hn::Add(hn::Add(magnitude, hn::Set(du, 0xfffu)), odd));
  const auto normal = hn::Sub(rounded, hn::Set(du, 112u << 10));
  const auto shifted = hn::Add(hn::BitCast(df, magnitude), hn::Set(df, 0.5f));
  const auto subnormal = hn::Sub(hn::BitCast(du, shifted), hn::BitCast(du, hn::Set(df, 0.5f)));
  const auto i = hn::BitCast(di, magnitude);
  auto half = hn::IfThenElse(hn::RebindMask(du, hn::Lt(i, hn::Set(di, 113 << 23))), subnormal, normal);
  half = hn::IfThenElse(hn::RebindMask(du, hn::Gt(i, hn::Set(di, 0x477fefff))), hn::Set(du, 0x7c00u), half);
  half = hn::IfThenElse(hn::RebindMask(du, hn::Gt(i, hn::Set(di, 0x7f800000))), hn::Set(du, 0x7e00u), half);
  return hn::Or(half, sign);
}

template <class Op>
struct OnF16 {
  using T = std::uint16_t;
  template <class D, class... V>
  static HWY_INLINE hn::Vec<D> Apply(D d, V... v) {
    const hn::RepartitionToWide<D> du;
    const hn::RebindToFloat<decltype(du)> df;
    const auto low = hn::Set(du, 0xffffu);
    const auto even = OneNaN(df, Op::Apply(df, HalfToFloat(du, hn::And(hn::BitCast(du, v), low))...));
    const auto odd = OneNaN(df, Op::Apply(df, HalfToFloat(du, hn::ShiftRight<16>(hn::BitCast(du, v)))...));
    return hn::BitCast(d, hn::Or(FloatToHalf(df, even), hn::ShiftLeft<16>(FloatToHalf(df, odd))));
  }
};

#endif  // F16C
#endif  // HWY_TARGET != HWY_STATIC_TARGET
}  // namespace palladion::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard, per target
