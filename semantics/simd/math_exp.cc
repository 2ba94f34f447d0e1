// exp, exp2, expm1, logistic, tanh, sinh, cosh: what is made from the core of math_exp-inl.h.
#include "semantics/simd/math_find.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "semantics/simd/math_exp.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep; must come before highway.h
#include "hwy/highway.h"
#include "semantics/simd/math_exp-inl.h"

HWY_BEFORE_NAMESPACE();
namespace palladion::simd::HWY_NAMESPACE {

struct ExpKernel {
  static constexpr MathOp kOp = MathOp::kExp;
  template <bool kNarrow, class D, class V>
  static HWY_INLINE V Eval(D d, V x) {
    return Exp<kNarrow>(d, x);
  }
};

struct Exp2Kernel {
  static constexpr MathOp kOp = MathOp::kExp2;
  template <bool kNarrow, class D, class V>
  static HWY_INLINE V Eval(D d, V x) {
    x = kNarrow ? Clamp(d, x, -200.0, 200.0) : Clamp(d, x, -1100.0, 1024.0);
    // The unit in the last place of 1.5 * 2^48 is 1/16: k / 16 is rounded by one addition, and x - k / 16 is exact.
    const V shift = hn::Set(d, 0x1.8p48);
    const V shifted = hn::Add(x, shift);
    const V r = hn::Sub(x, hn::Sub(shifted, shift));
    const auto index = hn::BitCast(Bits<D>(), shifted);
    const V t = Lookup16(d, kExpTable, index);
    if constexpr (kNarrow) {
      const V s = ScaleNormal(d, t, index);
      return Mad<true>(s, hn::Mul(r, Poly<true>(d, r, kExp2Poly5)), s);
    } else {
      const V m1 = hn::Mul(r, Poly<false>(d, r, kExp2Poly6));
      return ScaleAny(d, hn::Add(t, Mad<false>(t, m1, Lookup16(d, kExpTableLo, index))), index);
    }
  }
};

struct Expm1Kernel {
  static constexpr MathOp kOp = MathOp::kExpm1;
  template <bool kNarrow, class D, class V>
  static HWY_INLINE V Eval(D d, V x) {
    const V y = Expm1<kNarrow>(d, x);
    // Keeps -0 and the smallest numbers, which the scaling of the table would round.
    return hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 0x1p-55)), x, y);
  }
};

struct LogisticKernel {
  static constexpr MathOp kOp = MathOp::kLogistic;
  template <bool kNarrow, class D, class V>
  static HWY_INLINE V Eval(D d, V x) {
    const V e = Exp<kNarrow>(d, hn::Neg(hn::Abs(x)));
    const V one = hn::Set(d, 1.0);
    const V y = hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one), hn::Add(one, e));
    if constexpr (!kNarrow) return y;
    // Near 0 it is 1/2 + x/4 - x^3/48, and 1/2 + x/4, exact here, is a tie of f32 for many x: a step of 2^-53 towards
    // 1/2 stands for the cube, which is below the last bit of x/4.
    const V step = hn::CopySign(hn::Set(d, 0x1p-53), x);
    const V near_zero = hn::Sub(Mad<true>(x, hn::Set(d, 0.25), hn::Set(d, 0.5)), step);
    return hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 0x1p-12)), near_zero, y);
  }
};

struct TanhKernel {
  static constexpr MathOp kOp = MathOp::kTanh;
  template <bool kNarrow, class D, class V>
  static HWY_INLINE V Eval(D d, V x) {
    const V a = hn::Min(x, hn::Set(d, 22.0));  // tanh(22) rounds to 1
    const V e = Expm1<kNarrow>(d, hn::Add(a, a));
    const V y = hn::Div(e, hn::Add(e, hn::Set(d, 2.0)));
    return hn::IfThenElse(hn::Lt(x, hn::Set(d, 0x1p-30)), x, y);
  }
};

struct SinhKernel {
  static constexpr MathOp kOp = MathOp::kSinh;
  template <bool kNarrow, class D, class V>
  static HWY_INLINE V Eval(D d, V x) {
    const V half = hn::Set(d, 0.5);
    const V e = Expm1<kNarrow>(d, x);
    const V y = hn::Mul(half, hn::Add(e, hn::Div(e, hn::Add(e, hn::Set(d, 1.0)))));
    return hn::IfThenElse(hn::Lt(x, hn::Set(d, 0x1p-30)), x, HalfExpAbove(d, x, y));
  }

  // For x > 40, sinh x = cosh x = e^x / 2 to far more than 53 bits; e^(x/2) / 2 * e^(x/2) does not overflow early, but
  // squares the error, so the table's scale is halved instead.
  template <class D, class V>
  static HWY_INLINE V HalfExpAbove(D d, V x, V y) {
    const auto [index, r] = ReduceExp<false>(d, Clamp(d, x, 0.0, 715.0));
    const V t = Lookup16(d, kExpTable, index);
    const V low = Mad<false>(t, ExpReducedM1<false>(d, r), Lookup16(d, kExpTableLo, index));
    const auto halved = hn::Sub(index, hn::Set(Bits<D>(), std::uint64_t{16}));
    return hn::IfThenElse(hn::Gt(x, hn::Set(d, 40.0)), ScaleAny(d, hn::Add(t, low), halved), y);
  }
};

struct CoshKernel {
  static constexpr MathOp kOp = MathOp::kCosh;
  template <bool kNarrow, class D, class V>
  static HWY_INLINE V Eval(D d, V x) {
    const V e = Exp<kNarrow>(d, x);
    const V y = hn::Mul(hn::Set(d, 0.5), hn::Add(e, hn::Div(hn::Set(d, 1.0), e)));
    return SinhKernel::HalfExpAbove(d, x, y);
  }
};

UnaryFn FindExpFamily(MathOp op, DType dtype) {
  switch (op) {
    case MathOp::kExp:
      return FindFor<ExpKernel>(dtype);
    case MathOp::kExp2:
      return FindFor<Exp2Kernel>(dtype);
    case MathOp::kExpm1:
      return FindFor<Expm1Kernel>(dtype);
    case MathOp::kLogistic:
      return FindFor<LogisticKernel>(dtype);
    case MathOp::kTanh:
      return FindFor<TanhKernel>(dtype);
    case MathOp::kSinh:
      return FindFor<SinhKernel>(dtype);
    case MathOp::kCosh:
      return FindFor<CoshKernel>(dtype);
    default:
      return nullptr;
  }
}

}  // namespace palladion::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace palladion::simd {
UnaryFn FindExpFamily(MathOp op, DType dtype, Target target) {
  switch (target) {
#if HWY_ARCH_X86
    case Target::kSsse3:
      return N_SSSE3::FindExpFamily(op, dtype);
    case Target::kAvx2:
      return N_AVX2::FindExpFamily(op, dtype);
    case Target::kAvx512:
      return N_AVX3::FindExpFamily(op, dtype);
#elif HWY_ARCH_ARM_A64
    case Target::kNeon:
      return N_NEON::FindExpFamily(op, dtype);
#endif
    default:
      return HWY_STATIC_DISPATCH(FindExpFamily)(op, dtype);
  }
}
}  // namespace palladion::simd
#endif
