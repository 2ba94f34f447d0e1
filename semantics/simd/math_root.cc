// sqrt, rsqrt, cbrt. A double square root of a widened f32, rounded to f32, is the correctly rounded one: 53 >= 2 * 24
// + 2 bits (S. A. Figueroa, "When is double rounding innocuous?", SIGNUM 30 (1995)).
#include "semantics/simd/math_find.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "semantics/simd/math_root.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep; must come before highway.h
#include "hwy/highway.h"
#include "semantics/simd/math_log-inl.h"

HWY_BEFORE_NAMESPACE();
namespace palladion::simd::HWY_NAMESPACE {

struct SqrtKernel {
  static constexpr MathOp kOp = MathOp::kSqrt;
  template <bool kNarrow, class D, class V>
  static HWY_INLINE V Eval(D, V x) {
    return hn::Sqrt(x);
  }
};

struct RsqrtKernel {
  static constexpr MathOp kOp = MathOp::kRsqrt;
  template <bool kNarrow, class D, class V>
  static HWY_INLINE V Eval(D d, V x) {
    return hn::Div(hn::Set(d, 1.0), hn::Sqrt(x));
  }
};

// Needs no double: the square root of an f32 is correctly rounded in hardware.
struct SqrtF32Step {
  using T = float;
  template <class DD>
  static HWY_INLINE void Run(DD dd, const T* x, T* out) {
    (void)dd;
    const hn::Rebind<float, DD> df;
    const auto y = hn::Sqrt(hn::LoadU(df, x));
    hn::StoreU(hn::IfThenElse(hn::IsNaN(y), QuietNaN(df), y), df, out);
  }
};

struct CbrtKernel {
  static constexpr MathOp kOp = MathOp::kCbrt;
  // x = 2^(3q + i) m: a polynomial for m^(-1/3), two Newton steps for (2^i m)^(-1/3), one for the root itself with the
  // residual taken without error.
  template <bool kNarrow, class D, class V>
  static HWY_INLINE V Eval(D d, V x) {
    const Bits<D> du;
    const auto tiny = hn::Lt(x, hn::Set(d, 0x1p-1022));
    const auto split = SplitForLog(d, kNarrow ? x : hn::IfThenElse(tiny, hn::Mul(x, hn::Set(d, 0x1p54)), x));
    const V shift = hn::Set(d, 0x1.8p52);
    const V third = hn::Set(d, 1.0 / 3);
    V shifted = hn::Add(hn::Mul(hn::Sub(split.e, hn::Set(d, 1.0)), third), shift);
    const V i = hn::Sub(split.e, hn::Mul(hn::Set(d, 3.0), hn::Sub(shifted, shift)));
    const auto one = hn::Eq(i, hn::Set(d, 1.0));
    const auto two = hn::Eq(i, hn::Set(d, 2.0));
    const V m =
        hn::Mul(split.m, hn::IfThenElse(two, hn::Set(d, 4.0), hn::IfThenElse(one, hn::Set(d, 2.0), hn::Set(d, 1.0))));
    const V scale = hn::IfThenElse(two, hn::Set(d, kRcbrtScale[2]),
                                   hn::IfThenElse(one, hn::Set(d, kRcbrtScale[1]), hn::Set(d, 1.0)));
    V r = hn::Mul(Poly<kNarrow>(d, split.m, kRcbrtPoly), scale);
    for (int step = 0; step < 2; ++step) {
      const V e = NegMad<kNarrow>(hn::Mul(m, r), hn::Mul(r, r), hn::Set(d, 1.0));
      r = Mad<kNarrow>(hn::Mul(r, third), e, r);
    }
    const V r2 = hn::Mul(r, r);
    V c = hn::Mul(m, r2);
    const Pair<V> square = TwoProd(c, c);
    const Pair<V> cube = TwoProd(square.hi, c);
    const V residual = hn::Sub(hn::Sub(hn::Sub(m, cube.hi), cube.lo), hn::Mul(square.lo, c));
    c = hn::Add(c, hn::Mul(residual, hn::Mul(r2, third)));
    if constexpr (!kNarrow) shifted = hn::Sub(shifted, hn::IfThenElseZero(tiny, hn::Set(d, 18.0)));
    const V y = hn::BitCast(d, hn::Add(hn::BitCast(du, c), hn::ShiftLeft<52>(hn::BitCast(du, shifted))));
    return hn::IfThenElse(hn::Or(hn::Eq(x, hn::Zero(d)), hn::Eq(x, Infinity(d))), x, y);
  }
};

UnaryFn FindRootFamily(MathOp op, DType dtype) {
  switch (op) {
    case MathOp::kSqrt:
      if (dtype == DType::kF32) return &Map<SqrtF32Step>;
      return FindFor<SqrtKernel>(dtype);
    case MathOp::kRsqrt:
      return FindFor<RsqrtKernel>(dtype);
    case MathOp::kCbrt:
      return FindFor<CbrtKernel>(dtype);
    default:
      return nullptr;
  }
}

}  // namespace palladion::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace palladion::simd {
UnaryFn FindRootFamily(MathOp op, DType dtype, Target target) {
  switch (target) {
#if HWY_ARCH_X86
    case Target::kSsse3:
      return N_SSSE3::FindRootFamily(op, dtype);
    case Target::kAvx2:
      return N_AVX2::FindRootFamily(op, dtype);
    case Target::kAvx512:
      return N_AVX3::FindRootFamily(op, dtype);
#elif HWY_ARCH_ARM_A64
    case Target::kNeon:
      return N_NEON::FindRootFamily(op, dtype);
#endif
    default:
      return HWY_STATIC_DISPATCH(FindRootFamily)(op, dtype);
  }
}
}  // namespace palladion::simd
#endif
