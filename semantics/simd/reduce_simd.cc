// Reductions for each SIMD target: sums and products of floats in sixteen double partials, extremes of floats, and
// plain loops for integers, which the compiler vectorises.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "semantics/simd/reduce_internal.h"
#include "semantics/simd/target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "semantics/simd/reduce_simd.cc"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "semantics/simd/float_lanes-inl.h"
#include "semantics/simd/vector_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace palladion::simd::HWY_NAMESPACE {
#if HWY_TARGET != HWY_STATIC_TARGET
namespace {

// Elements as double lanes, exactly; kOne is what pads a product.
struct FromF32 {
  using T = float;
  static constexpr T kOne = 1.0f;
  template <class D>
  static HWY_INLINE hn::Vec<D> Load(D d, const T* p) {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), p));
  }
};

struct FromF64 {
  using T = double;
  static constexpr T kOne = 1.0;
  template <class D>
  static HWY_INLINE hn::Vec<D> Load(D d, const T* p) {
    return hn::LoadU(d, p);
  }
};

struct FromBF16 {
  using T = std::uint16_t;
  static constexpr T kOne = 0x3f80;
  template <class D>
  static HWY_INLINE hn::Vec<D> Load(D d, const T* p) {
    const hn::Rebind<std::uint32_t, D> du;
    const auto bits = hn::ShiftLeft<16>(hn::PromoteTo(du, hn::LoadU(hn::Rebind<T, D>(), p)));
    return hn::PromoteTo(d, hn::BitCast(hn::Rebind<float, D>(), bits));
  }
};

#if HWY_TARGET <= HWY_AVX2  // smaller is better: AVX2 and up have F16C
struct FromF16 {
  using T = std::uint16_t;
  static constexpr T kOne = 0x3c00;
  template <class D>
  static HWY_INLINE hn::Vec<D> Load(D d, const T* p) {
    const hn::Rebind<float, D> df;
    const auto halves = hn::BitCast(hn::Rebind<hwy::float16_t, D>(), hn::LoadU(hn::Rebind<T, D>(), p));
    return hn::PromoteTo(d, hn::PromoteTo(df, halves));
  }
};
#endif

template <ReduceOp kOp, class V>
HWY_INLINE V Combine(V a, V b) {
  if constexpr (kOp == ReduceOp::kSum) {
    return hn::Add(a, b);
  } else {
    return hn::Mul(a, b);
  }
}

// Lane j takes in lane j + half, until one is left.
template <ReduceOp kOp, class D, class V>
HWY_INLINE double CombineLanes(D d, V v) {
  if constexpr (hn::MaxLanes(d) == 1) {
    return hn::GetLane(v);
  } else {
    const hn::Half<D> half;
    return CombineLanes<kOp>(half, Combine<kOp>(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

template <ReduceOp kOp, class From>
void RowSums(const void* in, std::size_t rows, std::size_t length, double* sums) {
  const hn::ScalableTag<double> d;
  using V = hn::Vec<decltype(d)>;
  using T = typename From::T;
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  constexpr std::size_t kVectors = kPartials / kLanes;
  const V identity = hn::Set(d, kOp == ReduceOp::kSum ? 0.0 : 1.0);
  const auto* x = static_cast<const T*>(in);
  for (std::size_t r = 0; r < rows; ++r, x += length) {
    V part[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) part[v] = identity;
    std::size_t i = 0;
    for (; i + kPartials <= length; i += kPartials) {
      for (std::size_t v = 0; v < kVectors; ++v) part[v] = Combine<kOp>(part[v], From::Load(d, x + i + v * kLanes));
    }
    if (i < length) {  // a partial that takes in the identity keeps its bits: no partial sum is ever -0
      T rest[kPartials];
      for (std::size_t j = 0; j < kPartials; ++j)
        rest[j] = i + j < length ? x[i + j] : kOp == ReduceOp::kSum ? T{0} : From::kOne;
      for (std::size_t v = 0; v < kVectors; ++v) part[v] = Combine<kOp>(part[v], From::Load(d, rest + v * kLanes));
    }
    for (std::size_t half = kVectors / 2; half > 0; half /= 2) {
      for (std::size_t v = 0; v < half; ++v) part[v] = Combine<kOp>(part[v], part[v + half]);
    }
    sums[r] = CombineLanes<kOp>(d, part[0]);
  }
}

// One double vector of columns. Each partial in turn, so that it stays in a register.
template <ReduceOp kOp, class From, class D>
HWY_INLINE hn::Vec<D> ColumnVector(D d, const typename From::T* x, std::size_t length, std::size_t stride) {
  using V = hn::Vec<D>;
  V part[kPartials];
  for (std::size_t j = 0; j < kPartials; ++j) {
    V sum = hn::Set(d, kOp == ReduceOp::kSum ? 0.0 : 1.0);
    for (std::size_t k = j; k < length; k += kPartials) sum = Combine<kOp>(sum, From::Load(d, x + k * stride));
    part[j] = sum;
  }
  for (std::size_t half = kPartials / 2; half > 0; half /= 2) {
    for (std::size_t j = 0; j < half; ++j) part[j] = Combine<kOp>(part[j], part[j + half]);
  }
  return part[0];
}

template <ReduceOp kOp, class From>
void ColumnSums(const void* in, std::size_t length, std::size_t stride, std::size_t columns, double* sums) {
  const hn::ScalableTag<double> d;
  const hn::CappedTag<double, 1> d1;
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  const auto* x = static_cast<const typename From::T*>(in);
  std::size_t c = 0;
  for (; c + kLanes <= columns; c += kLanes) {
    hn::StoreU(ColumnVector<kOp, From>(d, x + c, length, stride), d, sums + c);
  }
  for (; c < columns; ++c) hn::StoreU(ColumnVector<kOp, From>(d1, x + c, length, stride), d1, sums + c);
}

template <class Op, class D, class V>
HWY_INLINE hn::TFromD<D> ExtremeLane(D d, V v) {
  if constexpr (hn::MaxLanes(d) * sizeof(hn::TFromD<D>) > 16) {
    const hn::Half<D> half;
    return ExtremeLane<Op>(half, Op::Apply(half, hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  } else {
    const hn::Repartition<std::uint32_t, D> du;
    V best = Op::Apply(d, v, hn::BitCast(d, hn::Shuffle1032(hn::BitCast(du, v))));
    if constexpr (sizeof(hn::TFromD<D>) <= 4) {
      best = Op::Apply(d, best, hn::BitCast(d, hn::Shuffle2301(hn::BitCast(du, best))));
    }
    if constexpr (sizeof(hn::TFromD<D>) == 2) {
      best = Op::Apply(d, best, hn::BitCast(d, hn::RotateRight<16>(hn::BitCast(du, best))));
    }
    return hn::GetLane(best);
  }
}

// An element taken in twice changes nothing, so that the last vector may overlap the one before.
template <class Op>
void ExtremeRows(const void* in, std::size_t rows, std::size_t length, void* out) {
  using T = typename Op::T;
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  const T* x = static_cast<const T*>(in);
  T* z = static_cast<T*>(out);
  for (std::size_t r = 0; r < rows; ++r, x += length) {
    V best = hn::Set(d, x[0]);
    if (length >= kLanes) {
      for (std::size_t i = 0; i + kLanes < length; i += kLanes) best = Op::Apply(d, best, hn::LoadU(d, x + i));
      best = Op::Apply(d, best, hn::LoadU(d, x + length - kLanes));
    } else {
      HWY_ALIGN T row[kLanes];
      for (std::size_t i = 0; i < kLanes; ++i) row[i] = x[i < length ? i : 0];
      best = Op::Apply(d, best, hn::Load(d, row));
    }
    z[r] = ExtremeLane<Op>(d, best);
  }
}

// The same for kMax and kMin of f32 and f64: NaNs are noted aside, so that each step waits for the order alone.
template <class Op, bool kIsMax>
void OrderedRows(const void* in, std::size_t rows, std::size_t length, void* out) {
  using T = typename Op::T;
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  if (length < kLanes) return ExtremeRows<Op>(in, rows, length, out);
  const T* x = static_cast<const T*>(in);
  T* z = static_cast<T*>(out);
  for (std::size_t r = 0; r < rows; ++r, x += length) {
    V best = hn::LoadU(d, x + length - kLanes);
    auto is_nan = hn::IsNaN(best);
    for (std::size_t i = 0; i + kLanes < length; i += kLanes) {
      const V v = hn::LoadU(d, x + i);
      is_nan = hn::Or(is_nan, hn::IsNaN(v));
      best = kIsMax ? hn::And(hn::Max(best, v), hn::Max(v, best)) : hn::Or(hn::Min(best, v), hn::Min(v, best));
    }
    z[r] = hn::AllFalse(d, is_nan) ? ExtremeLane<Op>(d, best) : hn::GetLane(QuietNaN(d));
  }
}

template <ReduceOp kOp, typename T>
void IntRows(const void* in, std::size_t rows, std::size_t length, void* out) {
  const T* x = static_cast<const T*>(in);
  T* z = static_cast<T*>(out);
  for (std::size_t r = 0; r < rows; ++r, x += length) {
    T result = x[0];
    for (std::size_t i = 1; i < length; ++i) {
      if (kOp == ReduceOp::kSum) result = static_cast<T>(result + x[i]);
      if (kOp == ReduceOp::kProd) result = static_cast<T>(1u * result * x[i]);
      if (kOp == ReduceOp::kMax) result = x[i] > result ? x[i] : result;
      if (kOp == ReduceOp::kMin) result = x[i] < result ? x[i] : result;
      if (kOp == ReduceOp::kAnd) result = static_cast<T>(result & x[i]);
      if (kOp == ReduceOp::kOr) result = static_cast<T>(result | x[i]);
      if (kOp == ReduceOp::kXor) result = static_cast<T>(result ^ x[i]);
    }
    z[r] = result;
  }
}

using RowsFn = void (*)(const void*, std::size_t, std::size_t, void*);

template <typename U, typename T>
RowsFn IntRowsOfType(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
      return &IntRows<ReduceOp::kSum, U>;
    case ReduceOp::kProd:
      return &IntRows<ReduceOp::kProd, U>;
    case ReduceOp::kMax:
      return &IntRows<ReduceOp::kMax, T>;
    case ReduceOp::kMin:
      return &IntRows<ReduceOp::kMin, T>;
    case ReduceOp::kAnd:
      return &IntRows<ReduceOp::kAnd, U>;
    case ReduceOp::kOr:
      return &IntRows<ReduceOp::kOr, U>;
    case ReduceOp::kXor:
      return &IntRows<ReduceOp::kXor, U>;
    default:
      return nullptr;
  }
}

RowsFn FindIntRows(ReduceOp op, DType dtype) {
  switch (dtype) {
    case DType::kI8:
      return IntRowsOfType<std::uint8_t, std::int8_t>(op);
    case DType::kI16:
      return IntRowsOfType<std::uint16_t, std::int16_t>(op);
    case DType::kI32:
      return IntRowsOfType<std::uint32_t, std::int32_t>(op);
    case DType::kI64:
      return IntRowsOfType<std::uint64_t, std::int64_t>(op);
    case DType::kU8:
      return IntRowsOfType<std::uint8_t, std::uint8_t>(op);
    case DType::kU16:
      return IntRowsOfType<std::uint16_t, std::uint16_t>(op);
    case DType::kU32:
      return IntRowsOfType<std::uint32_t, std::uint32_t>(op);
    case DType::kU64:
      return IntRowsOfType<std::uint64_t, std::uint64_t>(op);
    default:
      return nullptr;
  }
}

template <class Op>
RowsFn ExtremeOfType(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return &ExtremeRows<OnF32<Op>>;
    case DType::kF64:
      return &ExtremeRows<OnF64<Op>>;
    case DType::kBF16:
      return &ExtremeRows<OnBF16<Op>>;
    case DType::kF16:
      return &ExtremeRows<OnF16<Op>>;
    default:
      return nullptr;
  }
}

RowsFn FindExtremeRows(ReduceOp op, DType dtype) {
  switch (op) {
    case ReduceOp::kMax:
      if (dtype == DType::kF32) return &OrderedRows<OnF32<Max>, true>;
      if (dtype == DType::kF64) return &OrderedRows<OnF64<Max>, true>;
      return ExtremeOfType<Max>(dtype);
    case ReduceOp::kMin:
      if (dtype == DType::kF32) return &OrderedRows<OnF32<Min>, false>;
      if (dtype == DType::kF64) return &OrderedRows<OnF64<Min>, false>;
      return ExtremeOfType<Min>(dtype);
    case ReduceOp::kMaxNum:
      return ExtremeOfType<MaxNum>(dtype);
    case ReduceOp::kMinNum:
      return ExtremeOfType<MinNum>(dtype);
    default:
      return nullptr;
  }
}

template <ReduceOp kOp, class From>
void SetSums(ReduceKernel& kernel) {
  kernel.row_sums = &RowSums<kOp, From>;
  kernel.column_sums = &ColumnSums<kOp, From>;
}

template <ReduceOp kOp>
void AddSums(DType dtype, ReduceKernel& kernel) {
  if (dtype == DType::kF32) SetSums<kOp, FromF32>(kernel);
  if (dtype == DType::kF64) SetSums<kOp, FromF64>(kernel);
  if (dtype == DType::kBF16) SetSums<kOp, FromBF16>(kernel);
#if HWY_TARGET <= HWY_AVX2
  if (dtype == DType::kF16) SetSums<kOp, FromF16>(kernel);
#endif
}

}  // namespace

void AddReduce(ReduceOp op, DType dtype, bool is_float, ReduceKernel& kernel) {
  if (!is_float) {
    kernel.rows = FindIntRows(op, dtype);
  } else if (op == ReduceOp::kSum) {
    AddSums<ReduceOp::kSum>(dtype, kernel);
  } else if (op == ReduceOp::kProd) {
    AddSums<ReduceOp::kProd>(dtype, kernel);
  } else {
    kernel.rows = FindExtremeRows(op, dtype);
  }
}

#endif  // HWY_TARGET != HWY_STATIC_TARGET
}  // namespace palladion::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace palladion::simd {

void AddReduceSimd(ReduceOp op, DType dtype, Target target, ReduceKernel& kernel) {
  switch (target) {
#if HWY_ARCH_X86
    case Target::kSsse3:
      return N_SSSE3::AddReduce(op, dtype, IsFloat(dtype), kernel);
    case Target::kAvx2:
      return N_AVX2::AddReduce(op, dtype, IsFloat(dtype), kernel);
    case Target::kAvx512:
      return N_AVX3::AddReduce(op, dtype, IsFloat(dtype), kernel);
#elif HWY_ARCH_ARM_A64
    case Target::kNeon:
      return N_NEON::AddReduce(op, dtype, IsFloat(dtype), kernel);
#endif
    default:
      return;
  }
}

}  // namespace palladion::simd
#endif  // HWY_ONCE
