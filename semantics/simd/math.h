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
#include <iterator>
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
  kBesselI0e,
};

// kOdd, kEven: a kernel sees |x|, and only x >= 0 is swept.
enum class Symmetry : std::uint8_t { kNone, kOdd, kEven };

// What there is to know about a function besides how it is computed, in the order of MathOp.
struct MathOpRow {
  MathOp op;
  std::string_view name;
  Symmetry symmetry;
};
inline constexpr MathOpRow kMathOps[] = {
    {MathOp::kExp, "exp", Symmetry::kNone},
    {MathOp::kExp2, "exp2", Symmetry::kNone},
    {MathOp::kExpm1, "expm1", Symmetry::kNone},
    {MathOp::kLog, "log", Symmetry::kNone},
    {MathOp::kLog2, "log2", Symmetry::kNone},
    {MathOp::kLog1p, "log1p", Symmetry::kNone},
    {MathOp::kLogistic, "logistic", Symmetry::kNone},
    {MathOp::kTanh, "tanh", Symmetry::kOdd},
    {MathOp::kSqrt, "sqrt", Symmetry::kNone},
    {MathOp::kRsqrt, "rsqrt", Symmetry::kNone},
    {MathOp::kCbrt, "cbrt", Symmetry::kOdd},
    {MathOp::kSin, "sin", Symmetry::kOdd},
    {MathOp::kCos, "cos", Symmetry::kEven},
    {MathOp::kTan, "tan", Symmetry::kOdd},
    {MathOp::kAsin, "asin", Symmetry::kOdd},
    {MathOp::kAcos, "acos", Symmetry::kNone},
    {MathOp::kAtan, "atan", Symmetry::kOdd},
    {MathOp::kSinh, "sinh", Symmetry::kOdd},
    {MathOp::kCosh, "cosh", Symmetry::kEven},
    {MathOp::kAsinh, "asinh", Symmetry::kOdd},
    {MathOp::kAcosh, "acosh", Symmetry::kNone},
    {MathOp::kAtanh, "atanh", Symmetry::kOdd},
    {MathOp::kErf, "erf", Symmetry::kOdd},
    {MathOp::kErfc, "erfc", Symmetry::kNone},
    {MathOp::kErfInv, "erf_inv", Symmetry::kOdd},
    {MathOp::kBesselI0e, "bessel_i0e", Symmetry::kEven},
};
inline constexpr int kMathOpCount = static_cast<int>(std::size(kMathOps));
constexpr const MathOpRow& RowOf(MathOp op) { return kMathOps[static_cast<std::size_t>(op)]; }
constexpr std::string_view Name(MathOp op) { return RowOf(op).name; }

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
