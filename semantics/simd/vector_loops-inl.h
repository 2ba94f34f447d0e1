// Loops over dense arrays around an operation on one vector, for each SIMD target (included once per target).
// An operation is a struct with `using T` (the lane type of the arrays) and `static V Apply(D d, V a, V b)`, or of one
// operand. A rest shorter than a vector goes through masked loads where the target has them for the lane size, else
// through a buffer whose other lanes are zero; so no byte outside the arrays is touched.
#if defined(PALLADION_SEMANTICS_SIMD_VECTOR_LOOPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PALLADION_SEMANTICS_SIMD_VECTOR_LOOPS_INL_H_
#undef PALLADION_SEMANTICS_SIMD_VECTOR_LOOPS_INL_H_
#else
#define PALLADION_SEMANTICS_SIMD_VECTOR_LOOPS_INL_H_
#endif

#include <cstddef>
#include <cstring>

#include "hwy/highway.h"
#include "semantics/simd/elementwise.h"

HWY_BEFORE_NAMESPACE();
namespace palladion::simd::HWY_NAMESPACE {
#if HWY_TARGET != HWY_STATIC_TARGET
namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
constexpr bool HasMaskedAccess() {
  return HWY_TARGET <= HWY_AVX3 || (HWY_TARGET == HWY_AVX2 && sizeof(T) >= 4);
}

// The first `count` lanes; the others are zero.
template <class D, typename T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> LoadFirst(D d, const T* p, std::size_t count) {
  if constexpr (HasMaskedAccess<T>()) {
    return hn::MaskedLoad(hn::FirstN(d, count), d, p);
  } else {
    HWY_ALIGN T buffer[hn::MaxLanes(d)] = {};
    std::memcpy(buffer, p, count * sizeof(T));
    return hn::Load(d, buffer);
  }
}

template <class D, typename T = hn::TFromD<D>>
HWY_INLINE void StoreFirst(hn::Vec<D> v, D d, T* p, std::size_t count) {
  if constexpr (HasMaskedAccess<T>()) {
    hn::BlendedStore(v, hn::FirstN(d, count), d, p);
  } else {
    HWY_ALIGN T buffer[hn::MaxLanes(d)];
    hn::Store(v, d, buffer);
    std::memcpy(p, buffer, count * sizeof(T));
  }
}

template <class Op, Form kForm>
void BinaryLoop(const void* a, const void* b, void* out, std::size_t n) {
  using T = typename Op::T;
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  T* z = static_cast<T*>(out);
  if (n == 0) return;
  const V scalar = hn::Set(d, kForm == Form::kSV ? x[0] : y[0]);
  std::size_t i = 0;
  const auto step = [&](std::size_t at) HWY_ATTR {
    const V va = kForm == Form::kSV ? scalar : hn::LoadU(d, x + at);
    const V vb = kForm == Form::kVS ? scalar : hn::LoadU(d, y + at);
    hn::StoreU(Op::Apply(d, va, vb), d, z + at);
  };
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    step(i);
    step(i + kLanes);
  }
  for (; i + kLanes <= n; i += kLanes) step(i);
  if (i < n) {
    const V va = kForm == Form::kSV ? scalar : LoadFirst(d, x + i, n - i);
    const V vb = kForm == Form::kVS ? scalar : LoadFirst(d, y + i, n - i);
    StoreFirst(Op::Apply(d, va, vb), d, z + i, n - i);
  }
}

template <class Op>
void UnaryLoop(const void* a, void* out, std::size_t n) {
  using T = typename Op::T;
  const hn::ScalableTag<T> d;
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  const T* x = static_cast<const T*>(a);
  T* z = static_cast<T*>(out);
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) hn::StoreU(Op::Apply(d, hn::LoadU(d, x + i)), d, z + i);
  if (i < n) StoreFirst(Op::Apply(d, LoadFirst(d, x + i, n - i)), d, z + i, n - i);
}

template <class Op>
BinaryFn BinaryOfForm(Form form) {
  switch (form) {
    case Form::kVV:
      return &BinaryLoop<Op, Form::kVV>;
    case Form::kSV:
      return &BinaryLoop<Op, Form::kSV>;
    case Form::kVS:
      return &BinaryLoop<Op, Form::kVS>;
  }
  return nullptr;
}

#endif  // HWY_TARGET != HWY_STATIC_TARGET
}  // namespace palladion::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard, per target
