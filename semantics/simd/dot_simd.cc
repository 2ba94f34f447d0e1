// The contraction's kernels for each SIMD target: the register-blocked multiply. Lanes run across columns only, so that
// every sum is formed over increasing depth, as the plain loops of dot_scalar.cc do it.
// Tile shapes (rows x vectors) were measured: 4 x 4 with 32 registers, 6 x 2 with 16 that fuse, 3 x 4 with 16 that do
// not.
#include "semantics/simd/dot_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "semantics/simd/dot_simd.cc"
#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "semantics/simd/dot_pack-inl.h"
#include "semantics/simd/dot_round-inl.h"

HWY_BEFORE_NAMESPACE();
namespace palladion::simd::HWY_NAMESPACE {
#if HWY_TARGET != HWY_STATIC_TARGET
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX3
constexpr int kMaxVectors = 4;
constexpr int RowsFor(int vectors) { return vectors == 4 ? 4 : vectors == 3 ? 6 : 8; }
#elif HWY_TARGET == HWY_AVX2
constexpr int kMaxVectors = 2;
constexpr int RowsFor(int vectors) { return vectors == 2 ? 6 : 8; }
#else
constexpr int kMaxVectors = 4;
constexpr int RowsFor(int vectors) { return vectors == 4 ? 3 : vectors == 3 ? 4 : 6; }
#endif

// A double product is exact here or the target fuses, so that the step rounds once either way.
template <class V>
HWY_INLINE V Step(V a, V b, V sum, double /*tag*/) {
  return hn::MulAdd(a, b, sum);
}
template <class V>
HWY_INLINE V Step(V a, V b, V sum, std::uint32_t /*tag*/) {
  return hn::Add(sum, hn::Mul(a, b));
}

template <int kRows, int kVectors, typename T>
HWY_INLINE void MultiplyRows(const DotTile<T>& tile, std::size_t row) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  const T* HWY_RESTRICT a = tile.a + row * tile.a_stride;
  const T* HWY_RESTRICT b = tile.b;
  T* HWY_RESTRICT c = tile.c + row * kVectors * kLanes;
  const std::size_t a_stride = tile.a_stride, depth = tile.depth;
  const bool accumulate = tile.accumulate;
  V sum[kRows][kVectors];
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      sum[r][v] = accumulate ? hn::LoadU(d, c + (r * kVectors + v) * kLanes) : hn::Zero(d);
    }
  }
  for (std::size_t k = 0; k < depth; ++k) {
    V column[kVectors];
    for (int v = 0; v < kVectors; ++v) column[v] = hn::LoadU(d, b + (k * kVectors + v) * kLanes);
    for (int r = 0; r < kRows; ++r) {
      const V element = hn::Set(d, a[r * a_stride + k]);
      for (int v = 0; v < kVectors; ++v) sum[r][v] = Step(element, column[v], sum[r][v], T{});
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) hn::StoreU(sum[r][v], d, c + (r * kVectors + v) * kLanes);
  }
}

// The last rows, fewer than a whole tile.
template <int kRows, int kVectors, typename T>
HWY_INLINE void MultiplyTail(const DotTile<T>& tile, std::size_t row) {
  if constexpr (kRows > 0) {
    if (tile.rows - row == kRows) {
      MultiplyRows<kRows, kVectors>(tile, row);
    } else {
      MultiplyTail<kRows - 1, kVectors>(tile, row);
    }
  }
}

template <int kVectors, typename T>
HWY_NOINLINE void MultiplyPanel(const DotTile<T>& tile) {
  constexpr int kRows = RowsFor(kVectors);
  std::size_t row = 0;
  for (; row + kRows <= tile.rows; row += kRows) MultiplyRows<kRows, kVectors>(tile, row);
  MultiplyTail<kRows - 1, kVectors>(tile, row);
}

template <typename T>
void Multiply(const DotTile<T>& tile) {
  switch (tile.vectors) {
    case 1:
      return MultiplyPanel<1>(tile);
    case 2:
      return MultiplyPanel<2>(tile);
#if HWY_TARGET != HWY_AVX2
    case 3:
      return MultiplyPanel<3>(tile);
    default:
      return MultiplyPanel<4>(tile);
#endif
  }
}

constexpr DotKernels<double> kDoubleKernels = {hn::MaxLanes(hn::ScalableTag<double>()),
                                               kMaxVectors,
                                               ConvertToDouble,
                                               TransposeToDouble,
                                               Multiply<double>,
                                               RoundDoubles};
constexpr DotKernels<std::uint32_t> kInt32Kernels = {hn::MaxLanes(hn::ScalableTag<std::uint32_t>()),
                                                     kMaxVectors,
                                                     ConvertToInt32,
                                                     TransposeToInt32,
                                                     Multiply<std::uint32_t>,
                                                     RoundInt32};

#endif
}  // namespace palladion::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace palladion::simd {

const DotKernels<double>& DoubleDotKernels(Target target, DotProduct product) {
  switch (target) {
#if HWY_ARCH_X86
    case Target::kSsse3:
      if (product == DotProduct::kFused) break;  // has no fused multiply-add
      return N_SSSE3::kDoubleKernels;
    case Target::kAvx2:
      return N_AVX2::kDoubleKernels;
    case Target::kAvx512:
      return N_AVX3::kDoubleKernels;
#elif HWY_ARCH_ARM_A64
    case Target::kNeon:
      return N_NEON::kDoubleKernels;
#endif
    default:
      break;
  }
  return ScalarDoubleDotKernels(product);
}

const DotKernels<std::uint32_t>& Int32DotKernels(Target target) {
  switch (target) {
#if HWY_ARCH_X86
    case Target::kSsse3:
      return N_SSSE3::kInt32Kernels;
    case Target::kAvx2:
      return N_AVX2::kInt32Kernels;
    case Target::kAvx512:
      return N_AVX3::kInt32Kernels;
#elif HWY_ARCH_ARM_A64
    case Target::kNeon:
      return N_NEON::kInt32Kernels;
#endif
    default:
      return ScalarInt32DotKernels();
  }
}

}  // namespace palladion::simd
#endif
