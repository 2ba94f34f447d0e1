// The families of kernels behind FindMath and FindMath2, one translation unit each: they return nullptr for what is not
// theirs.
#ifndef PALLADION_SEMANTICS_SIMD_MATH_FIND_H_
#define PALLADION_SEMANTICS_SIMD_MATH_FIND_H_

#include "semantics/base/dtype.h"
#include "semantics/simd/math.h"
#include "semantics/simd/target.h"

namespace palladion::simd {

// dtype: f64, f32, bf16 or f16.
UnaryFn FindExpFamily(MathOp op, DType dtype, Target target);
UnaryFn FindLogFamily(MathOp op, DType dtype, Target target);
UnaryFn FindAtanFamily(MathOp op, DType dtype, Target target);
UnaryFn FindErfFamily(MathOp op, DType dtype, Target target);
UnaryFn FindTrigFamily(MathOp op, DType dtype, Target target);
UnaryFn FindRootFamily(MathOp op, DType dtype, Target target);

// Floating-point types of eight bits and fewer.
UnaryFn FindNarrow(MathOp op, DType dtype);

// See math_binary_simd.cc. n must be a multiple of 8.
using FastBinaryFn = void (*)(const double* a, const double* b, double* out, std::size_t n);
FastBinaryFn FindFastBinary(Math2Op op, Target target);

}  // namespace palladion::simd

#endif  // PALLADION_SEMANTICS_SIMD_MATH_FIND_H_
