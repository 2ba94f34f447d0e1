// log, log2, log1p, asinh, acosh, atanh: what is made from the core of math_log-inl.h.
#include "semantics/simd/math_find.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "semantics/simd/math_log.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep; must come before highway.h
#include "hwy/highway.h"
#include "semantics/simd/math_log-inl.h"

HWY_BEFORE_NAMESPACE();
namespace palladion::simd::HWY_NAMESPACE {

struct LogKernel {
  static constexpr MathOp kOp = MathOp::kLog;
  template <bool kNarrow, class D, class V>
  static HWY_INLINE V Eval(D d, V x) {
    return Log<kNarrow>(d, x);
  }
};

struct Log2Kernel {
  static constexpr MathOp kOp = MathOp::kLog2;
  template <bool kNarrow, class D, class V>
  static HWY_INLINE V Eval(D d, V x) {
    return Log2(d, x);
  }
};

// log(1 + z), z a double with all its digits. z >= -1, else NaN.
template <class D, class V>
HWY_INLINE V Log1p(D d, V z) {
  const V one = hn::Set(d, 1.0);
  const Pair<V> u = TwoSum(one, z);
  const Pair<V> y = LogPair(d, u.hi, u.lo);
  V sum = hn::Add(y.hi, y.lo);
  sum = hn::IfThenElse(hn::Lt(hn::Abs(z), hn::Set(d, 0x1p-54)), z, sum);
  return LogSpecial(d, u.hi, sum);
}

// log(2a) for a in [2^28, inf].
template <class D, class V>
HWY_INLINE V LogTwice(D d, V a) {
  const Pair<V> y = LogPair(d, a, hn::Zero(d));
  return LogSpecial(d, a, hn::Add(y.hi, hn::Add(y.lo, hn::Set(d, kLn2))));
}

// log(1 + z), or where the x it was made from is so large that z may have overflowed, log(2x). A widened f32 never is.
template <bool kNarrow, class D, class V>
HWY_INLINE V Log1pOrLogTwice(D d, V z, V x) {
  const V y = Log1p(d, z);
  if constexpr (kNarrow) return y;
  return hn::IfThenElse(hn::Gt(x, hn::Set(d, 0x1p28)), LogTwice(d, x), y);
}

struct Log1pKernel {
  static constexpr MathOp kOp = MathOp::kLog1p;
  template <bool kNarrow, class D, class V>
  static HWY_INLINE V Eval(D d, V x) {
    return Log1p(d, x);
  }
};

struct AsinhKernel {
  static constexpr MathOp kOp = MathOp::kAsinh;
  template <bool kNarrow, class D, class V>
  static HWY_INLINE V Eval(D d, V x) {
    // log1p(a + a^2 / (1 + sqrt(1 + a^2))) does not cancel near 0.
    const V one = hn::Set(d, 1.0);
    const V bounded = hn::Min(x, hn::Set(d, 0x1p500));  // infinite squares would divide to NaN
    const V square = hn::Mul(bounded, bounded);
    const V z = hn::Add(x, hn::Div(square, hn::Add(one, hn::Sqrt(hn::Add(one, square)))));
    const V y = Log1pOrLogTwice<kNarrow>(d, z, x);
    return hn::IfThenElse(hn::Lt(x, hn::Set(d, 0x1p-30)), x, y);
  }
};

struct AcoshKernel {
  static constexpr MathOp kOp = MathOp::kAcosh;
  template <bool kNarrow, class D, class V>
  static HWY_INLINE V Eval(D d, V x) {
    const V one = hn::Set(d, 1.0);
    const V t = hn::Sub(x, one);
    const V z = hn::Add(t, hn::Sqrt(hn::Mul(t, hn::Add(t, hn::Set(d, 2.0)))));
    const V y = Log1pOrLogTwice<kNarrow>(d, z, x);
    return hn::IfThenElse(hn::Lt(x, one), QuietNaN(d), y);
  }
};

struct AtanhKernel {
  static constexpr MathOp kOp = MathOp::kAtanh;
  template <bool kNarrow, class D, class V>
  static HWY_INLINE V Eval(D d, V x) {
    // 2a / (1 - a): infinite at 1, below -1 beyond, where log1p gives infinity and NaN.
    const V z = hn::Div(hn::Add(x, x), hn::Sub(hn::Set(d, 1.0), x));
    const V y = hn::Mul(hn::Set(d, 0.5), Log1p(d, z));
    return hn::IfThenElse(hn::Lt(x, hn::Set(d, 0x1p-30)), x, y);
  }
};

UnaryFn FindLogFamily(MathOp op, DType dtype) {
  switch (op) {
    case MathOp::kLog:
      return FindFor<LogKernel>(dtype);
    case MathOp::kLog2:
      return FindFor<Log2Kernel>(dtype);
    case MathOp::kLog1p:
      return FindFor<Log1pKernel>(dtype);
    case MathOp::kAsinh:
      return FindFor<AsinhKernel>(dtype);
    case MathOp::kAcosh:
      return FindFor<AcoshKernel>(dtype);
    case MathOp::kAtanh:
      return FindFor<AtanhKernel>(dtype);
    default:
      return nullptr;
  }
}

}  // namespace palladion::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace palladion::simd {
UnaryFn FindLogFamily(MathOp op, DType dtype, Target target) {
  switch (target) {
#if HWY_ARCH_X86
    case Target::kSsse3:
      return N_SSSE3::FindLogFamily(op, dtype);
    case Target::kAvx2:
      return N_AVX2::FindLogFamily(op, dtype);
    case Target::kAvx512:
      return N_AVX3::FindLogFamily(op, dtype);
#elif HWY_ARCH_ARM_A64
    case Target::kNeon:
      return N_NEON::FindLogFamily(op, dtype);
#endif
    default:
      return HWY_STATIC_DISPATCH(FindLogFamily)(op, dtype);
  }
}
}  // namespace palladion::simd
#endif
