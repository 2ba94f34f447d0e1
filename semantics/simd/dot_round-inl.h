// For each SIMD target: the one rounding of the contraction's sums to the output type. Included by dot_simd.cc once for
// each target. Same values as Element<D>::FromDouble, whose method for the 16-bit types and narrower this follows.
#include "semantics/simd/dot_kernels.h"
#include "semantics/simd/dot_tables.h"

#if defined(PALLADION_SEMANTICS_SIMD_DOT_ROUND_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PALLADION_SEMANTICS_SIMD_DOT_ROUND_INL_H_
#undef PALLADION_SEMANTICS_SIMD_DOT_ROUND_INL_H_
#else
#define PALLADION_SEMANTICS_SIMD_DOT_ROUND_INL_H_
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace palladion::simd::HWY_NAMESPACE {
#if HWY_TARGET != HWY_STATIC_TARGET
namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE void RoundToF32(const double* HWY_RESTRICT sums, std::size_t count, float* HWY_RESTRICT out) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> df;
  std::size_t j = 0;
  for (; j + hn::MaxLanes(d) <= count; j += hn::MaxLanes(d)) {
    const auto value = hn::DemoteTo(df, hn::LoadU(d, sums + j));
    const auto quiet = hn::BitCast(df, hn::Set(hn::Rebind<std::uint32_t, decltype(d)>(), 0x7fc00000u));
    hn::StoreU(hn::IfThenElse(hn::Eq(value, value), value, quiet), df, out + j);
  }
  ScalarDoubleDotKernels(DotProduct::kExact).round(DType::kF32, sums + j, count - j, out + j);
}

// Element<D>::FromDouble for the types of at most 16 bits, whose codes fit a 64-bit lane: a normal result is rounded by
// adding half a step less one, plus the low kept bit, to the bits; a subnormal one by adding the number whose last
// place is the type's smallest step.
class RoundToFormat {
 public:
  HWY_INLINE explicit RoundToFormat(const FloatFormat& format) : format_(format), shift_(52 - format.mantissa_bits) {}

  HWY_INLINE hn::Vec<hn::ScalableTag<std::uint64_t>> operator()(hn::Vec<hn::ScalableTag<double>> value) const {
    const hn::ScalableTag<std::uint64_t> du;
    const hn::ScalableTag<std::int64_t> di;  // magnitudes are below 2^63: signed comparison is right and cheaper
    const hn::ScalableTag<double> df;
    const auto exponent = [](int of) HWY_ATTR { return static_cast<std::uint64_t>(of + 1023) << 52; };
    const auto bits = hn::BitCast(du, value);
    const auto magnitude = hn::And(bits, hn::Set(du, ~std::uint64_t{0} >> 1));
    const auto low_bit = hn::And(hn::ShiftRightSame(magnitude, shift_), hn::Set(du, 1));
    const auto half = hn::Set(du, (std::uint64_t{1} << (shift_ - 1)) - 1);
    const auto rebias = hn::Set(du, static_cast<std::uint64_t>(1023 - format_.bias) << format_.mantissa_bits);
    const auto normal = hn::Sub(hn::ShiftRightSame(hn::Add(hn::Add(magnitude, half), low_bit), shift_), rebias);
    const auto step = hn::Set(du, exponent(1 - format_.bias - format_.mantissa_bits + 52));
    const auto is_small = hn::Lt(hn::BitCast(di, magnitude), hn::BitCast(di, hn::Set(du, exponent(1 - format_.bias))));
    const auto small = hn::IfThenElseZero(is_small, hn::BitCast(di, magnitude));
    const auto subnormal = hn::Sub(hn::BitCast(du, hn::Add(hn::BitCast(df, small), hn::BitCast(df, step))), step);
    const auto rounded = hn::IfThenElse(is_small, hn::BitCast(di, subnormal), hn::BitCast(di, normal));
    const auto is_over = hn::Gt(rounded, hn::Set(di, format_.max_finite));
    const auto code = hn::IfThenElse(is_over, hn::Set(di, format_.overflow), rounded);
    auto sign = hn::BitCast(di, hn::ShiftRightSame(hn::AndNot(hn::Set(du, ~std::uint64_t{0} >> 1), bits),
                                                   63 - format_.exponent_bits - format_.mantissa_bits));
    if (format_.unsigned_zero) sign = hn::IfThenElseZero(hn::Ne(code, hn::Zero(di)), sign);
    const auto is_nan = hn::Gt(hn::BitCast(di, magnitude), hn::Set(di, 0x7ff0000000000000));
    return hn::BitCast(du, hn::IfThenElse(is_nan, hn::Set(di, format_.nan), hn::Or(code, sign)));
  }

 private:
  const FloatFormat& format_;
  const int shift_;
};

template <typename Storage>
HWY_INLINE void RoundToCodes(DType dtype, const FloatFormat& format, const double* HWY_RESTRICT sums, std::size_t count,
                             Storage* HWY_RESTRICT out) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<Storage, decltype(d)> ds;
  const RoundToFormat round(format);
  std::size_t j = 0;
  for (; j + hn::MaxLanes(d) <= count; j += hn::MaxLanes(d)) {
    hn::StoreU(hn::TruncateTo(ds, round(hn::LoadU(d, sums + j))), ds, out + j);
  }
  ScalarDoubleDotKernels(DotProduct::kExact).round(dtype, sums + j, count - j, out + j);
}

inline void RoundDoubles(DType dtype, const double* sums, std::size_t count, void* out) {
  if (dtype == DType::kF32) return RoundToF32(sums, count, static_cast<float*>(out));
  const FloatFormat* format = RoundingFormat(dtype);
  if (format == nullptr) return ScalarDoubleDotKernels(DotProduct::kExact).round(dtype, sums, count, out);
  if (dtype == DType::kF16 || dtype == DType::kBF16) {
    return RoundToCodes(dtype, *format, sums, count, static_cast<std::uint16_t*>(out));
  }
  RoundToCodes(dtype, *format, sums, count, static_cast<std::uint8_t*>(out));
}

inline void RoundInt32(DType dtype, const std::uint32_t* sums, std::size_t count, void* out) {
  if (dtype == DType::kI32 || dtype == DType::kU32) {
    __builtin_memcpy(out, sums, count * sizeof(std::uint32_t));
    return;
  }
  ScalarInt32DotKernels().round(dtype, sums, count, out);
}

#endif
}  // namespace palladion::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // PALLADION_SEMANTICS_SIMD_DOT_ROUND_INL_H_
