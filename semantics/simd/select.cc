// select: the reference loops and, for each SIMD target, a blend under the predicate bytes widened to the elements'
// size.
#include <cstddef>
#include <cstdint>

#include "semantics/simd/elementwise.h"
#include "semantics/simd/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "semantics/simd/select.cc"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "semantics/simd/vector_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace palladion::simd::HWY_NAMESPACE {
#if HWY_TARGET != HWY_STATIC_TARGET
namespace {

template <class D, class V8>
HWY_INLINE hn::Mask<D> MaskOf(D d, V8 bytes) {
  if constexpr (sizeof(hn::TFromD<D>) == 1) {
    return hn::Ne(bytes, hn::Zero(d));
  } else if constexpr (sizeof(hn::TFromD<D>) == 8) {
    const hn::Rebind<std::uint32_t, D> d32;
    return hn::Ne(hn::PromoteTo(d, hn::PromoteTo(d32, bytes)), hn::Zero(d));
  } else {
    return hn::Ne(hn::PromoteTo(d, bytes), hn::Zero(d));
  }
}

template <typename T, bool kFalseIsScalar, bool kTrueIsScalar>
void Loop(const void* pred, const void* on_false, const void* on_true, void* out, std::size_t n) {
  const hn::ScalableTag<T> d;
  const hn::Rebind<std::uint8_t, decltype(d)> d8;
  using V = hn::Vec<decltype(d)>;
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  const auto* p = static_cast<const std::uint8_t*>(pred);
  const T* x = static_cast<const T*>(on_false);
  const T* y = static_cast<const T*>(on_true);
  T* z = static_cast<T*>(out);
  if (n == 0) return;
  const V vx = hn::Set(d, x[0]);
  const V vy = hn::Set(d, y[0]);
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const V a = kFalseIsScalar ? vx : hn::LoadU(d, x + i);
    const V b = kTrueIsScalar ? vy : hn::LoadU(d, y + i);
    hn::StoreU(hn::IfThenElse(MaskOf(d, hn::LoadU(d8, p + i)), b, a), d, z + i);
  }
  if (i < n) {
    const V a = kFalseIsScalar ? vx : LoadFirst(d, x + i, n - i);
    const V b = kTrueIsScalar ? vy : LoadFirst(d, y + i, n - i);
    StoreFirst(hn::IfThenElse(MaskOf(d, LoadFirst(d8, p + i, n - i)), b, a), d, z + i, n - i);
  }
}

template <typename T>
SelectFn OfForm(SelectForm form) {
  switch (form) {
    case SelectForm::kVVV:
      return &Loop<T, false, false>;
    case SelectForm::kVSV:
      return &Loop<T, true, false>;
    case SelectForm::kVVS:
      return &Loop<T, false, true>;
    case SelectForm::kVSS:
      return &Loop<T, true, true>;
  }
  return nullptr;
}

}  // namespace

SelectFn FindSelect(std::size_t element_size, SelectForm form) {
  switch (element_size) {
    case 1:
      return OfForm<std::uint8_t>(form);
    case 2:
      return OfForm<std::uint16_t>(form);
    case 4:
      return OfForm<std::uint32_t>(form);
    case 8:
      return OfForm<std::uint64_t>(form);
    default:
      return nullptr;
  }
}

#endif  // HWY_TARGET != HWY_STATIC_TARGET
}  // namespace palladion::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace palladion::simd {
namespace {

template <typename T, bool kFalseIsScalar, bool kTrueIsScalar>
void ScalarLoop(const void* pred, const void* on_false, const void* on_true, void* out, std::size_t n) {
  const auto* p = static_cast<const std::uint8_t*>(pred);
  const T* x = static_cast<const T*>(on_false);
  const T* y = static_cast<const T*>(on_true);
  T* z = static_cast<T*>(out);
  if (n == 0) return;
  const T x0 = x[0];
  const T y0 = y[0];
  for (std::size_t i = 0; i < n; ++i) {
    z[i] = p[i] != 0 ? (kTrueIsScalar ? y0 : y[i]) : (kFalseIsScalar ? x0 : x[i]);
  }
}

template <typename T>
SelectFn ScalarOfForm(SelectForm form) {
  switch (form) {
    case SelectForm::kVVV:
      return &ScalarLoop<T, false, false>;
    case SelectForm::kVSV:
      return &ScalarLoop<T, true, false>;
    case SelectForm::kVVS:
      return &ScalarLoop<T, false, true>;
    case SelectForm::kVSS:
      return &ScalarLoop<T, true, true>;
  }
  return nullptr;
}

SelectFn FindSelectScalar(std::size_t element_size, SelectForm form) {
  switch (element_size) {
    case 1:
      return ScalarOfForm<std::uint8_t>(form);
    case 2:
      return ScalarOfForm<std::uint16_t>(form);
    case 4:
      return ScalarOfForm<std::uint32_t>(form);
    case 8:
      return ScalarOfForm<std::uint64_t>(form);
    default:
      return nullptr;
  }
}

}  // namespace

SelectFn FindSelect(std::size_t element_size, SelectForm form, Target target) {
  switch (target) {
#if HWY_ARCH_X86
    case Target::kSsse3:
      return N_SSSE3::FindSelect(element_size, form);
    case Target::kAvx2:
      return N_AVX2::FindSelect(element_size, form);
    case Target::kAvx512:
      return N_AVX3::FindSelect(element_size, form);
#elif HWY_ARCH_ARM_A64
    case Target::kNeon:
      return N_NEON::FindSelect(element_size, form);
#endif
    default:
      return FindSelectScalar(element_size, form);
  }
}

}  // namespace palladion::simd
#endif  // HWY_ONCE
