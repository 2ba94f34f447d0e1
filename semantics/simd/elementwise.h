// Elementwise kernels over dense arrays: what each operation means on every element type, one loop per (operation,
// type, operand form, SIMD target). Same bits on every target; kScalar is the readable reference. Based on: IEEE 754;
// XLA's integer rules (two's complement, x/0 = -1, shifts past the width); JAX's max/min/clamp/select_n. Not here:
// shapes, definedness, findings (division by zero, shift range) and every function that is not exact or one correctly
// rounded operation (exp, pow, ...). Needs round-to-nearest with FTZ and DAZ off.
//
// Operands hold n elements, or one where the form says scalar, aligned as their type. `out` may be the same memory as
// an operand whose elements have the size of out's, and overlap no operand otherwise. Every Find function gives nullptr
// where the operation has no meaning for the type.
#ifndef PALLADION_SEMANTICS_SIMD_ELEMENTWISE_H_
#define PALLADION_SEMANTICS_SIMD_ELEMENTWISE_H_

#include <cstddef>
#include <cstdint>

#include "semantics/base/dtype.h"
#include "semantics/simd/target.h"

namespace palladion::simd {

// Floats: kAdd..kRem are correctly rounded in the type; any NaN result is the type's one quiet NaN. kRem is fmod:
// exact, with
//   the dividend's sign. kMax and kMin give NaN if either operand is; kMaxNum and kMinNum give the other one. -0 < +0.
// Integers wrap modulo 2^bits. kDiv truncates toward zero; x/0 has all bits set, x%0 is x, INT_MIN/-1 is INT_MIN,
// INT_MIN%-1 is 0. kShift*: integers. The amount is read as unsigned; from the width on, the result is 0, or the sign
// for the arithmetic one,
//   which takes the top bit as the sign for unsigned types too.
// kAnd, kOr, kXor: integers and bool. kMax and kMin on bool are or and and.
// kEq..kGe: every type, to bool (one byte, 0 or 1). A NaN is unequal to everything and unordered.
enum class BinaryOp : std::uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kRem,
  kMax,
  kMin,
  kMaxNum,
  kMinNum,
  kAnd,
  kOr,
  kXor,
  kShiftLeft,
  kShiftRightLogical,
  kShiftRightArithmetic,
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
};
inline constexpr int kBinaryOpCount = static_cast<int>(BinaryOp::kGe) + 1;

enum class Form : std::uint8_t { kVV, kSV, kVS };  // which operand is one element for all: none, a, b

using BinaryFn = void (*)(const void* a, const void* b, void* out, std::size_t n);
BinaryFn FindBinary(BinaryOp op, DType dtype, Form form, Target target = ActiveTarget());

// kNeg flips the sign bit (where the type has no -0, zero and NaN stay); integers: 0 - x.
// kAbs clears the sign bit; integers: |INT_MIN| = INT_MIN. Both keep a NaN's other bits.
// kSign: -1, 1, or x itself for a zero. kFloor, kCeil, kRoundHalfAway, kRoundHalfEven: floats, sign of zero kept.
// kNot: integers, bool. kIsFinite: floats, to bool. kClz, kPopulationCount: integers, in the type, within its width.
// kCopy: every type, bits kept.
enum class UnaryOp : std::uint8_t {
  kNeg,
  kAbs,
  kSign,
  kFloor,
  kCeil,
  kRoundHalfAway,
  kRoundHalfEven,
  kNot,
  kIsFinite,
  kSquare,
  kClz,
  kPopulationCount,
  kCopy,
};
inline constexpr int kUnaryOpCount = static_cast<int>(UnaryOp::kCopy) + 1;

using UnaryFn = void (*)(const void* x, void* out, std::size_t n);
UnaryFn FindUnary(UnaryOp op, DType dtype, Target target = ActiveTarget());

// out[i] = pred[i] ? on_true[i] : on_false[i], in select_n's operand order. Elements of 1, 2, 4 or 8 bytes, bits kept;
// pred is bool, one byte each, any byte but 0 true. kVVV: all arrays; the letters are pred, on_false, on_true. With one
// predicate for all, copy the chosen case.
enum class SelectForm : std::uint8_t { kVVV, kVSV, kVVS, kVSS };
using SelectFn = void (*)(const void* pred, const void* on_false, const void* on_true, void* out, std::size_t n);
SelectFn FindSelect(std::size_t element_size, SelectForm form, Target target = ActiveTarget());

// minimum(maximum(lo, x), hi), with max and min as above.
struct ClampKernel {
  BinaryFn maximum;
  BinaryFn minimum;
  void operator()(const void* lo, const void* x, const void* hi, void* out, std::size_t n) const {
    maximum(lo, x, out, n);
    minimum(out, hi, out, n);
  }
};
// `out` must not be hi's memory. Both functions are null where max has no meaning for the type.
ClampKernel FindClamp(DType dtype, bool lo_is_scalar, bool hi_is_scalar, Target target = ActiveTarget());

// x to a static power by repeated squaring, each product rounded in the type, as XLA expands it; a negative exponent
// takes the reciprocal at the end; 0 gives 1. Arithmetic types only. n elements; out may be x.
struct IntegerPowKernel {
  BinaryFn multiply;
  BinaryFn divide;  // kSV
  std::size_t element_size;
  std::uint64_t one;  // the type's 1 in the low bytes
  void operator()(const void* x, int exponent, void* out, std::size_t n) const;
};
IntegerPowKernel FindIntegerPow(DType dtype, Target target = ActiveTarget());

// Conversions in plain vector loops; nullptr for all pairs but f32<->bf16, f32<->f16, i32<->f32, bool->i32/f32,
// i8->i32/f32 and on kScalar. semantics/tensor/convert.h has all pairs and is the reference. `out` must not overlap
// `in`.
using ConvertFn = void (*)(const void* in, void* out, std::size_t n);
ConvertFn FindConvertSimd(DType from, DType to, Target target = ActiveTarget());

}  // namespace palladion::simd

#endif  // PALLADION_SEMANTICS_SIMD_ELEMENTWISE_H_
