// Integer and bool operations for each SIMD target: the frequent ones on Highway vectors, the others as plain loops
// that the compiler vectorises for the target. div and rem, and integers narrower than a byte, are the reference's
// alone.
#include <cstddef>
#include <cstdint>

#include "semantics/simd/elementwise_internal.h"
#include "semantics/simd/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "semantics/simd/int_simd.cc"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "semantics/simd/vector_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace palladion::simd::HWY_NAMESPACE {
#if HWY_TARGET != HWY_STATIC_TARGET
namespace {

template <typename Lane>
struct Add {
  using T = Lane;
  template <class D, class V>
  static HWY_INLINE V Apply(D, V a, V b) {
    return hn::Add(a, b);
  }
};

template <typename Lane>
struct Sub {
  using T = Lane;
  template <class D, class V>
  static HWY_INLINE V Apply(D, V a, V b) {
    return hn::Sub(a, b);
  }
};

template <typename Lane>
struct Mul {
  using T = Lane;
  template <class D, class V>
  static HWY_INLINE V Apply(D, V a, V b) {
    return hn::Mul(a, b);
  }
};

template <typename Lane>
struct Max {
  using T = Lane;
  template <class D, class V>
  static HWY_INLINE V Apply(D, V a, V b) {
    return hn::Max(a, b);
  }
};

template <typename Lane>
struct Min {
  using T = Lane;
  template <class D, class V>
  static HWY_INLINE V Apply(D, V a, V b) {
    return hn::Min(a, b);
  }
};

template <typename Lane>
struct And {
  using T = Lane;
  template <class D, class V>
  static HWY_INLINE V Apply(D, V a, V b) {
    return hn::And(a, b);
  }
};

template <typename Lane>
struct Or {
  using T = Lane;
  template <class D, class V>
  static HWY_INLINE V Apply(D, V a, V b) {
    return hn::Or(a, b);
  }
};

template <typename Lane>
struct Xor {
  using T = Lane;
  template <class D, class V>
  static HWY_INLINE V Apply(D, V a, V b) {
    return hn::Xor(a, b);
  }
};

// Any byte but 0 is true.
template <class Op>
struct OnBool {
  using T = std::uint8_t;
  template <class D, class V>
  static HWY_INLINE V Apply(D d, V a, V b) {
    return Op::Apply(d, Normal(d, a), Normal(d, b));
  }
  template <class D, class V>
  static HWY_INLINE V Normal(D d, V v) {
    return hn::Min(v, hn::Set(d, std::uint8_t{1}));
  }
};

// Plain loops. Unsigned arithmetic only: it wraps, and it never promotes into signed overflow.
struct PlainMul {
  template <typename T>
  static HWY_INLINE T Apply(T a, T b) {
    return static_cast<T>(1u * a * b);
  }
};

struct ShiftLeft {
  template <typename T>
  static HWY_INLINE T Apply(T a, T b) {
    constexpr T kLast = 8 * sizeof(T) - 1;
    return b > kLast ? T{0} : static_cast<T>(a << (b & kLast));
  }
};

struct ShiftRightLogical {
  template <typename T>
  static HWY_INLINE T Apply(T a, T b) {
    constexpr T kLast = 8 * sizeof(T) - 1;
    return b > kLast ? T{0} : static_cast<T>(a >> (b & kLast));
  }
};

template <typename Signed>
struct ShiftRightArithmetic {
  template <typename T>
  static HWY_INLINE T Apply(T a, T b) {
    constexpr T kLast = 8 * sizeof(T) - 1;
    return static_cast<T>(static_cast<Signed>(a) >> (b > kLast ? kLast : b));
  }
};

template <class Op, typename T, Form kForm>
void PlainLoop(const void* a, const void* b, void* out, std::size_t n) {
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  T* z = static_cast<T*>(out);
  if (n == 0) return;
  const T scalar = kForm == Form::kSV ? x[0] : y[0];
  for (std::size_t i = 0; i < n; ++i) {
    z[i] = Op::Apply(kForm == Form::kSV ? scalar : x[i], kForm == Form::kVS ? scalar : y[i]);
  }
}

template <class Op, typename T>
BinaryFn PlainOfForm(Form form) {
  switch (form) {
    case Form::kVV:
      return &PlainLoop<Op, T, Form::kVV>;
    case Form::kSV:
      return &PlainLoop<Op, T, Form::kSV>;
    case Form::kVS:
      return &PlainLoop<Op, T, Form::kVS>;
  }
  return nullptr;
}

// Operations that give the same bits for signed and unsigned lanes.
template <typename U, typename S>
BinaryFn FindSignFree(BinaryOp op, Form form) {
  switch (op) {
    case BinaryOp::kAdd:
      return BinaryOfForm<Add<U>>(form);
    case BinaryOp::kSub:
      return BinaryOfForm<Sub<U>>(form);
    case BinaryOp::kAnd:
      return BinaryOfForm<And<U>>(form);
    case BinaryOp::kOr:
      return BinaryOfForm<Or<U>>(form);
    case BinaryOp::kXor:
      return BinaryOfForm<Xor<U>>(form);
    case BinaryOp::kShiftLeft:
      return PlainOfForm<ShiftLeft, U>(form);
    case BinaryOp::kShiftRightLogical:
      return PlainOfForm<ShiftRightLogical, U>(form);
    case BinaryOp::kShiftRightArithmetic:
      return PlainOfForm<ShiftRightArithmetic<S>, U>(form);
    case BinaryOp::kMul:
      if constexpr (sizeof(U) == 2 || sizeof(U) == 4) {
        return BinaryOfForm<Mul<U>>(form);
      } else {
        return PlainOfForm<PlainMul, U>(form);
      }
    default:
      return nullptr;
  }
}

template <typename U, typename S, typename T>
BinaryFn FindOfType(BinaryOp op, Form form) {
  if (op == BinaryOp::kMax) return BinaryOfForm<Max<T>>(form);
  if (op == BinaryOp::kMin) return BinaryOfForm<Min<T>>(form);
  return FindSignFree<U, S>(op, form);
}

BinaryFn FindBool(BinaryOp op, Form form) {
  switch (op) {
    case BinaryOp::kMin:
    case BinaryOp::kAnd:
      return BinaryOfForm<OnBool<And<std::uint8_t>>>(form);
    case BinaryOp::kMax:
    case BinaryOp::kOr:
      return BinaryOfForm<OnBool<Or<std::uint8_t>>>(form);
    case BinaryOp::kXor:
      return BinaryOfForm<OnBool<Xor<std::uint8_t>>>(form);
    default:
      return nullptr;
  }
}

template <typename U, UnaryOp kOp>
void UnaryPlain(const void* in, void* out, std::size_t n) {
  const U* x = static_cast<const U*>(in);
  U* z = static_cast<U*>(out);
  constexpr int kTop = 8 * sizeof(U) - 1;
  for (std::size_t i = 0; i < n; ++i) {
    const U negated = static_cast<U>(0u - x[i]);
    if (kOp == UnaryOp::kNeg) z[i] = negated;
    if (kOp == UnaryOp::kAbs) z[i] = (x[i] >> kTop) != 0 ? negated : x[i];
    if (kOp == UnaryOp::kNot) z[i] = static_cast<U>(~x[i]);
    if (kOp == UnaryOp::kSquare) z[i] = static_cast<U>(1u * x[i] * x[i]);
  }
}

template <typename U>
UnaryFn FindUnaryOfType(UnaryOp op, bool is_signed) {
  switch (op) {
    case UnaryOp::kNeg:
      return &UnaryPlain<U, UnaryOp::kNeg>;
    case UnaryOp::kAbs:
      return is_signed ? &UnaryPlain<U, UnaryOp::kAbs> : nullptr;
    case UnaryOp::kNot:
      return &UnaryPlain<U, UnaryOp::kNot>;
    case UnaryOp::kSquare:
      return &UnaryPlain<U, UnaryOp::kSquare>;
    default:
      return nullptr;
  }
}

}  // namespace

BinaryFn FindIntBinary(BinaryOp op, DType dtype, Form form) {
  switch (dtype) {
    case DType::kBool:
      return FindBool(op, form);
    case DType::kI8:
      return FindOfType<std::uint8_t, std::int8_t, std::int8_t>(op, form);
    case DType::kI16:
      return FindOfType<std::uint16_t, std::int16_t, std::int16_t>(op, form);
    case DType::kI32:
      return FindOfType<std::uint32_t, std::int32_t, std::int32_t>(op, form);
    case DType::kI64:
      return FindOfType<std::uint64_t, std::int64_t, std::int64_t>(op, form);
    case DType::kU8:
      return FindOfType<std::uint8_t, std::int8_t, std::uint8_t>(op, form);
    case DType::kU16:
      return FindOfType<std::uint16_t, std::int16_t, std::uint16_t>(op, form);
    case DType::kU32:
      return FindOfType<std::uint32_t, std::int32_t, std::uint32_t>(op, form);
    case DType::kU64:
      return FindOfType<std::uint64_t, std::int64_t, std::uint64_t>(op, form);
    default:
      return nullptr;
  }
}

UnaryFn FindIntUnary(UnaryOp op, DType dtype) {
  switch (dtype) {
    case DType::kI8:
    case DType::kU8:
      return FindUnaryOfType<std::uint8_t>(op, dtype == DType::kI8);
    case DType::kI16:
    case DType::kU16:
      return FindUnaryOfType<std::uint16_t>(op, dtype == DType::kI16);
    case DType::kI32:
    case DType::kU32:
      return FindUnaryOfType<std::uint32_t>(op, dtype == DType::kI32);
    case DType::kI64:
    case DType::kU64:
      return FindUnaryOfType<std::uint64_t>(op, dtype == DType::kI64);
    default:
      return nullptr;
  }
}

#endif  // HWY_TARGET != HWY_STATIC_TARGET
}  // namespace palladion::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace palladion::simd {

BinaryFn FindIntBinarySimd(BinaryOp op, DType dtype, Form form, Target target) {
  switch (target) {
#if HWY_ARCH_X86
    case Target::kSsse3:
      return N_SSSE3::FindIntBinary(op, dtype, form);
    case Target::kAvx2:
      return N_AVX2::FindIntBinary(op, dtype, form);
    case Target::kAvx512:
      return N_AVX3::FindIntBinary(op, dtype, form);
#elif HWY_ARCH_ARM_A64
    case Target::kNeon:
      return N_NEON::FindIntBinary(op, dtype, form);
#endif
    default:
      return nullptr;
  }
}

UnaryFn FindIntUnarySimd(UnaryOp op, DType dtype, Target target) {
  switch (target) {
#if HWY_ARCH_X86
    case Target::kSsse3:
      return N_SSSE3::FindIntUnary(op, dtype);
    case Target::kAvx2:
      return N_AVX2::FindIntUnary(op, dtype);
    case Target::kAvx512:
      return N_AVX3::FindIntUnary(op, dtype);
#elif HWY_ARCH_ARM_A64
    case Target::kNeon:
      return N_NEON::FindIntUnary(op, dtype);
#endif
    default:
      return nullptr;
  }
}

}  // namespace palladion::simd
#endif  // HWY_ONCE
