// Comparisons for each SIMD target: plain loops that the compiler vectorises. f16 and bf16 compare as integers: sign
// and magnitude become two's complement, which puts -0 on +0, and a NaN is a magnitude above infinity's.
#include <cstddef>
#include <cstdint>

#include "semantics/simd/elementwise_internal.h"
#include "semantics/simd/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "semantics/simd/compare_simd.cc"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace palladion::simd::HWY_NAMESPACE {
#if HWY_TARGET != HWY_STATIC_TARGET
namespace {

template <BinaryOp kOp, typename T>
HWY_INLINE bool Holds(T a, T b) {
  if (kOp == BinaryOp::kEq) return a == b;
  if (kOp == BinaryOp::kNe) return a != b;
  if (kOp == BinaryOp::kLt) return a < b;
  return a <= b;
}

template <typename Lane>
struct AsIs {
  using T = Lane;
  template <BinaryOp kOp>
  static HWY_INLINE std::uint8_t Compare(T a, T b) {
    return Holds<kOp>(a, b);
  }
};

template <std::int16_t kInfinity>
struct HalfFloat {
  using T = std::uint16_t;
  template <BinaryOp kOp>
  static HWY_INLINE std::uint8_t Compare(T a, T b) {
    const auto x = static_cast<std::int16_t>(a & 0x7fff);
    const auto y = static_cast<std::int16_t>(b & 0x7fff);
    const auto sx = static_cast<std::int16_t>(static_cast<std::int16_t>(a) >> 15);
    const auto sy = static_cast<std::int16_t>(static_cast<std::int16_t>(b) >> 15);
    const std::uint8_t holds =
        Holds<kOp>(static_cast<std::int16_t>((x ^ sx) - sx), static_cast<std::int16_t>((y ^ sy) - sy));
    const std::uint8_t unordered = static_cast<std::uint8_t>((x > kInfinity) | (y > kInfinity));
    return kOp == BinaryOp::kNe ? static_cast<std::uint8_t>(holds | unordered)
                                : static_cast<std::uint8_t>(holds & (unordered ^ 1));
  }
};

template <class Type, BinaryOp kOp, Form kForm>
void Loop(const void* a, const void* b, void* out, std::size_t n) {
  using T = typename Type::T;
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  auto* z = static_cast<std::uint8_t*>(out);
  if (n == 0) return;
  const T scalar = kForm == Form::kSV ? x[0] : y[0];
  for (std::size_t i = 0; i < n; ++i) {
    z[i] = Type::template Compare<kOp>(kForm == Form::kSV ? scalar : x[i], kForm == Form::kVS ? scalar : y[i]);
  }
}

// a > b is b < a.
template <class Type, BinaryOp kOp, Form kForm>
void Swapped(const void* a, const void* b, void* out, std::size_t n) {
  Loop<Type, kOp, kForm>(b, a, out, n);
}

template <class Type, BinaryOp kOp>
BinaryFn OfForm(Form form) {
  switch (form) {
    case Form::kVV:
      return &Loop<Type, kOp, Form::kVV>;
    case Form::kSV:
      return &Loop<Type, kOp, Form::kSV>;
    case Form::kVS:
      return &Loop<Type, kOp, Form::kVS>;
  }
  return nullptr;
}

template <class Type, BinaryOp kOp>
BinaryFn SwappedOfForm(Form form) {
  switch (form) {
    case Form::kVV:
      return &Swapped<Type, kOp, Form::kVV>;
    case Form::kSV:
      return &Swapped<Type, kOp, Form::kVS>;
    case Form::kVS:
      return &Swapped<Type, kOp, Form::kSV>;
  }
  return nullptr;
}

template <class Type>
BinaryFn OfType(BinaryOp op, Form form) {
  switch (op) {
    case BinaryOp::kEq:
      return OfForm<Type, BinaryOp::kEq>(form);
    case BinaryOp::kNe:
      return OfForm<Type, BinaryOp::kNe>(form);
    case BinaryOp::kLt:
      return OfForm<Type, BinaryOp::kLt>(form);
    case BinaryOp::kLe:
      return OfForm<Type, BinaryOp::kLe>(form);
    case BinaryOp::kGt:
      return SwappedOfForm<Type, BinaryOp::kLt>(form);
    case BinaryOp::kGe:
      return SwappedOfForm<Type, BinaryOp::kLe>(form);
    default:
      return nullptr;
  }
}

}  // namespace

BinaryFn FindCompare(BinaryOp op, DType dtype, Form form) {
  switch (dtype) {
    case DType::kI8:
      return OfType<AsIs<std::int8_t>>(op, form);
    case DType::kI16:
      return OfType<AsIs<std::int16_t>>(op, form);
    case DType::kI32:
      return OfType<AsIs<std::int32_t>>(op, form);
    case DType::kI64:
      return OfType<AsIs<std::int64_t>>(op, form);
    case DType::kU8:
      return OfType<AsIs<std::uint8_t>>(op, form);
    case DType::kU16:
      return OfType<AsIs<std::uint16_t>>(op, form);
    case DType::kU32:
      return OfType<AsIs<std::uint32_t>>(op, form);
    case DType::kU64:
      return OfType<AsIs<std::uint64_t>>(op, form);
    case DType::kF16:
      return OfType<HalfFloat<0x7c00>>(op, form);
    case DType::kBF16:
      return OfType<HalfFloat<0x7f80>>(op, form);
    case DType::kF32:
      return OfType<AsIs<float>>(op, form);
    case DType::kF64:
      return OfType<AsIs<double>>(op, form);
    default:
      return nullptr;
  }
}

#endif  // HWY_TARGET != HWY_STATIC_TARGET
}  // namespace palladion::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace palladion::simd {

BinaryFn FindCompareSimd(BinaryOp op, DType dtype, Form form, Target target) {
  switch (target) {
#if HWY_ARCH_X86
    case Target::kSsse3:
      return N_SSSE3::FindCompare(op, dtype, form);
    case Target::kAvx2:
      return N_AVX2::FindCompare(op, dtype, form);
    case Target::kAvx512:
      return N_AVX3::FindCompare(op, dtype, form);
#elif HWY_ARCH_ARM_A64
    case Target::kNeon:
      return N_NEON::FindCompare(op, dtype, form);
#endif
    default:
      return nullptr;
  }
}

}  // namespace palladion::simd
#endif  // HWY_ONCE
