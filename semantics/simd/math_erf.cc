// erf, erfc, erf_inv, bessel_i0e. erfc(a) = e^(-a^2) P(t) / (1 + 2a) with t = (a - 3) / (a + 3), one polynomial over
// [0, 28] (the substitution: M. M. Shepherd, J. G. Laframboise, "Chebyshev approximation of (1 + 2x) exp(x^2) erfc x",
// Math. Comp. 36 (1981)). erf_inv: polynomials in w = -log(1 - x^2) and sqrt(w) (M. Giles, "Approximating the erfinv
// function", GPU Computing Gems 2 (2011)). bessel_i0e(x) = e^-x I0(x): I0 in x^2 up to 8, from there sqrt(x) e^-x I0(x)
// in 16 / x - 1. All coefficients are our own.
#include "semantics/simd/math_find.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "semantics/simd/math_erf.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep; must come before highway.h
#include "hwy/highway.h"
#include "semantics/simd/math_exp-inl.h"
#include "semantics/simd/math_log-inl.h"

HWY_BEFORE_NAMESPACE();
namespace palladion::simd::HWY_NAMESPACE {

// erfc(a) for a in [0, 28].
template <bool kNarrow, class D, class V>
HWY_INLINE V ErfcPositive(D d, V a) {
  const V centre = hn::Set(d, kErfcCentre);
  const V t = hn::Div(hn::Sub(a, centre), hn::Add(a, centre));
  const V p = hn::Div(Poly<kNarrow>(d, t, kErfcPoly), Mad<kNarrow>(a, hn::Set(d, 2.0), hn::Set(d, 1.0)));
  if constexpr (kNarrow) {
    return hn::Mul(p, Exp<true>(d, hn::Neg(hn::Mul(a, a))));  // the square of a widened f32 is exact
  } else {
    const Pair<V> square = TwoProd(a, a);
    const V e = Exp<false>(d, hn::Neg(square.hi));
    return hn::Mul(p, hn::Sub(e, hn::Mul(e, square.lo)));
  }
}

// erf(a) for a in [0, 1].
template <bool kNarrow, class D, class V>
HWY_INLINE V ErfSmall(D d, V a) {
  return Mad<kNarrow>(a, Poly<kNarrow>(d, hn::Mul(a, a), kErfPoly), a);
}

struct ErfcKernel {
  static constexpr MathOp kOp = MathOp::kErfc;
  template <bool kNarrow, class D, class V>
  static HWY_INLINE V Eval(D d, V x) {
    const V a = hn::Min(hn::Abs(x), hn::Set(d, 28.0));
    V y = ErfcPositive<kNarrow>(d, a);
    if constexpr (!kNarrow) {  // the long polynomial loses digits at t = -1
      const V half = hn::Set(d, 0.5);
      y = hn::IfThenElse(hn::Lt(a, half), hn::Sub(hn::Set(d, 1.0), ErfSmall<false>(d, hn::Min(a, half))), y);
    }
    return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Sub(hn::Set(d, 2.0), y), y);
  }
};

struct ErfKernel {
  static constexpr MathOp kOp = MathOp::kErf;
  template <bool kNarrow, class D, class V>
  static HWY_INLINE V Eval(D d, V x) {
    const V one = hn::Set(d, 1.0);
    const V near_zero = ErfSmall<kNarrow>(d, hn::Min(x, one));
    const V far = hn::Sub(one, ErfcPositive<kNarrow>(d, hn::Min(x, hn::Set(d, 7.0))));
    return hn::IfThenElse(hn::Lt(x, one), near_zero, far);
  }
};

struct ErfInvKernel {
  static constexpr MathOp kOp = MathOp::kErfInv;
  template <bool kNarrow, class D, class V>
  static HWY_INLINE V Eval(D d, V x) {
    const V one = hn::Set(d, 1.0);
    const V product = hn::Mul(hn::Sub(one, x), hn::Add(one, x));  // 0 at 1, negative beyond
    const Pair<V> log = LogPair(d, product, hn::Zero(d));
    const V w = hn::Neg(hn::Add(log.hi, log.lo));
    const V root = hn::Sqrt(hn::Max(w, hn::Set(d, 1.0)));
    V p = Poly<kNarrow>(d, hn::Sub(w, hn::Set(d, 3.125)), kErfInvPoly1);
    p = hn::IfThenElse(hn::Gt(w, hn::Set(d, 6.25)), Poly<kNarrow>(d, hn::Sub(root, hn::Set(d, 3.25)), kErfInvPoly2), p);
    p = hn::IfThenElse(hn::Gt(w, hn::Set(d, 16.0)), Poly<kNarrow>(d, hn::Sub(root, hn::Set(d, 5.0)), kErfInvPoly3), p);
    const V y = hn::IfThenElse(hn::Eq(x, one), Infinity(d), hn::Mul(x, p));
    return hn::IfThenElse(hn::Gt(x, one), QuietNaN(d), y);
  }
};

struct BesselI0eKernel {
  static constexpr MathOp kOp = MathOp::kBesselI0e;
  template <bool kNarrow, class D, class V>
  static HWY_INLINE V Eval(D d, V x) {
    const V one = hn::Set(d, 1.0);
    const V bound = hn::Set(d, 8.0);
    const V small = hn::Min(x, bound);
    const V square = hn::Mul(small, small);
    const V i0 = Mad<kNarrow>(square, Poly<kNarrow>(d, square, kBesselI0Poly), one);
    const V near = hn::Mul(i0, Exp<kNarrow>(d, hn::Neg(small)));
    const V large = hn::Max(x, bound);
    const V t = hn::Sub(hn::Div(hn::Set(d, 16.0), large), one);
    const V far = hn::Div(Poly<kNarrow>(d, t, kBesselI0eTailPoly), hn::Sqrt(large));
    return hn::IfThenElse(hn::Le(x, bound), near, hn::IfThenElse(hn::Eq(x, x), far, x));
  }
};

UnaryFn FindErfFamily(MathOp op, DType dtype) {
  switch (op) {
    case MathOp::kErf:
      return FindFor<ErfKernel>(dtype);
    case MathOp::kErfc:
      return FindFor<ErfcKernel>(dtype);
    case MathOp::kErfInv:
      return FindFor<ErfInvKernel>(dtype);
    case MathOp::kBesselI0e:
      return FindFor<BesselI0eKernel>(dtype);
    default:
      return nullptr;
  }
}

}  // namespace palladion::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace palladion::simd {
UnaryFn FindErfFamily(MathOp op, DType dtype, Target target) {
  switch (target) {
#if HWY_ARCH_X86
    case Target::kSsse3:
      return N_SSSE3::FindErfFamily(op, dtype);
    case Target::kAvx2:
      return N_AVX2::FindErfFamily(op, dtype);
    case Target::kAvx512:
      return N_AVX3::FindErfFamily(op, dtype);
#elif HWY_ARCH_ARM_A64
    case Target::kNeon:
      return N_NEON::FindErfFamily(op, dtype);
#endif
    default:
      return HWY_STATIC_DISPATCH(FindErfFamily)(op, dtype);
  }
}
}  // namespace palladion::simd
#endif
