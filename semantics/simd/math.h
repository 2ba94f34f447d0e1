// Elementary functions on arrays, one vector kernel for each SIMD target, the same bits on every one.
// Results: on f32 and narrower types correctly rounded (to nearest, ties to even), subnormals kept; on f64 a fixed
// sequence of operations with the bounds stated in math_test.cc. Every NaN result is the one quiet NaN of its type.
// Based on: our own table and polynomial kernels in double precision (math_coefficients.py), and on the exhaustive
// sweep of math_exhaustive_main.cc, which finds the few inputs where "double, then round once" rounds the wrong way
// (math_exceptions.h).
#ifndef PALLADION_SEMANTICS_SIMD_MATH_H_
#define PALLADION_SEMANTICS_SIMD_MATH_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "semantics/base/dtype.h"
#include "semantics/simd/target.h"

namespace palladion::simd {

enum class MathOp : std::uint8_t {
  kExp,
  kExp2,
  kExpm1,
  kLog,
  kLog2,
  kLog1p,
  kLogistic,
  kTanh,
  kSqrt,
  kRsqrt,
  kCbrt,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kAsinh,
  kAcosh,
  kAtanh,
  kErf,
  kErfc,
  kErfInv,
};
inline constexpr int kMathOpCount = static_cast<int>(MathOp::kErfInv) + 1;
std::string_view Name(MathOp op);

// Reads n elements of the type at x, writes n at out; in place (out == x) is allowed, other overlap is not.
using UnaryFn = void (*)(const void* x, void* out, std::size_t n);

// Look it up once, at prepare time. nullptr if dtype is no floating-point type.
UnaryFn FindMath(MathOp op, DType dtype);
UnaryFn FindMath(MathOp op, DType dtype, Target target);

enum class Math2Op : std::uint8_t { kPow, kAtan2 };
std::string_view Name(Math2Op op);

// As UnaryFn, with two arrays of operands; out may be either. kAtan2: a is y, the ordinate. Special cases follow IEEE
// 754 (pow(x, 0) = pow(1, y) = 1 even for NaN). On f64 both are within 1 ulp.
using BinaryFn = void (*)(const void* a, const void* b, void* out, std::size_t n);
BinaryFn FindMath2(Math2Op op, DType dtype);
BinaryFn FindMath2(Math2Op op, DType dtype, Target target);

}  // namespace palladion::simd

#endif  // PALLADION_SEMANTICS_SIMD_MATH_H_
