// sin, cos, tan: reduction modulo pi/2 to a pair, then one polynomial for the sine and one for the cosine.
#include "semantics/simd/math_find.h"
#include "semantics/simd/math_reduce.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "semantics/simd/math_trig.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep; must come before highway.h
#include "hwy/highway.h"
#include "semantics/simd/math_coefficients.h"
#include "semantics/simd/math_map-inl.h"
#include "semantics/simd/math_pair-inl.h"

HWY_BEFORE_NAMESPACE();
namespace palladion::simd::HWY_NAMESPACE {

template <class V, class VU>
struct Angle {
  V hi;
  V lo;
  VU quadrant;  // modulo 4 in the low bits
};

// The lanes where more than pi/2 in three parts is needed, one at a time.
template <class D, class V, class VU, class M>
HWY_NOINLINE void ReduceHardLanes(D d, V x, M hard, Angle<V, VU>& angle) {
  constexpr std::size_t kMax = 8;  // lanes of the widest target
  HWY_ALIGN double xs[kMax], his[kMax], los[kMax], flags[kMax];
  HWY_ALIGN std::uint64_t quadrants[kMax];
  const Bits<D> du;
  hn::Store(x, d, xs);
  hn::Store(angle.hi, d, his);
  hn::Store(angle.lo, d, los);
  hn::Store(angle.quadrant, du, quadrants);
  hn::Store(hn::IfThenElseZero(hard, hn::Set(d, 1.0)), d, flags);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) {
    if (flags[i] == 0) continue;
    const ReducedAngle reduced = ReduceAngle(xs[i]);
    his[i] = reduced.hi;
    los[i] = reduced.lo;
    quadrants[i] = reduced.quadrant;
  }
  angle.hi = hn::Load(d, his);
  angle.lo = hn::Load(d, los);
  angle.quadrant = hn::Load(du, quadrants);
}

// x >= 0 modulo pi/2.
template <class D, class V>
HWY_INLINE auto ReduceTrig(D d, V x) {
  const Bits<D> du;
  const V shift = hn::Set(d, 0x1.8p52);
  const V shifted = hn::Add(hn::Mul(x, hn::Set(d, kTwoOverPi)), shift);
  const V k = hn::Sub(shifted, shift);
  // k < 2^20: both products are exact, and so is the first difference.
  const V a = hn::Sub(x, hn::Mul(k, hn::Set(d, kHalfPi1)));
  const Pair<V> b = TwoSum(a, hn::Neg(hn::Mul(k, hn::Set(d, kHalfPi2))));
  const Pair<V> r = FastTwoSum(b.hi, hn::Sub(b.lo, hn::Mul(k, hn::Set(d, kHalfPi3))));
  const auto quadrant = hn::BitCast(du, shifted);
  Angle<V, hn::Vec<Bits<D>>> angle{r.hi, r.lo, quadrant};
  const auto large = hn::Gt(x, hn::Set(d, 1.6e6));
  const auto cancelled = hn::And(hn::Lt(hn::Abs(r.hi), hn::Set(d, 0x1p-20)), hn::Gt(x, hn::Set(d, 0.5)));
  const auto hard = hn::Or(large, cancelled);
  if (HWY_UNLIKELY(!hn::AllFalse(d, hard))) ReduceHardLanes(d, x, hard, angle);
  return angle;
}

// sin(hi + lo) and cos(hi + lo), |hi| <= pi/4: below 0.6 and 0.7 ulp.
template <bool kNarrow, class D, class V>
HWY_INLINE V SinReduced(D d, V hi, V lo) {
  const V z = hn::Mul(hi, hi);
  const V cube = hn::Mul(z, hi);
  const V tail = NegMad<kNarrow>(hn::Mul(z, hn::Set(d, 0.5)), lo, lo);
  return hn::Add(hi, Mad<kNarrow>(cube, Poly<kNarrow>(d, z, kSinPoly), tail));
}

template <bool kNarrow, class D, class V>
HWY_INLINE V CosReduced(D d, V hi, V lo) {
  const V one = hn::Set(d, 1.0);
  const V z = hn::Mul(hi, hi);
  const V half = hn::Mul(z, hn::Set(d, 0.5));
  const V w = hn::Sub(one, half);
  const V rest = hn::Sub(hn::Sub(one, w), half);  // what w lost
  const V tail = NegMad<kNarrow>(hi, lo, rest);
  return hn::Add(w, Mad<kNarrow>(hn::Mul(z, z), Poly<kNarrow>(d, z, kCosPoly), tail));
}

// The bit of weight 2^kBit of the quadrant as a sign.
template <int kBit, class D, class VU>
HWY_INLINE hn::Vec<D> SignFromBit(D d, VU quadrant) {
  const Bits<D> du;
  return hn::BitCast(d, hn::And(hn::ShiftLeft<63 - kBit>(quadrant), hn::Set(du, std::uint64_t{1} << 63)));
}

template <class D, class VU>
HWY_INLINE auto IsOdd(D d, VU quadrant) {
  const Bits<D> du;
  const auto one = hn::Set(du, std::uint64_t{1});
  return hn::RebindMask(d, hn::Eq(hn::And(quadrant, one), one));
}

struct SinKernel {
  static constexpr MathOp kOp = MathOp::kSin;
  template <bool kNarrow, class D, class V>
  static HWY_INLINE V Eval(D d, V x) {
    const auto angle = ReduceTrig(d, x);
    const V s = SinReduced<kNarrow>(d, angle.hi, angle.lo), c = CosReduced<kNarrow>(d, angle.hi, angle.lo);
    const V y = hn::Xor(hn::IfThenElse(IsOdd(d, angle.quadrant), c, s), SignFromBit<1>(d, angle.quadrant));
    return hn::IfThenElse(hn::Lt(x, hn::Set(d, 0x1p-30)), x, y);
  }
};

struct CosKernel {
  static constexpr MathOp kOp = MathOp::kCos;
  template <bool kNarrow, class D, class V>
  static HWY_INLINE V Eval(D d, V x) {
    const auto angle = ReduceTrig(d, x);
    const V s = SinReduced<kNarrow>(d, angle.hi, angle.lo), c = CosReduced<kNarrow>(d, angle.hi, angle.lo);
    const auto next = hn::Add(angle.quadrant, hn::Set(Bits<D>(), std::uint64_t{1}));
    return hn::Xor(hn::IfThenElse(IsOdd(d, angle.quadrant), s, c), SignFromBit<1>(d, next));
  }
};

struct TanKernel {
  static constexpr MathOp kOp = MathOp::kTan;
  template <bool kNarrow, class D, class V>
  static HWY_INLINE V Eval(D d, V x) {
    const auto angle = ReduceTrig(d, x);
    const V s = SinReduced<kNarrow>(d, angle.hi, angle.lo), c = CosReduced<kNarrow>(d, angle.hi, angle.lo);
    const auto odd = IsOdd(d, angle.quadrant);
    const V y = hn::Div(hn::IfThenElse(odd, c, s), hn::IfThenElse(odd, hn::Neg(s), c));
    return hn::IfThenElse(hn::Lt(x, hn::Set(d, 0x1p-30)), x, y);
  }
};

UnaryFn FindTrigFamily(MathOp op, DType dtype) {
  switch (op) {
    case MathOp::kSin:
      return FindFor<SinKernel>(dtype);
    case MathOp::kCos:
      return FindFor<CosKernel>(dtype);
    case MathOp::kTan:
      return FindFor<TanKernel>(dtype);
    default:
      return nullptr;
  }
}

}  // namespace palladion::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace palladion::simd {
UnaryFn FindTrigFamily(MathOp op, DType dtype, Target target) {
  switch (target) {
#if HWY_ARCH_X86
    case Target::kSsse3:
      return N_SSSE3::FindTrigFamily(op, dtype);
    case Target::kAvx2:
      return N_AVX2::FindTrigFamily(op, dtype);
    case Target::kAvx512:
      return N_AVX3::FindTrigFamily(op, dtype);
#elif HWY_ARCH_ARM_A64
    case Target::kNeon:
      return N_NEON::FindTrigFamily(op, dtype);
#endif
    default:
      return HWY_STATIC_DISPATCH(FindTrigFamily)(op, dtype);
  }
}
}  // namespace palladion::simd
#endif
