// The contraction's kernels as plain loops, for every element type: the readable meaning of DotKernels, and the only
// code for the conversions that no vector kernel covers.
#include <cmath>
#include <type_traits>

#include "semantics/simd/dot_kernels.h"
#include "semantics/tensor/element.h"
#include "semantics/tensor/visit_dtype.h"

namespace palladion::simd {
namespace {

constexpr std::size_t kLanes = 8;  // compilers make vectors of whatever the baseline has

// Integer sums never see float operands: dot.cc chooses the accumulator.
template <typename T, DType D>
T ToAccumulator(StorageOf<D> value) {
  if constexpr (std::is_same_v<T, double>) {
    return Element<D>::ToDouble(value);
  } else if constexpr (D == DType::kBool) {
    return value != 0 ? 1 : 0;
  } else if constexpr (Element<D>::kIsFloat) {
    return 0;
  } else {
    return static_cast<T>(static_cast<std::uint64_t>(value));
  }
}

template <typename T>
void Convert(DType dtype, const DotRows<T>& part) {
  const DotRows<T> p = part;  // a store may alias what a reference is to
  VisitDType(dtype, [&](auto tag) {
    constexpr DType kDType = decltype(tag)::value;
    for (std::size_t r = 0; r < p.rows; ++r) {
      const StorageOf<kDType>* from = static_cast<const StorageOf<kDType>*>(p.src) + p.row_offset[r];
      T* to = p.dst + r * p.dst_stride;
      for (std::size_t c = 0; c < p.cols; ++c) to[c] = ToAccumulator<T, kDType>(from[c]);
    }
  });
}

// Columns outside, so that a cache line of dst is written at once.
template <typename T>
void Transpose(DType dtype, const DotRows<T>& part) {
  const DotRows<T> p = part;
  VisitDType(dtype, [&](auto tag) {
    constexpr DType kDType = decltype(tag)::value;
    const auto* base = static_cast<const StorageOf<kDType>*>(p.src);
    for (std::size_t c = 0; c < p.cols; ++c) {
      T* to = p.dst + c * p.dst_stride;
      for (std::size_t r = 0; r < p.rows; ++r) to[r] = ToAccumulator<T, kDType>(base[p.row_offset[r] + c]);
    }
  });
}

template <bool kFused, typename T>
void Multiply(const DotTile<T>& tile) {
  for (std::size_t r = 0; r < tile.rows; ++r) {
    const T* a = tile.a + r * tile.a_stride;
    T* c = tile.c + r * kLanes;
    T sums[kLanes] = {};
    if (tile.accumulate) {
      for (std::size_t j = 0; j < kLanes; ++j) sums[j] = c[j];
    }
    for (std::size_t k = 0; k < tile.depth; ++k) {
      const T* b = tile.b + k * kLanes;
      for (std::size_t j = 0; j < kLanes; ++j) {
        if constexpr (kFused) {
          sums[j] = std::fma(a[k], b[j], sums[j]);
        } else {
          sums[j] += a[k] * b[j];
        }
      }
    }
    for (std::size_t j = 0; j < kLanes; ++j) c[j] = sums[j];
  }
}

template <typename T>
void Round(DType dtype, const DotRounding<T>& part) {
  VisitDType(dtype, [&](auto tag) {
    constexpr DType kDType = decltype(tag)::value;
    for (std::size_t r = 0; r < part.rows; ++r) {
      const T* sums = part.sums + r * part.sums_stride;
      StorageOf<kDType>* to = static_cast<StorageOf<kDType>*>(part.out) + r * part.out_stride;
      if constexpr (std::is_same_v<T, double> && Element<kDType>::kIsFloat) {
        if (part.addend != nullptr) {
          const auto* addend = static_cast<const StorageOf<kDType>*>(part.addend) + r * part.out_stride;
          for (std::size_t j = 0; j < part.columns; ++j) {
            to[j] = Element<kDType>::FromDouble(Element<kDType>::ToDouble(addend[j]) + sums[j]);
          }
          continue;
        }
      }
      for (std::size_t j = 0; j < part.columns; ++j) {
        if constexpr (std::is_same_v<T, double>) {
          to[j] = Element<kDType>::FromDouble(sums[j]);
        } else if constexpr (kDType == DType::kBool) {
          to[j] = sums[j] != 0 ? 1 : 0;
        } else if constexpr (!Element<kDType>::kIsFloat) {
          to[j] = Element<kDType>::Wrap(sums[j]);
        }
      }
    }
  });
}

template <typename T, bool kFused>
constexpr DotKernels<T> kScalarKernels = {kLanes, 1, Convert<T>, Transpose<T>, Multiply<kFused, T>, Round<T>};

}  // namespace

const DotKernels<double>& ScalarDoubleDotKernels(DotProduct product) {
  return product == DotProduct::kFused ? kScalarKernels<double, true> : kScalarKernels<double, false>;
}
const DotKernels<std::uint32_t>& ScalarInt32DotKernels() { return kScalarKernels<std::uint32_t, false>; }
const DotKernels<std::uint64_t>& ScalarInt64DotKernels() { return kScalarKernels<std::uint64_t, false>; }

}  // namespace palladion::simd
