// For each SIMD target: element types become the contraction's accumulators, as they lie or transposed. Included by
// dot_simd.cc once for each target.
#include "semantics/simd/dot_kernels.h"
#include "semantics/simd/dot_tables.h"

#if defined(PALLADION_SEMANTICS_SIMD_DOT_PACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PALLADION_SEMANTICS_SIMD_DOT_PACK_INL_H_
#undef PALLADION_SEMANTICS_SIMD_DOT_PACK_INL_H_
#else
#define PALLADION_SEMANTICS_SIMD_DOT_PACK_INL_H_
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace palladion::simd::HWY_NAMESPACE {
#if HWY_TARGET != HWY_STATIC_TARGET
namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::ScalableTag<double>;
constexpr std::size_t kDoubleLanes = hn::MaxLanes(Doubles());

// Each loader reads kDoubleLanes elements as doubles, exactly.
struct LoadF64 {
  using Storage = double;
  HWY_INLINE hn::Vec<Doubles> operator()(const double* from) const { return hn::LoadU(Doubles(), from); }
  HWY_INLINE double One(const double* from) const { return *from; }
};

struct LoadF32 {
  using Storage = float;
  HWY_INLINE hn::Vec<Doubles> operator()(const float* from) const {
    return hn::PromoteTo(Doubles(), hn::LoadU(hn::Rebind<float, Doubles>(), from));
  }
  HWY_INLINE double One(const float* from) const { return *from; }
};

struct LoadBF16 {
  using Storage = std::uint16_t;
  HWY_INLINE hn::Vec<Doubles> operator()(const std::uint16_t* from) const {
    const hn::Rebind<std::uint32_t, Doubles> d32;
    const hn::Rebind<float, Doubles> df;
    const auto bits = hn::PromoteTo(d32, hn::LoadU(hn::Rebind<std::uint16_t, Doubles>(), from));
    return hn::PromoteTo(Doubles(), hn::BitCast(df, hn::ShiftLeft<16>(bits)));
  }
  HWY_INLINE double One(const std::uint16_t* from) const {
    const std::uint32_t bits = static_cast<std::uint32_t>(*from) << 16;
    float value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
  }
};

// As Element<kF16>::ToFloat: normal numbers are rebiased, subnormal ones put behind a leading one that is taken off
// again, Inf and NaN get the exponent of all ones.
struct LoadF16 {
  using Storage = std::uint16_t;
  HWY_INLINE hn::Vec<Doubles> operator()(const std::uint16_t* from) const {
    const hn::Rebind<float, Doubles> df;
    const auto half = hn::LoadU(hn::Rebind<std::uint16_t, Doubles>(), from);
#if HWY_TARGET <= HWY_AVX2  // smaller is better: AVX2 and up have F16C
    const hn::Rebind<hwy::float16_t, Doubles> dh;
    return hn::PromoteTo(Doubles(), hn::PromoteTo(df, hn::BitCast(dh, half)));
#else
    const hn::Rebind<std::int32_t, Doubles> d32;
    const auto bits = hn::PromoteTo(d32, half);
    const auto magnitude = hn::ShiftLeft<13>(hn::And(bits, hn::Set(d32, 0x7fff)));
    const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(d32, 0x8000)));
    const auto normal = hn::Add(magnitude, hn::Set(d32, 112 << 23));
    const auto behind_one = hn::BitCast(df, hn::Add(magnitude, hn::Set(d32, 113 << 23)));
    const auto subnormal = hn::BitCast(d32, hn::Sub(behind_one, hn::Set(df, 0x1p-14f)));
    const auto value = hn::IfThenElse(hn::Lt(magnitude, hn::Set(d32, 0x0400 << 13)), subnormal, normal);
    const auto is_special = hn::Gt(magnitude, hn::Set(d32, (0x7c00 << 13) - 1));
    const auto special = hn::IfThenElseZero(is_special, hn::Set(d32, 0x7f800000));
    return hn::PromoteTo(Doubles(), hn::BitCast(df, hn::Or(hn::Or(value, special), sign)));
#endif
  }
  HWY_INLINE double One(const std::uint16_t* from) const { return HalfToDouble(*from); }
};

template <typename Int>
struct LoadInt {
  using Storage = Int;
  HWY_INLINE hn::Vec<Doubles> operator()(const Int* from) const {
    const hn::Rebind<std::int32_t, Doubles> d32;
    return hn::PromoteTo(Doubles(), hn::PromoteTo(d32, hn::LoadU(hn::Rebind<Int, Doubles>(), from)));
  }
  HWY_INLINE double One(const Int* from) const { return *from; }
};

template <>
struct LoadInt<std::int32_t> {
  using Storage = std::int32_t;
  HWY_INLINE hn::Vec<Doubles> operator()(const std::int32_t* from) const {
    return hn::PromoteTo(Doubles(), hn::LoadU(hn::Rebind<std::int32_t, Doubles>(), from));
  }
  HWY_INLINE double One(const std::int32_t* from) const { return *from; }
};

// What a part says, in variables of its own: a store through `dst` may alias what a reference is to.
template <class Load>
HWY_INLINE void ConvertRows(Load load, const DotRows<double>& part) {
  const auto [src, row_offset, rows, cols, to_all, dst_stride] = part;
  double* HWY_RESTRICT dst = to_all;
  const auto* base = static_cast<const typename Load::Storage*>(src);
  for (std::size_t r = 0; r < rows; ++r) {
    const auto* from = base + row_offset[r];
    double* to = dst + r * dst_stride;
    std::size_t c = 0;
    for (; c + kDoubleLanes <= cols; c += kDoubleLanes) hn::StoreU(load(from + c), Doubles(), to + c);
    for (; c < cols; ++c) to[c] = load.One(from + c);
  }
}

#if HWY_TARGET == HWY_AVX3
// dst[c * dst_stride + r] = rows of kDoubleLanes x kDoubleLanes. Pairs of rows are interleaved, then the 4 x 4 matrix
// of pairs is transposed.
template <class Load>
HWY_INLINE void TransposeSquare(Load load, const typename Load::Storage* src, const std::int64_t* row_offset,
                                double* dst, std::size_t dst_stride) {
  __m512d even[4];  // even[p]: rows 2p and 2p+1 of the even columns
  __m512d odd[4];
  for (std::size_t p = 0; p < 4; ++p) {
    const __m512d lower = load(src + row_offset[2 * p]).raw;
    const __m512d upper = load(src + row_offset[2 * p + 1]).raw;
    even[p] = _mm512_unpacklo_pd(lower, upper);
    odd[p] = _mm512_unpackhi_pd(lower, upper);
  }
  for (std::size_t half = 0; half < 2; ++half) {
    const __m512d* pair = half == 0 ? even : odd;
    const __m512d front01 = _mm512_shuffle_f64x2(pair[0], pair[1], 0x44);
    const __m512d back01 = _mm512_shuffle_f64x2(pair[0], pair[1], 0xee);
    const __m512d front23 = _mm512_shuffle_f64x2(pair[2], pair[3], 0x44);
    const __m512d back23 = _mm512_shuffle_f64x2(pair[2], pair[3], 0xee);
    double* to = dst + half * dst_stride;
    _mm512_storeu_pd(to, _mm512_shuffle_f64x2(front01, front23, 0x88));
    _mm512_storeu_pd(to + 2 * dst_stride, _mm512_shuffle_f64x2(front01, front23, 0xdd));
    _mm512_storeu_pd(to + 4 * dst_stride, _mm512_shuffle_f64x2(back01, back23, 0x88));
    _mm512_storeu_pd(to + 6 * dst_stride, _mm512_shuffle_f64x2(back01, back23, 0xdd));
  }
}
#elif HWY_TARGET == HWY_AVX2
template <class Load>
HWY_INLINE void TransposeSquare(Load load, const typename Load::Storage* src, const std::int64_t* row_offset,
                                double* dst, std::size_t dst_stride) {
  const __m256d r0 = load(src + row_offset[0]).raw;
  const __m256d r1 = load(src + row_offset[1]).raw;
  const __m256d r2 = load(src + row_offset[2]).raw;
  const __m256d r3 = load(src + row_offset[3]).raw;
  const __m256d even01 = _mm256_unpacklo_pd(r0, r1);
  const __m256d odd01 = _mm256_unpackhi_pd(r0, r1);
  const __m256d even23 = _mm256_unpacklo_pd(r2, r3);
  const __m256d odd23 = _mm256_unpackhi_pd(r2, r3);
  _mm256_storeu_pd(dst, _mm256_permute2f128_pd(even01, even23, 0x20));
  _mm256_storeu_pd(dst + dst_stride, _mm256_permute2f128_pd(odd01, odd23, 0x20));
  _mm256_storeu_pd(dst + 2 * dst_stride, _mm256_permute2f128_pd(even01, even23, 0x31));
  _mm256_storeu_pd(dst + 3 * dst_stride, _mm256_permute2f128_pd(odd01, odd23, 0x31));
}
#else
template <class Load>
HWY_INLINE void TransposeSquare(Load load, const typename Load::Storage* src, const std::int64_t* row_offset,
                                double* dst, std::size_t dst_stride) {
  const auto lower = load(src + row_offset[0]);
  const auto upper = load(src + row_offset[1]);
  hn::StoreU(hn::InterleaveLower(lower, upper), Doubles(), dst);
  hn::StoreU(hn::InterleaveUpper(Doubles(), lower, upper), Doubles(), dst + dst_stride);
}
#endif

template <class Load>
HWY_INLINE void TransposeRows(Load load, const DotRows<double>& part) {
  const auto [src, row_offset, rows, cols, to_all, dst_stride] = part;
  double* HWY_RESTRICT dst = to_all;
  const auto* base = static_cast<const typename Load::Storage*>(src);
  const std::size_t whole_rows = rows / kDoubleLanes * kDoubleLanes;
  const std::size_t whole_cols = cols / kDoubleLanes * kDoubleLanes;
  for (std::size_t r = 0; r < whole_rows; r += kDoubleLanes) {
    for (std::size_t c = 0; c < whole_cols; c += kDoubleLanes) {
      TransposeSquare(load, base + c, row_offset + r, dst + c * dst_stride + r, dst_stride);
    }
  }
  for (std::size_t r = 0; r < rows; ++r) {
    const auto* from = base + row_offset[r];
    for (std::size_t c = r < whole_rows ? whole_cols : 0; c < cols; ++c) dst[c * dst_stride + r] = load.One(from + c);
  }
}

// bf16[i] = table[codes[i]].
HWY_INLINE void DecodeToBF16(const std::uint16_t* table, const std::uint8_t* codes, std::size_t count,
                             std::uint16_t* HWY_RESTRICT bf16) {
  std::size_t i = 0;
#if HWY_TARGET == HWY_AVX3
  // Four lookups among 64 values each; the two top bits of the code say which of them holds.
  constexpr std::size_t kCodes = 32;
  __m512i values[8];
  for (std::size_t v = 0; v < 8; ++v) values[v] = _mm512_loadu_si512(table + v * kCodes);
  for (; i + kCodes <= count; i += kCodes) {
    const __m512i code = _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + i)));
    const __mmask32 bit6 = _mm512_test_epi16_mask(code, _mm512_set1_epi16(0x40));
    const __mmask32 bit7 = _mm512_test_epi16_mask(code, _mm512_set1_epi16(0x80));
    const __m512i quarter0 = _mm512_permutex2var_epi16(values[0], code, values[1]);
    const __m512i quarter1 = _mm512_permutex2var_epi16(values[2], code, values[3]);
    const __m512i quarter2 = _mm512_permutex2var_epi16(values[4], code, values[5]);
    const __m512i quarter3 = _mm512_permutex2var_epi16(values[6], code, values[7]);
    const __m512i positive = _mm512_mask_blend_epi16(bit6, quarter0, quarter1);
    const __m512i negative = _mm512_mask_blend_epi16(bit6, quarter2, quarter3);
    _mm512_storeu_si512(bf16 + i, _mm512_mask_blend_epi16(bit7, positive, negative));
  }
#endif
  for (; i < count; ++i) bf16[i] = table[codes[i]];
}

// A float type of at most eight bits: a few rows at a time become bf16, which `use` takes on as a part of the whole.
template <class Use>
HWY_INLINE void ThroughBF16(const std::uint16_t* table, const DotRows<double>& all, bool transposes, Use use) {
  constexpr std::size_t kRows = 8;
  constexpr std::size_t kCols = 128;
  alignas(64) std::uint16_t bf16[kRows * kCols];
  const std::int64_t offset[kRows] = {0, 128, 256, 384, 512, 640, 768, 896};
  for (std::size_t r = 0; r < all.rows; r += kRows) {
    const std::size_t some_rows = all.rows - r < kRows ? all.rows - r : kRows;
    for (std::size_t c = 0; c < all.cols; c += kCols) {
      const std::size_t some_cols = all.cols - c < kCols ? all.cols - c : kCols;
      for (std::size_t i = 0; i < some_rows; ++i) {
        const std::uint8_t* codes = static_cast<const std::uint8_t*>(all.src) + all.row_offset[r + i] + c;
        DecodeToBF16(table, codes, some_cols, bf16 + i * kCols);
      }
      double* dst = all.dst + (transposes ? c * all.dst_stride + r : r * all.dst_stride + c);
      use(DotRows<double>{bf16, offset, some_rows, some_cols, dst, all.dst_stride});
    }
  }
}

inline void ConvertToDouble(DType dtype, const DotRows<double>& part) {
  switch (dtype) {
    case DType::kF64:
      return ConvertRows(LoadF64(), part);
    case DType::kF32:
      return ConvertRows(LoadF32(), part);
    case DType::kBF16:
      return ConvertRows(LoadBF16(), part);
    case DType::kF16:
      return ConvertRows(LoadF16(), part);
    case DType::kI8:
      return ConvertRows(LoadInt<std::int8_t>(), part);
    case DType::kI32:
      return ConvertRows(LoadInt<std::int32_t>(), part);
    default:
      break;
  }
  const std::uint16_t* table = NarrowFloatsAsBF16(dtype);
  if (table == nullptr) return ScalarDoubleDotKernels(DotProduct::kExact).convert(dtype, part);
  ThroughBF16(table, part, /*transposes=*/false,
              [](const DotRows<double>& piece) HWY_ATTR { ConvertRows(LoadBF16(), piece); });
}

inline void TransposeToDouble(DType dtype, const DotRows<double>& part) {
  switch (dtype) {
    case DType::kF64:
      return TransposeRows(LoadF64(), part);
    case DType::kF32:
      return TransposeRows(LoadF32(), part);
    case DType::kBF16:
      return TransposeRows(LoadBF16(), part);
    case DType::kF16:
      return TransposeRows(LoadF16(), part);
    case DType::kI8:
      return TransposeRows(LoadInt<std::int8_t>(), part);
    case DType::kI32:
      return TransposeRows(LoadInt<std::int32_t>(), part);
    default:
      break;
  }
  const std::uint16_t* table = NarrowFloatsAsBF16(dtype);
  if (table == nullptr) return ScalarDoubleDotKernels(DotProduct::kExact).transpose(dtype, part);
  ThroughBF16(table, part, /*transposes=*/true,
              [](const DotRows<double>& piece) HWY_ATTR { TransposeRows(LoadBF16(), piece); });
}

template <typename Int>
HWY_INLINE void WidenRows(const DotRows<std::uint32_t>& part) {
  const auto [src, row_offset, rows, cols, to_all, dst_stride] = part;
  std::uint32_t* HWY_RESTRICT dst = to_all;
  for (std::size_t r = 0; r < rows; ++r) {
    const Int* from = static_cast<const Int*>(src) + row_offset[r];
    std::uint32_t* to = dst + r * dst_stride;
    for (std::size_t c = 0; c < cols; ++c) to[c] = static_cast<std::uint32_t>(static_cast<std::int32_t>(from[c]));
  }
}

inline void ConvertToInt32(DType dtype, const DotRows<std::uint32_t>& part) {
  switch (dtype) {
    case DType::kI8:
      return WidenRows<std::int8_t>(part);
    case DType::kU8:
      return WidenRows<std::uint8_t>(part);
    case DType::kI16:
      return WidenRows<std::int16_t>(part);
    case DType::kI32:
      return WidenRows<std::int32_t>(part);
    default:
      ScalarInt32DotKernels().convert(dtype, part);
  }
}

// Four elements as the low 32 bits of their integers.
template <typename Int>
HWY_INLINE hn::Vec<hn::CappedTag<std::uint32_t, 4>> LoadFourInts(const Int* from) {
  const hn::CappedTag<std::uint32_t, 4> d;
  const hn::CappedTag<std::int32_t, 4> di;
  if constexpr (sizeof(Int) == sizeof(std::int32_t)) {
    return hn::BitCast(d, hn::LoadU(di, from));
  } else {
    return hn::BitCast(d, hn::PromoteTo(di, hn::LoadU(hn::Rebind<Int, decltype(di)>(), from)));
  }
}

template <typename Int>
HWY_INLINE void TransposeInts(const DotRows<std::uint32_t>& part) {
  const auto [src, row_offset, rows, cols, to_all, dst_stride] = part;
  std::uint32_t* HWY_RESTRICT dst = to_all;
  const hn::CappedTag<std::uint32_t, 4> d;
  const hn::RepartitionToWide<decltype(d)> pairs;
  const Int* base = static_cast<const Int*>(src);
  const std::size_t whole_rows = rows / 4 * 4;
  const std::size_t whole_cols = cols / 4 * 4;
  for (std::size_t r = 0; r < whole_rows; r += 4) {
    for (std::size_t c = 0; c < whole_cols; c += 4) {
      const auto r0 = LoadFourInts(base + row_offset[r] + c);
      const auto r1 = LoadFourInts(base + row_offset[r + 1] + c);
      const auto r2 = LoadFourInts(base + row_offset[r + 2] + c);
      const auto r3 = LoadFourInts(base + row_offset[r + 3] + c);
      const auto front01 = hn::BitCast(pairs, hn::InterleaveLower(r0, r1));
      const auto front23 = hn::BitCast(pairs, hn::InterleaveLower(r2, r3));
      const auto back01 = hn::BitCast(pairs, hn::InterleaveUpper(d, r0, r1));
      const auto back23 = hn::BitCast(pairs, hn::InterleaveUpper(d, r2, r3));
      std::uint32_t* to = dst + c * dst_stride + r;
      hn::StoreU(hn::BitCast(d, hn::InterleaveLower(front01, front23)), d, to);
      hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, front01, front23)), d, to + dst_stride);
      hn::StoreU(hn::BitCast(d, hn::InterleaveLower(back01, back23)), d, to + 2 * dst_stride);
      hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, back01, back23)), d, to + 3 * dst_stride);
    }
  }
  for (std::size_t r = 0; r < rows; ++r) {
    const Int* from = base + row_offset[r];
    for (std::size_t c = r < whole_rows ? whole_cols : 0; c < cols; ++c) {
      dst[c * dst_stride + r] = static_cast<std::uint32_t>(static_cast<std::int32_t>(from[c]));
    }
  }
}

inline void TransposeToInt32(DType dtype, const DotRows<std::uint32_t>& part) {
  switch (dtype) {
    case DType::kI8:
      return TransposeInts<std::int8_t>(part);
    case DType::kU8:
      return TransposeInts<std::uint8_t>(part);
    case DType::kI16:
      return TransposeInts<std::int16_t>(part);
    case DType::kI32:
      return TransposeInts<std::int32_t>(part);
    default:
      ScalarInt32DotKernels().transpose(dtype, part);
  }
}

#endif
}  // namespace palladion::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // PALLADION_SEMANTICS_SIMD_DOT_PACK_INL_H_
