// What the vector kernels of the contraction need of the element types; compiled for the baseline.
#ifndef PALLADION_SEMANTICS_SIMD_DOT_TABLES_H_
#define PALLADION_SEMANTICS_SIMD_DOT_TABLES_H_

#include <cstdint>

#include "semantics/base/dtype.h"
#include "semantics/tensor/float_format.h"

namespace palladion::simd {

// A float type of at most eight bits: its 256 values as bf16, which holds each of them exactly. nullptr for other
// types.
const std::uint16_t* NarrowFloatsAsBF16(DType dtype);

// The format of a float type of at most 16 bits with sign, exponent and mantissa. nullptr for other types.
const FloatFormat* RoundingFormat(DType dtype);

double HalfToDouble(std::uint16_t code);

}  // namespace palladion::simd

#endif  // PALLADION_SEMANTICS_SIMD_DOT_TABLES_H_
