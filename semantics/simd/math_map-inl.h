// How a double-precision kernel is applied to an array of f64, f32, bf16 or f16: load, widen to double, evaluate,
// round once, put right the listed exceptions, canonicalise NaN, store. Included once for each SIMD target.
// A kernel is a struct with
//   static constexpr MathOp kOp;
//   template <bool kNarrow, class D, class V> static V Eval(D d, V x);  // |x| where RowOf(kOp).symmetry says so
// kNarrow: x is a widened f32 (24 bits, not subnormal as a double) and the result will be rounded to f32. Then fused
// multiply-add is allowed where the target has it, for the result after rounding is proved the same; without kNarrow
// every target performs the same operations.
#if defined(PALLADION_SEMANTICS_SIMD_MATH_MAP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PALLADION_SEMANTICS_SIMD_MATH_MAP_INL_H_
#undef PALLADION_SEMANTICS_SIMD_MATH_MAP_INL_H_
#else
#define PALLADION_SEMANTICS_SIMD_MATH_MAP_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "semantics/simd/math.h"
#include "semantics/simd/math_exceptions.h"

HWY_BEFORE_NAMESPACE();
namespace palladion::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
using Bits = hn::RebindToUnsigned<D>;

// a * b + c, fused only where kNarrow permits.
template <bool kNarrow, class V>
HWY_INLINE V Mad(V a, V b, V c) {
  if constexpr (kNarrow) {
    return hn::MulAdd(a, b, c);
  } else {
    return hn::Add(hn::Mul(a, b), c);
  }
}

// c - a * b.
template <bool kNarrow, class V>
HWY_INLINE V NegMad(V a, V b, V c) {
  if constexpr (kNarrow) {
    return hn::NegMulAdd(a, b, c);
  } else {
    return hn::Sub(c, hn::Mul(a, b));
  }
}

// Horner; coefficients lowest first.
template <bool kNarrow, class D, class V, int kN>
HWY_INLINE V Poly(D d, V x, const double (&c)[kN]) {
  V y = hn::Set(d, c[kN - 1]);
  for (int i = kN - 2; i >= 0; --i) y = Mad<kNarrow>(y, x, hn::Set(d, c[i]));
  return y;
}

template <class D>
HWY_INLINE hn::Vec<D> FromBits(D d, hn::Vec<Bits<D>> bits) {
  return hn::BitCast(d, bits);
}

template <class D>
HWY_INLINE hn::Vec<D> QuietNaN(D d) {
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    return hn::BitCast(d, hn::Set(Bits<D>(), std::uint64_t{0x7FF8000000000000}));
  } else {
    return hn::BitCast(d, hn::Set(Bits<D>(), std::uint32_t{0x7FC00000}));
  }
}

template <class D>
HWY_INLINE hn::Vec<D> Infinity(D d) {
  return hn::BitCast(d, hn::Set(Bits<D>(), std::uint64_t{0x7FF0000000000000}));
}

// Highway's one-lane DemoteTo turns an overflow into the largest finite float; the conversion of the language does not.
template <class DF, class V>
HWY_INLINE hn::Vec<DF> ToF32(DF df, V y) {
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(df, static_cast<float>(hn::GetLane(y)));
#else
  return hn::DemoteTo(df, y);
#endif
}

template <class DF, class V>
HWY_INLINE V ApplyExceptions(DF df, V x, V y, const Exceptions& exceptions) {
  const Bits<DF> du;
  for (int i = 0; i < exceptions.count; ++i) {
    const auto hit = hn::Eq(hn::BitCast(du, x), hn::Set(du, exceptions.entries[i].x));
    y = hn::IfThenElse(hn::RebindMask(df, hit), hn::BitCast(df, hn::Set(du, exceptions.entries[i].y)), y);
  }
  return y;
}

// y to 24 bits, rounded to odd: a second rounding, to the 8 or 11 bits of bf16 and f16, then gives what one rounding
// of y would (S. Boldo, G. Melquiond, "When double rounding is odd", IMACS 2005). Subnormal f32 results round to
// nearest.
template <class DF, class V>
HWY_INLINE hn::Vec<DF> ToF32Odd(DF df, V y) {
  const hn::DFromV<V> d;
  const Bits<decltype(d)> du;
  const auto bits = hn::BitCast(du, y);
  const auto low_mask = hn::Set(du, std::uint64_t{0x1FFFFFFF});
  const auto sticky = hn::Add(hn::And(bits, low_mask), low_mask);  // bit 29 is set if any bit below was
  const auto odd = hn::Or(bits, hn::And(sticky, hn::Set(du, std::uint64_t{0x20000000})));
  return ToF32(df, hn::BitCast(d, hn::AndNot(low_mask, odd)));
}

enum class Rounding { kNearest, kOdd };

// f32 in, f32 out: rounded to nearest, or to odd where a rounding to a narrower type follows.
template <class Kernel, Rounding kRounding, class DD, class VF>
HWY_INLINE VF EvalF32(DD dd, VF x) {
  const hn::Rebind<float, DD> df;
  const VF a = RowOf(Kernel::kOp).symmetry == Symmetry::kNone ? x : hn::Abs(x);
  const auto exact = Kernel::template Eval<true>(dd, hn::PromoteTo(dd, a));
  VF y;
  if constexpr (kRounding == Rounding::kNearest) {
    y = ApplyExceptions(df, a, ToF32(df, exact), kExceptionsF32<Kernel::kOp>);
  } else {
    y = ToF32Odd(df, exact);
  }
  if constexpr (RowOf(Kernel::kOp).symmetry == Symmetry::kOdd) y = hn::Xor(y, hn::Xor(x, a));
  const auto ordered = hn::And(hn::Eq(x, x), hn::Eq(y, y));
  return hn::IfThenElse(ordered, y, QuietNaN(df));
}

template <class Kernel, class DD, class V>
HWY_INLINE V EvalF64(DD dd, V x) {
  const V a = RowOf(Kernel::kOp).symmetry == Symmetry::kNone ? x : hn::Abs(x);
  V y = Kernel::template Eval<false>(dd, a);
  if constexpr (RowOf(Kernel::kOp).symmetry == Symmetry::kOdd) y = hn::Xor(y, hn::Xor(x, a));
  const auto ordered = hn::And(hn::Eq(x, x), hn::Eq(y, y));
  return hn::IfThenElse(ordered, y, QuietNaN(dd));
}

// One vector of the stored type in and out.
template <class Kernel>
struct F64Step {
  using T = double;
  template <class DD>
  static HWY_INLINE void Run(DD dd, const T* x, T* out) {
    hn::StoreU(EvalF64<Kernel>(dd, hn::LoadU(dd, x)), dd, out);
  }
};

template <class Kernel>
struct F32Step {
  using T = float;
  template <class DD>
  static HWY_INLINE void Run(DD dd, const T* x, T* out) {
    const hn::Rebind<float, DD> df;
    hn::StoreU(EvalF32<Kernel, Rounding::kNearest>(dd, hn::LoadU(df, x)), df, out);
  }
};

template <class Kernel>
struct BF16Step {
  using T = std::uint16_t;
  template <class DD>
  static HWY_INLINE void Run(DD dd, const T* x, T* out) {
    const hn::Rebind<float, DD> df;
    const hn::Rebind<std::uint32_t, DD> du;
    const hn::Rebind<std::int32_t, DD> di;
    const hn::Rebind<std::uint16_t, DD> d16;
    const auto wide = hn::BitCast(df, hn::ShiftLeft<16>(hn::PromoteTo(du, hn::LoadU(d16, x))));
    const auto y = hn::BitCast(du, EvalF32<Kernel, Rounding::kOdd>(dd, wide));
    const auto even = hn::And(hn::ShiftRight<16>(y), hn::Set(du, 1u));
    const auto rounded = hn::ShiftRight<16>(hn::Add(hn::Add(y, hn::Set(du, 0x7FFFu)), even));
    hn::StoreU(hn::DemoteTo(d16, hn::BitCast(di, rounded)), d16, out);
  }
};

// f16 bits in the low half of each lane -> f32.
template <class DF, class VU>
HWY_INLINE hn::Vec<DF> WidenF16(DF df, VU h) {
  const Bits<DF> du;
  const auto magnitude = hn::ShiftLeft<13>(hn::And(h, hn::Set(du, 0x7FFFu)));
  const auto sign = hn::ShiftLeft<16>(hn::And(h, hn::Set(du, 0x8000u)));
  const auto normal = hn::Add(magnitude, hn::Set(du, (127u - 15u) << 23));
  const auto special = hn::Add(normal, hn::Set(du, (128u - 16u) << 23));
  // A subnormal's bits under the exponent of 2^-14, less 2^-14, is its value.
  const auto smallest = hn::Set(du, 113u << 23);
  const auto subnormal = hn::Sub(hn::BitCast(df, hn::Add(magnitude, smallest)), hn::BitCast(df, smallest));
  const auto exponent = hn::And(magnitude, hn::Set(du, 0x7C00u << 13));
  auto y = hn::IfThenElse(hn::Eq(exponent, hn::Set(du, 0x7C00u << 13)), special, normal);
  y = hn::IfThenElse(hn::Eq(exponent, hn::Zero(du)), hn::BitCast(du, subnormal), y);
  return hn::BitCast(df, hn::Or(y, sign));
}

// f32 -> f16 bits, to nearest even; NaN must be the quiet one already.
template <class DF, class VF>
HWY_INLINE hn::Vec<Bits<DF>> NarrowF16(DF df, VF x) {
  const Bits<DF> du;
  const hn::RebindToSigned<DF> di;
  const auto bits = hn::BitCast(du, x);
  const auto magnitude = hn::And(bits, hn::Set(du, 0x7FFFFFFFu));
  const auto sign = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 0x8000u));
  const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(du, 1u));
  const auto rebias = hn::Set(du, 0u - (112u << 23) + 0xFFFu);
  const auto normal = hn::ShiftRight<13>(hn::Add(hn::Add(magnitude, rebias), odd));
  // Adding 0.5 makes the unit in the last place 2^-24, the spacing of f16 subnormals: the addition rounds.
  const auto half = hn::Set(df, 0.5f);
  const auto subnormal = hn::Sub(hn::BitCast(du, hn::Add(hn::BitCast(df, magnitude), half)), hn::BitCast(du, half));
  const auto signed_magnitude = hn::BitCast(di, magnitude);
  const auto below_normal = hn::RebindMask(du, hn::Lt(signed_magnitude, hn::Set(di, 113 << 23)));
  const auto overflow = hn::RebindMask(du, hn::Gt(signed_magnitude, hn::Set(di, 0x477FEFFF)));
  const auto nan = hn::RebindMask(du, hn::Gt(signed_magnitude, hn::Set(di, 0x7F800000)));
  auto y = hn::IfThenElse(below_normal, subnormal, normal);
  y = hn::IfThenElse(overflow, hn::Set(du, 0x7C00u), y);
  y = hn::IfThenElse(nan, hn::Set(du, 0x7E00u), y);
  return hn::Or(y, sign);
}

template <class Kernel>
struct F16Step {
  using T = std::uint16_t;
  template <class DD>
  static HWY_INLINE void Run(DD dd, const T* x, T* out) {
    const hn::Rebind<float, DD> df;
    const hn::Rebind<std::uint32_t, DD> du;
    const hn::Rebind<std::int32_t, DD> di;
    const hn::Rebind<std::uint16_t, DD> d16;
    const auto wide = WidenF16(df, hn::PromoteTo(du, hn::LoadU(d16, x)));
    const auto y = NarrowF16(df, EvalF32<Kernel, Rounding::kOdd>(dd, wide));
    hn::StoreU(hn::DemoteTo(d16, hn::BitCast(di, y)), d16, out);
  }
};

template <class Step>
HWY_NOINLINE void Map(const void* x, void* out, std::size_t n) {
  using T = typename Step::T;
  const hn::ScalableTag<double> dd;
  const std::size_t lanes = hn::Lanes(dd);
  const T* in = static_cast<const T*>(x);
  T* to = static_cast<T*>(out);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) Step::Run(dd, in + i, to + i);
  if (i == n) return;
  T tail[8] = {};  // the widest target has 8 lanes of double
  for (std::size_t k = 0; k < n - i; ++k) tail[k] = in[i + k];
  Step::Run(dd, tail, tail);
  for (std::size_t k = 0; k < n - i; ++k) to[i + k] = tail[k];
}

template <class Kernel>
UnaryFn FindFor(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return &Map<F64Step<Kernel>>;
    case DType::kF32:
      return &Map<F32Step<Kernel>>;
    case DType::kBF16:
      return &Map<BF16Step<Kernel>>;
    case DType::kF16:
      return &Map<F16Step<Kernel>>;
    default:
      return nullptr;
  }
}

}  // namespace palladion::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // PALLADION_SEMANTICS_SIMD_MATH_MAP_INL_H_
