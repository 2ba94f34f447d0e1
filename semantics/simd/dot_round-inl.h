// For each SIMD target: the one rounding of the contraction's sums, with what they are added to, to the output type.
// Included by dot_simd.cc once for each target. Same values as Element<D>::FromDouble, whose method for the 16-bit
// types and narrower this follows.
#include "semantics/simd/dot_kernels.h"
#include "semantics/simd/dot_tables.h"

#if defined(PALLADION_SEMANTICS_SIMD_DOT_ROUND_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PALLADION_SEMANTICS_SIMD_DOT_ROUND_INL_H_
#undef PALLADION_SEMANTICS_SIMD_DOT_ROUND_INL_H_
#else
#define PALLADION_SEMANTICS_SIMD_DOT_ROUND_INL_H_
#endif

#include "hwy/highway.h"
#include "semantics/simd/dot_pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace palladion::simd::HWY_NAMESPACE {
#if HWY_TARGET != HWY_STATIC_TARGET
namespace hn = hwy::HWY_NAMESPACE;

// Rounds of vectors, by the output's type: `operator()` writes the elements of one vector of sums.
class RoundToF64 {
 public:
  using Load = LoadF64;
  HWY_INLINE void operator()(hn::Vec<Doubles> value, double* out) const {
    const hn::Rebind<std::uint64_t, Doubles> bits;
    const auto quiet = hn::BitCast(Doubles(), hn::Set(bits, 0x7ff8000000000000u));
    hn::StoreU(hn::IfThenElse(hn::Eq(value, value), value, quiet), Doubles(), out);
  }
};

class RoundToF32 {
 public:
  using Load = LoadF32;
  HWY_INLINE void operator()(hn::Vec<Doubles> sum, float* out) const {
    const hn::Rebind<float, Doubles> df;
    const auto value = hn::DemoteTo(df, sum);
    const auto quiet = hn::BitCast(df, hn::Set(hn::Rebind<std::uint32_t, Doubles>(), 0x7fc00000u));
    hn::StoreU(hn::IfThenElse(hn::Eq(value, value), value, quiet), df, out);
  }
};

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

template <class LoadOf>
class RoundToCodes {
 public:
  using Load = LoadOf;
  HWY_INLINE explicit RoundToCodes(const FloatFormat& format) : round_(format) {}
  HWY_INLINE void operator()(hn::Vec<Doubles> sum, typename Load::Storage* out) const {
    const hn::Rebind<typename Load::Storage, Doubles> ds;
    hn::StoreU(hn::TruncateTo(ds, round_(sum)), ds, out);
  }

 private:
  RoundToFormat round_;
};

// Codes of eight bits have no loader here: their addends are the plain loops' business.
struct CodesOfEightBits {
  using Storage = std::uint8_t;
};

template <bool kAdds, class Round>
HWY_INLINE void RoundRows(DType dtype, const DotRounding<double>& part, const Round& round) {
  using Storage = typename Round::Load::Storage;
  const std::size_t whole = part.columns / kDoubleLanes * kDoubleLanes;
  const auto* addend = static_cast<const Storage*>(part.addend);
  auto* out = static_cast<Storage*>(part.out);
  for (std::size_t r = 0; r < part.rows; ++r) {
    const double* HWY_RESTRICT sums = part.sums + r * part.sums_stride;
    for (std::size_t j = 0; j < whole; j += kDoubleLanes) {
      auto sum = hn::LoadU(Doubles(), sums + j);
      if constexpr (kAdds) sum = hn::Add(typename Round::Load()(addend + r * part.out_stride + j), sum);
      round(sum, out + r * part.out_stride + j);
    }
  }
  if (whole == part.columns) return;
  DotRounding<double> rest = part;
  rest.sums += whole;
  rest.columns -= whole;
  rest.out = out + whole;
  if (kAdds) rest.addend = addend + whole;
  ScalarDoubleDotKernels(DotProduct::kExact).round(dtype, rest);
}

template <class Round>
HWY_INLINE void RoundOrAdd(DType dtype, const DotRounding<double>& part, const Round& round) {
  if (part.addend != nullptr) return RoundRows<true>(dtype, part, round);
  RoundRows<false>(dtype, part, round);
}

inline void RoundDoubles(DType dtype, const DotRounding<double>& part) {
  if (dtype == DType::kF32) return RoundOrAdd(dtype, part, RoundToF32());
  if (dtype == DType::kF64) return RoundOrAdd(dtype, part, RoundToF64());
  const FloatFormat* format = RoundingFormat(dtype);
  const bool narrow = dtype != DType::kF16 && dtype != DType::kBF16;
  if (format == nullptr || (narrow && part.addend != nullptr)) {
    return ScalarDoubleDotKernels(DotProduct::kExact).round(dtype, part);
  }
  if (dtype == DType::kF16) return RoundOrAdd(dtype, part, RoundToCodes<LoadF16>(*format));
  if (dtype == DType::kBF16) return RoundOrAdd(dtype, part, RoundToCodes<LoadBF16>(*format));
  RoundRows<false>(dtype, part, RoundToCodes<CodesOfEightBits>(*format));
}

inline void RoundInt32(DType dtype, const DotRounding<std::uint32_t>& part) {
  if (dtype != DType::kI32 && dtype != DType::kU32) return ScalarInt32DotKernels().round(dtype, part);
  for (std::size_t r = 0; r < part.rows; ++r) {
    __builtin_memcpy(static_cast<std::uint32_t*>(part.out) + r * part.out_stride, part.sums + r * part.sums_stride,
                     part.columns * sizeof(std::uint32_t));
  }
}

#endif
}  // namespace palladion::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // PALLADION_SEMANTICS_SIMD_DOT_ROUND_INL_H_
