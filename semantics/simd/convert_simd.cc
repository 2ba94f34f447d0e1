// The frequent conversions for each SIMD target, with the meaning of semantics/tensor/convert.h: one rounding to
// nearest even, a NaN becomes the quiet one and keeps its sign, float to integer truncates and saturates and takes NaN
// to 0.
#include <cstddef>
#include <cstdint>

#include "semantics/simd/elementwise.h"
#include "semantics/simd/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "semantics/simd/convert_simd.cc"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "semantics/simd/vector_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace palladion::simd::HWY_NAMESPACE {
#if HWY_TARGET != HWY_STATIC_TARGET
namespace {

HWY_INLINE std::uint32_t QuietKeepingSign(std::uint32_t bits) {
  return (bits & 0x7fffffffu) > 0x7f800000u ? (bits & 0x80000000u) | 0x7fc00000u : bits;
}

void BF16ToF32(const void* in, void* out, std::size_t n) {
  const auto* x = static_cast<const std::uint16_t*>(in);
  auto* z = static_cast<std::uint32_t*>(out);
  for (std::size_t i = 0; i < n; ++i) z[i] = QuietKeepingSign(static_cast<std::uint32_t>(x[i]) << 16);
}

void F32ToBF16(const void* in, void* out, std::size_t n) {
  const auto* x = static_cast<const std::uint32_t*>(in);
  auto* z = static_cast<std::uint16_t*>(out);
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t bits = QuietKeepingSign(x[i]);
    z[i] = static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
  }
}

template <typename From, typename To>
void Plain(const void* in, void* out, std::size_t n) {
  const auto* x = static_cast<const From*>(in);
  auto* z = static_cast<To*>(out);
  for (std::size_t i = 0; i < n; ++i) z[i] = static_cast<To>(x[i]);
}

template <typename To>
void FromBool(const void* in, void* out, std::size_t n) {
  const auto* x = static_cast<const std::uint8_t*>(in);
  auto* z = static_cast<To*>(out);
  for (std::size_t i = 0; i < n; ++i) z[i] = static_cast<To>(x[i] != 0 ? 1 : 0);
}

template <class DF, class VF>
HWY_INLINE auto TruncateToInt(DF, VF x) {
  const hn::RebindToSigned<DF> di;
  const auto truncated = hn::ConvertTo(di, x);  // saturates; a NaN gives the smallest integer
  return hn::IfThenElseZero(hn::RebindMask(di, hn::Eq(x, x)), truncated);
}

void F32ToI32(const void* in, void* out, std::size_t n) {
  const hn::ScalableTag<float> df;
  const hn::RebindToSigned<decltype(df)> di;
  constexpr std::size_t kLanes = hn::MaxLanes(df);
  const auto* x = static_cast<const float*>(in);
  auto* z = static_cast<std::int32_t*>(out);
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) hn::StoreU(TruncateToInt(df, hn::LoadU(df, x + i)), di, z + i);
  if (i < n) StoreFirst(TruncateToInt(df, LoadFirst(df, x + i, n - i)), di, z + i, n - i);
}

#if HWY_TARGET <= HWY_AVX2  // smaller is better: AVX2 and up have F16C

// Like QuietKeepingSign.
template <class DF, class VF>
HWY_INLINE VF QuietLanes(DF df, VF x) {
  const VF quiet = hn::BitCast(df, hn::Set(hn::RebindToUnsigned<DF>(), 0x7fc00000u));
  return hn::IfThenElse(hn::IsNaN(x), hn::CopySign(quiet, x), x);
}

void F16ToF32(const void* in, void* out, std::size_t n) {
  const hn::ScalableTag<float> df;
  const hn::Rebind<std::uint16_t, decltype(df)> du;
  const hn::Rebind<hwy::float16_t, decltype(df)> dh;
  constexpr std::size_t kLanes = hn::MaxLanes(df);
  const auto* x = static_cast<const std::uint16_t*>(in);
  auto* z = static_cast<float*>(out);
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    hn::StoreU(QuietLanes(df, hn::PromoteTo(df, hn::BitCast(dh, hn::LoadU(du, x + i)))), df, z + i);
  }
  if (i < n) {
    const auto rest = hn::PromoteTo(df, hn::BitCast(dh, LoadFirst(du, x + i, n - i)));
    StoreFirst(QuietLanes(df, rest), df, z + i, n - i);
  }
}

void F32ToF16(const void* in, void* out, std::size_t n) {
  const hn::ScalableTag<float> df;
  const hn::Rebind<std::uint16_t, decltype(df)> du;
  const hn::Rebind<hwy::float16_t, decltype(df)> dh;
  constexpr std::size_t kLanes = hn::MaxLanes(df);
  const auto* x = static_cast<const float*>(in);
  auto* z = static_cast<std::uint16_t*>(out);
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    hn::StoreU(hn::BitCast(du, hn::DemoteTo(dh, QuietLanes(df, hn::LoadU(df, x + i)))), du, z + i);
  }
  if (i < n) {
    const auto rest = QuietLanes(df, LoadFirst(df, x + i, n - i));
    StoreFirst(hn::BitCast(du, hn::DemoteTo(dh, rest)), du, z + i, n - i);
  }
}

#endif  // F16C

ConvertFn FromF32(DType to) {
  if (to == DType::kBF16) return &F32ToBF16;
  if (to == DType::kI32) return &F32ToI32;
#if HWY_TARGET <= HWY_AVX2
  if (to == DType::kF16) return &F32ToF16;
#endif
  return nullptr;
}

ConvertFn ToF32(DType from) {
  if (from == DType::kBF16) return &BF16ToF32;
  if (from == DType::kI32) return &Plain<std::int32_t, float>;
  if (from == DType::kI8) return &Plain<std::int8_t, float>;
  if (from == DType::kBool) return &FromBool<float>;
#if HWY_TARGET <= HWY_AVX2
  if (from == DType::kF16) return &F16ToF32;
#endif
  return nullptr;
}

}  // namespace

ConvertFn FindConvert(DType from, DType to) {
  if (from == DType::kF32) return FromF32(to);
  if (to == DType::kF32) return ToF32(from);
  if (from == DType::kI8 && to == DType::kI32) return &Plain<std::int8_t, std::int32_t>;
  if (from == DType::kBool && to == DType::kI32) return &FromBool<std::int32_t>;
  return nullptr;
}

#endif  // HWY_TARGET != HWY_STATIC_TARGET
}  // namespace palladion::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace palladion::simd {

ConvertFn FindConvertSimd(DType from, DType to, Target target) {
  switch (target) {
#if HWY_ARCH_X86
    case Target::kSsse3:
      return N_SSSE3::FindConvert(from, to);
    case Target::kAvx2:
      return N_AVX2::FindConvert(from, to);
    case Target::kAvx512:
      return N_AVX3::FindConvert(from, to);
#elif HWY_ARCH_ARM_A64
    case Target::kNeon:
      return N_NEON::FindConvert(from, to);
#endif
    default:
      return nullptr;
  }
}

}  // namespace palladion::simd
#endif  // HWY_ONCE
