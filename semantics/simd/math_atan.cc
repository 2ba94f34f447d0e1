// asin, acos, atan, all from the core of math_atan-inl.h.
#include "semantics/simd/math_find.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "semantics/simd/math_atan.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep; must come before highway.h
#include "hwy/highway.h"
#include "semantics/simd/math_atan-inl.h"

HWY_BEFORE_NAMESPACE();
namespace palladion::simd::HWY_NAMESPACE {

struct AtanKernel {
  static constexpr MathOp kOp = MathOp::kAtan;
  template <bool kNarrow, class D, class V>
  static HWY_INLINE V Eval(D d, V x) {
    const V bounded = hn::Min(x, hn::Set(d, 0x1p200));  // the quotient of infinities would be NaN
    const V y = AtanQuadrant<kNarrow>(d, bounded, hn::Set(d, 1.0));
    return hn::IfThenElse(hn::Lt(x, hn::Set(d, 0x1p-30)), x, y);
  }
};

// sqrt(1 - x^2), NaN beyond [-1, 1].
template <class D, class V>
HWY_INLINE V Cathetus(D d, V x) {
  const V one = hn::Set(d, 1.0);
  return hn::Sqrt(hn::Mul(hn::Sub(one, x), hn::Add(one, x)));
}

struct AsinKernel {
  static constexpr MathOp kOp = MathOp::kAsin;
  template <bool kNarrow, class D, class V>
  static HWY_INLINE V Eval(D d, V x) {
    const V y = AtanQuadrant<kNarrow>(d, x, Cathetus(d, x));
    return hn::IfThenElse(hn::Lt(x, hn::Set(d, 0x1p-30)), x, y);
  }
};

struct AcosKernel {
  static constexpr MathOp kOp = MathOp::kAcos;
  template <bool kNarrow, class D, class V>
  static HWY_INLINE V Eval(D d, V x) {
    const V y = AtanQuadrant<kNarrow>(d, Cathetus(d, x), hn::Abs(x));
    const V mirrored = hn::Sub(hn::Set(d, 2 * kHalfPiHi), hn::Sub(y, hn::Set(d, 2 * kHalfPiLo)));
    return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), mirrored, y);
  }
};

UnaryFn FindAtanFamily(MathOp op, DType dtype) {
  switch (op) {
    case MathOp::kAsin:
      return FindFor<AsinKernel>(dtype);
    case MathOp::kAcos:
      return FindFor<AcosKernel>(dtype);
    case MathOp::kAtan:
      return FindFor<AtanKernel>(dtype);
    default:
      return nullptr;
  }
}

}  // namespace palladion::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace palladion::simd {
UnaryFn FindAtanFamily(MathOp op, DType dtype, Target target) {
  switch (target) {
#if HWY_ARCH_X86
    case Target::kSsse3:
      return N_SSSE3::FindAtanFamily(op, dtype);
    case Target::kAvx2:
      return N_AVX2::FindAtanFamily(op, dtype);
    case Target::kAvx512:
      return N_AVX3::FindAtanFamily(op, dtype);
#elif HWY_ARCH_ARM_A64
    case Target::kNeon:
      return N_NEON::FindAtanFamily(op, dtype);
#endif
    default:
      return HWY_STATIC_DISPATCH(FindAtanFamily)(op, dtype);
  }
}
}  // namespace palladion::simd
#endif
