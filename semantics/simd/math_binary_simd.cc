// The fast double results of pow and atan2: relative error below 2^-50 for operands that are widened f32, or NaN where
// the caller must use math_exact.h (special operands, negative bases, results far from 1).
#include "semantics/simd/math_find.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "semantics/simd/math_binary_simd.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep; must come before highway.h
#include "hwy/highway.h"
#include "semantics/simd/math_atan-inl.h"
#include "semantics/simd/math_exp-inl.h"
#include "semantics/simd/math_log-inl.h"

HWY_BEFORE_NAMESPACE();
namespace palladion::simd::HWY_NAMESPACE {

struct PowFast {
  template <class D, class V>
  static HWY_INLINE V Eval(D d, V x, V y) {
    const V huge = hn::Set(d, 0x1p200);
    const auto plain = hn::And(hn::And(hn::Gt(x, hn::Zero(d)), hn::Lt(x, huge)), hn::Lt(hn::Abs(y), huge));
    const V base = hn::IfThenElse(plain, x, hn::Set(d, 1.0));
    const V power = hn::IfThenElse(plain, y, hn::Set(d, 1.0));
    const Pair<V> log = LogPair(d, base, hn::Zero(d));
    const Pair<V> p = TwoProd(power, log.hi);
    const V p_lo = Mad<true>(power, log.lo, p.lo);
    const auto inside = hn::And(plain, hn::Lt(hn::Abs(p.hi), hn::Set(d, 150.0)));
    const auto [index, r] = ReduceExp<true>(d, Clamp(d, p.hi, -150.0, 150.0));
    const V m1 = ExpReducedM1<false>(d, hn::Add(r, p_lo));
    const V t = Lookup16(d, kExpTable, index);
    const V low = Mad<true>(t, m1, Lookup16(d, kExpTableLo, index));
    return hn::IfThenElse(inside, ScaleNormal(d, hn::Add(t, low), index), QuietNaN(d));
  }
};

struct Atan2Fast {
  template <class D, class V>
  static HWY_INLINE V Eval(D d, V y, V x) {
    const V a = hn::Abs(y), b = hn::Abs(x);
    const V zero = hn::Zero(d), inf = Infinity(d);
    const auto plain = hn::And(hn::And(hn::Gt(a, zero), hn::Lt(a, inf)), hn::And(hn::Gt(b, zero), hn::Lt(b, inf)));
    const V angle =
        AtanQuadrant<true>(d, hn::IfThenElse(plain, a, hn::Set(d, 1.0)), hn::IfThenElse(plain, b, hn::Set(d, 1.0)));
    const V mirrored = hn::Sub(hn::Set(d, 2 * kHalfPiHi), hn::Sub(angle, hn::Set(d, 2 * kHalfPiLo)));
    const V turned = hn::IfThenElse(hn::Lt(x, zero), mirrored, angle);
    return hn::IfThenElse(plain, hn::CopySign(turned, y), QuietNaN(d));
  }
};

// n is a multiple of 8, the lanes of the widest target.
template <class Fast>
HWY_NOINLINE void MapFast(const double* a, const double* b, double* out, std::size_t n) {
  const hn::ScalableTag<double> d;
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    hn::StoreU(Fast::Eval(d, hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, out + i);
  }
}

FastBinaryFn FindFastBinary(Math2Op op) { return op == Math2Op::kPow ? &MapFast<PowFast> : &MapFast<Atan2Fast>; }

}  // namespace palladion::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace palladion::simd {
FastBinaryFn FindFastBinary(Math2Op op, Target target) {
  switch (target) {
#if HWY_ARCH_X86
    case Target::kSsse3:
      return N_SSSE3::FindFastBinary(op);
    case Target::kAvx2:
      return N_AVX2::FindFastBinary(op);
    case Target::kAvx512:
      return N_AVX3::FindFastBinary(op);
#elif HWY_ARCH_ARM_A64
    case Target::kNeon:
      return N_NEON::FindFastBinary(op);
#endif
    default:
      return HWY_STATIC_DISPATCH(FindFastBinary)(op);
  }
}
}  // namespace palladion::simd
#endif
