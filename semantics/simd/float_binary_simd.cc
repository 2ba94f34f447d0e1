// add, sub, mul, div, max and min of f32, f64, bf16 and f16 for each SIMD target.
#include <cstddef>

#include "semantics/simd/elementwise_internal.h"
#include "semantics/simd/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "semantics/simd/float_binary_simd.cc"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "semantics/simd/float_lanes-inl.h"
#include "semantics/simd/vector_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace palladion::simd::HWY_NAMESPACE {
#if HWY_TARGET != HWY_STATIC_TARGET
namespace {

struct Add {
  template <class D, class V>
  static HWY_INLINE V Apply(D, V a, V b) {
    return hn::Add(a, b);
  }
};

struct Sub {
  template <class D, class V>
  static HWY_INLINE V Apply(D, V a, V b) {
    return hn::Sub(a, b);
  }
};

struct Mul {
  template <class D, class V>
  static HWY_INLINE V Apply(D, V a, V b) {
    return hn::Mul(a, b);
  }
};

struct Div {
  template <class D, class V>
  static HWY_INLINE V Apply(D, V a, V b) {
    return hn::Div(a, b);
  }
};

template <class Op>
BinaryFn OfType(DType dtype, Form form) {
  switch (dtype) {
    case DType::kF32:
      return BinaryOfForm<OnF32<Op>>(form);
    case DType::kF64:
      return BinaryOfForm<OnF64<Op>>(form);
    case DType::kBF16:
      return BinaryOfForm<OnBF16<Op>>(form);
    case DType::kF16:
      return BinaryOfForm<OnF16<Op>>(form);
    default:
      return nullptr;
  }
}

}  // namespace

BinaryFn FindFloatBinary(BinaryOp op, DType dtype, Form form) {
  switch (op) {
    case BinaryOp::kAdd:
      return OfType<Add>(dtype, form);
    case BinaryOp::kSub:
      return OfType<Sub>(dtype, form);
    case BinaryOp::kMul:
      return OfType<Mul>(dtype, form);
    case BinaryOp::kDiv:
      return OfType<Div>(dtype, form);
    case BinaryOp::kMax:
      return OfType<Max>(dtype, form);
    case BinaryOp::kMin:
      return OfType<Min>(dtype, form);
    case BinaryOp::kMaxNum:
      return OfType<MaxNum>(dtype, form);
    case BinaryOp::kMinNum:
      return OfType<MinNum>(dtype, form);
    default:
      return nullptr;
  }
}

#endif  // HWY_TARGET != HWY_STATIC_TARGET
}  // namespace palladion::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace palladion::simd {

BinaryFn FindFloatBinarySimd(BinaryOp op, DType dtype, Form form, Target target) {
  switch (target) {
#if HWY_ARCH_X86
    case Target::kSsse3:
      return N_SSSE3::FindFloatBinary(op, dtype, form);
    case Target::kAvx2:
      return N_AVX2::FindFloatBinary(op, dtype, form);
    case Target::kAvx512:
      return N_AVX3::FindFloatBinary(op, dtype, form);
#elif HWY_ARCH_ARM_A64
    case Target::kNeon:
      return N_NEON::FindFloatBinary(op, dtype, form);
#endif
    default:
      return nullptr;
  }
}

}  // namespace palladion::simd
#endif  // HWY_ONCE
