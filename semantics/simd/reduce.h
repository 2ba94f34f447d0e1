// Reductions, argmax and argmin, and cumulative operations over a dense [outer, length, inner] view, along the middle.
// Based on: docs/spec/reduce.md's fixed order of sums, the same on every target; JAX's reduce_*, argmax and cum* on
// CPU. Reductions over axes that are not adjacent are the caller's to bring into this shape. Same floating-point
// environment as elementwise.h. `out` overlaps no operand. The Find functions give kernels whose `valid` is false where
// the operation has no meaning for the type.
#ifndef PALLADION_SEMANTICS_SIMD_REDUCE_H_
#define PALLADION_SEMANTICS_SIMD_REDUCE_H_

#include <cstddef>
#include <cstdint>

#include "semantics/base/dtype.h"
#include "semantics/simd/elementwise.h"
#include "semantics/simd/math.h"
#include "semantics/simd/target.h"

namespace palladion::simd {

struct MiddleAxis {
  std::size_t outer;
  std::size_t length;
  std::size_t inner;
};

// kSum, kProd of floats: 16 partial results in double, element i into partial i mod 16; then partial j takes in partial
// j+8, for
//   all j below 8, then j+4, j+2, j+1; rounded once to the type. Partials begin at +0 and 1, so the sum of -0s is +0.
// kSum, kProd of integers wrap. kMax, kMin: NaN if any element is; kMaxNum, kMinNum: only if all are. -0 < +0.
// kAnd, kOr, kXor: integers and bool. kMax and kMin on bool are or and and.
// Over no elements: 0, 1, the type's lowest and highest value (infinities where it has them), all ones, 0, 0.
enum class ReduceOp : std::uint8_t { kSum, kProd, kMax, kMin, kMaxNum, kMinNum, kAnd, kOr, kXor };
inline constexpr int kReduceOpCount = static_cast<int>(ReduceOp::kXor) + 1;

// x[outer, length, inner] -> out[outer, inner], of the same type.
struct ReduceKernel {
  using Fn = void (*)(const ReduceKernel& kernel, const void* x, const MiddleAxis& shape, void* out);
  bool valid = false;
  DType dtype = DType::kBool;
  Fn run = nullptr;
  // What `run` may use: chosen by FindReduce, of no use to callers.
  void (*rows)(const void* x, std::size_t rows, std::size_t length, void* out) = nullptr;
  void (*row_sums)(const void* x, std::size_t rows, std::size_t length, double* sums) = nullptr;
  void (*column_sums)(const void* x, std::size_t length, std::size_t stride, std::size_t columns,
                      double* sums) = nullptr;
  void (*round)(const double* sums, void* out, std::size_t n) = nullptr;
  BinaryFn accumulate = nullptr;
  BinaryFn start = nullptr;    // kVS: the first element with the identity
  std::uint64_t identity = 0;  // storage in the low bytes
  std::uint64_t empty = 0;     // the result over no elements

  void operator()(const void* x, const MiddleAxis& shape, void* out) const { run(*this, x, shape, out); }
};
ReduceKernel FindReduce(ReduceOp op, DType dtype, Target target = ActiveTarget());

// The index of the first extreme element, as i32. kNaNWins: the first NaN, if there is one (JAX on CPU). kNaNIsEqual: a
// fold in order in which a NaN is neither above nor below, so the lower index stays, and the fold goes on with the
// other value (Triton). length must be at least 1. bool and every integer and float type.
enum class ArgOp : std::uint8_t { kArgMax, kArgMin };
enum class NaNOrder : std::uint8_t { kNaNWins, kNaNIsEqual };
using ArgFn = void (*)(const void* x, const MiddleAxis& shape, std::int32_t* out);
ArgFn FindArg(ArgOp op, NaNOrder order, DType dtype);

// out[o, k, i] = op of x[o, 0..k, i] in order (kReverse: of x[o, k..length-1, i] from the end), each step rounded in
// the type; out[o, 0, i] is x[o, 0, i]. Any NaN is the quiet one. The shape of out is that of x. A step of kLogSumExp
// is max + log1p(exp(-|a - b|)), each operation rounded in the type, as jnp.logaddexp; f16, bf16, f32 and f64.
enum class CumOp : std::uint8_t { kSum, kProd, kMax, kMin, kLogSumExp };
enum class Direction : std::uint8_t { kForward, kReverse };
struct CumKernel {
  bool valid = false;
  std::size_t element_size = 0;
  BinaryFn start = nullptr;  // kVS with the identity, which makes the one NaN of any NaN; nullptr: step with itself
  std::uint64_t identity = 0;
  BinaryFn step = nullptr;  // kLogSumExp: max; its other operations follow
  BinaryFn add = nullptr, subtract = nullptr, is_unequal = nullptr;
  UnaryFn abs = nullptr, negate = nullptr, exp = nullptr, log1p = nullptr;
  SelectFn select = nullptr;
  void operator()(const void* x, const MiddleAxis& shape, Direction direction, void* out) const;
};
CumKernel FindCum(CumOp op, DType dtype, Target target = ActiveTarget());

}  // namespace palladion::simd

#endif  // PALLADION_SEMANTICS_SIMD_REDUCE_H_
