// What one SIMD target provides to the contraction: conversion into panels, the multiply, the rounding. dot.cc does the
// blocking and the packing with them.
#ifndef PALLADION_SEMANTICS_SIMD_DOT_KERNELS_H_
#define PALLADION_SEMANTICS_SIMD_DOT_KERNELS_H_

#include <cstddef>
#include <cstdint>

#include "semantics/base/dtype.h"
#include "semantics/simd/target.h"

namespace palladion::simd {

// c[rows][width] (+)= a[rows][depth] * b[depth][width], every sum over increasing depth; width = vectors * lanes.
template <typename T>
struct DotTile {
  const T* a;
  std::size_t a_stride;
  const T* b;  // its rows have `width` elements
  T* c;        // its rows have `width` elements
  std::size_t rows;
  std::size_t depth;
  std::size_t vectors;
  bool accumulate;  // false: c starts as +0
};

// Elements that become accumulators: `rows` rows, row r at src + row_offset[r], of `cols` elements one after another.
// Strides and offsets in elements. src and dst do not overlap.
template <typename T>
struct DotRows {
  const void* src;
  const std::int64_t* row_offset;
  std::size_t rows;
  std::size_t cols;
  T* dst;
  std::size_t dst_stride;
};

// Rows of sums that become elements. Strides in elements.
template <typename T>
struct DotRounding {
  const T* sums;
  std::size_t sums_stride;
  std::size_t rows;
  std::size_t columns;
  void* out;
  const void* addend;      // DotResult's; nullptr: none
  std::size_t out_stride;  // of the addend too
};

// T is the accumulator: double, or an unsigned integer for sums modulo 2^32 or 2^64.
template <typename T>
struct DotKernels {
  std::size_t lanes;    // elements of T in one vector
  std::size_t vectors;  // of the widest panel; lanes * vectors * sizeof(T) <= kMaxPanelBytes
  // dst[r * dst_stride + c] = src[row_offset[r] + c], the exact value (64-bit integers to double: rounded).
  void (*convert)(DType dtype, const DotRows<T>& part);
  // The same elements transposed: dst[c * dst_stride + r] = src[row_offset[r] + c].
  void (*transpose)(DType dtype, const DotRows<T>& part);
  void (*multiply)(const DotTile<T>& tile);
  // Sums become elements of `dtype`.
  void (*round)(DType dtype, const DotRounding<T>& part);
};

inline constexpr std::size_t kMaxPanelBytes = 256;

// What a multiply of doubles must do: where a product may not fit in a double's 53 bits, only kFused is right.
enum class DotProduct : std::uint8_t { kExact, kFused };

const DotKernels<double>& DoubleDotKernels(Target target, DotProduct product);
const DotKernels<std::uint32_t>& Int32DotKernels(Target target);

// The plain loops: the kernels of Target::kScalar, and what the others use where a vector gives nothing.
const DotKernels<double>& ScalarDoubleDotKernels(DotProduct product);
const DotKernels<std::uint32_t>& ScalarInt32DotKernels();
const DotKernels<std::uint64_t>& ScalarInt64DotKernels();

}  // namespace palladion::simd

#endif  // PALLADION_SEMANTICS_SIMD_DOT_KERNELS_H_
