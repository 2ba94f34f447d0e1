// What the reference gives, as literals: each was computed by NumPy 2 or ml_dtypes 0.5 (floats and wrapping integers)
// or by JAX 0.10 on CPU (integer division by zero, over-shifts, clamp, sign), or is a bound of the format.
#include "semantics/simd/elementwise.h"

#include <bit>
#include <limits>
#include <utility>

#include "gtest/gtest.h"

namespace palladion::simd {
namespace {

template <typename T>
T Binary(BinaryOp op, DType dtype, T a, T b) {
  T out{};
  FindBinary(op, dtype, Form::kVV, Target::kScalar)(&a, &b, &out, 1);
  return out;
}

template <typename T>
bool Compare(BinaryOp op, DType dtype, T a, T b) {
  std::uint8_t out = 2;
  FindBinary(op, dtype, Form::kVV, Target::kScalar)(&a, &b, &out, 1);
  EXPECT_LE(out, 1);
  return out != 0;
}

template <typename T>
T Unary(UnaryOp op, DType dtype, T x) {
  T out{};
  FindUnary(op, dtype, Target::kScalar)(&x, &out, 1);
  return out;
}

std::uint32_t F32(BinaryOp op, std::uint32_t a, std::uint32_t b) {
  return Binary<std::uint32_t>(op, DType::kF32, a, b);
}
std::uint16_t BF16(BinaryOp op, std::uint16_t a, std::uint16_t b) {
  return Binary<std::uint16_t>(op, DType::kBF16, a, b);
}
std::uint16_t F16(BinaryOp op, std::uint16_t a, std::uint16_t b) {
  return Binary<std::uint16_t>(op, DType::kF16, a, b);
}

TEST(Binary, FloatsRoundOnceInTheirType) {
  EXPECT_EQ(BF16(BinaryOp::kAdd, 0x3f80, 0x3b80), 0x3f80);  // 1 + 2^-8: tie to even
  EXPECT_EQ(BF16(BinaryOp::kAdd, 0x3f81, 0x3b80), 0x3f82);
  EXPECT_EQ(BF16(BinaryOp::kAdd, 0x7f7f, 0x7f7f), 0x7f80);  // overflow
  EXPECT_EQ(BF16(BinaryOp::kMul, 0x0080, 0x3f00), 0x0040);  // into the subnormals, which are kept
  EXPECT_EQ(BF16(BinaryOp::kDiv, 0x3f80, 0x4040), 0x3eab);  // 1/3
  EXPECT_EQ(F16(BinaryOp::kDiv, 0x3c00, 0x4200), 0x3555);   // 1/3
  EXPECT_EQ(F16(BinaryOp::kAdd, 0x7bff, 0x4c00), 0x7c00);   // 65504 + 16 = 65520 ties up to infinity
  EXPECT_EQ(F16(BinaryOp::kAdd, 0x7bff, 0x4bff), 0x7bff);
  EXPECT_EQ(F16(BinaryOp::kMul, 0x0001, 0x3800), 0x0000);  // half the smallest subnormal: tie to even
  EXPECT_EQ(F16(BinaryOp::kMul, 0x0003, 0x3800), 0x0002);
  EXPECT_EQ(F32(BinaryOp::kAdd, 0x00000001, 0x00000001), 0x00000002u);
  EXPECT_EQ(F32(BinaryOp::kSub, 0x3f800000, 0x3f800000), 0x00000000u);
  EXPECT_EQ(Binary<std::uint8_t>(BinaryOp::kAdd, DType::kF8E4M3FN, 0x7e, 0x7e), 0x7f);  // 448 + 448: no infinity, NaN
  EXPECT_EQ(Binary<std::uint8_t>(BinaryOp::kMul, DType::kF8E5M2, 0x7b, 0x40), 0x7c);    // 57344 * 2
  EXPECT_EQ(Binary<std::uint8_t>(BinaryOp::kAdd, DType::kF8E4M3FN, 0x38, 0x19), 0x39);  // 1 + 0.0703125: above the tie
  EXPECT_EQ(Binary<std::uint8_t>(BinaryOp::kMul, DType::kF8E4M3FNUZ, 0x01, 0x81), 0x00);  // underflow: there is no -0
}

TEST(Binary, ArithmeticNaNIsTheQuietOne) {
  EXPECT_EQ(F32(BinaryOp::kAdd, 0x7f800000, 0xff800000), 0x7fc00000u);
  EXPECT_EQ(F32(BinaryOp::kMul, 0xffc12345, 0x3f800000), 0x7fc00000u);
  EXPECT_EQ(F32(BinaryOp::kDiv, 0, 0x80000000), 0x7fc00000u);
  EXPECT_EQ(BF16(BinaryOp::kSub, 0xff81, 0x3f80), 0x7fc0);
  EXPECT_EQ(F16(BinaryOp::kRem, 0x3c00, 0x0000), 0x7e00);
  EXPECT_EQ(Binary<std::uint64_t>(BinaryOp::kSub, DType::kF64, 0x7ff0000000000000, 0x7ff0000000000000),
            0x7ff8000000000000u);
}

TEST(Binary, FloatRemTruncates) {
  EXPECT_EQ(Binary(BinaryOp::kRem, DType::kF32, 5.5f, -2.0f), 1.5f);
  EXPECT_EQ(Binary(BinaryOp::kRem, DType::kF32, -5.5f, 2.0f), -1.5f);
  EXPECT_EQ(F32(BinaryOp::kRem, 0xc0800000, 0x40000000), 0x80000000u);  // -4 rem 2 = -0
  EXPECT_EQ(Binary(BinaryOp::kRem, DType::kF32, 3.0f, std::numeric_limits<float>::infinity()), 3.0f);
  EXPECT_EQ(Binary(BinaryOp::kRem, DType::kF64, 1e300, 7.0), 1.0);
}

TEST(Binary, MaxAndMinOrderZerosAndNaN) {
  constexpr std::uint32_t kNaN = 0xffc00001, kQuiet = 0x7fc00000, kOne = 0x3f800000, kMinusZero = 0x80000000;
  for (auto [a, b] : {std::pair{0u, kMinusZero}, std::pair{kMinusZero, 0u}}) {
    EXPECT_EQ(F32(BinaryOp::kMax, a, b), 0u);
    EXPECT_EQ(F32(BinaryOp::kMin, a, b), kMinusZero);
    EXPECT_EQ(F32(BinaryOp::kMaxNum, a, b), 0u);
    EXPECT_EQ(F32(BinaryOp::kMinNum, a, b), kMinusZero);
  }
  for (auto [a, b] : {std::pair{kNaN, kOne}, std::pair{kOne, kNaN}}) {
    EXPECT_EQ(F32(BinaryOp::kMax, a, b), kQuiet);
    EXPECT_EQ(F32(BinaryOp::kMin, a, b), kQuiet);
    EXPECT_EQ(F32(BinaryOp::kMaxNum, a, b), kOne);
    EXPECT_EQ(F32(BinaryOp::kMinNum, a, b), kOne);
  }
  EXPECT_EQ(F32(BinaryOp::kMaxNum, kNaN, kNaN), kQuiet);
}

TEST(Binary, IntegersWrapAndDivideAsXlaDoes) {
  constexpr std::int32_t kMin = std::numeric_limits<std::int32_t>::min();
  EXPECT_EQ(Binary<std::int32_t>(BinaryOp::kAdd, DType::kI32, 0x7fffffff, 1), kMin);
  EXPECT_EQ(Binary<std::uint8_t>(BinaryOp::kMul, DType::kU8, 200, 3), 88);
  EXPECT_EQ(Binary<std::int32_t>(BinaryOp::kDiv, DType::kI32, -7, 2), -3);
  EXPECT_EQ(Binary<std::int32_t>(BinaryOp::kRem, DType::kI32, -7, 2), -1);
  EXPECT_EQ(Binary<std::int32_t>(BinaryOp::kDiv, DType::kI32, 7, 0), -1);
  EXPECT_EQ(Binary<std::int32_t>(BinaryOp::kRem, DType::kI32, 7, 0), 7);
  EXPECT_EQ(Binary<std::int32_t>(BinaryOp::kDiv, DType::kI32, kMin, -1), kMin);
  EXPECT_EQ(Binary<std::int32_t>(BinaryOp::kRem, DType::kI32, kMin, -1), 0);
  EXPECT_EQ(Binary<std::uint32_t>(BinaryOp::kDiv, DType::kU32, 7, 0), 0xffffffffu);
  EXPECT_EQ(Binary<std::uint64_t>(BinaryOp::kDiv, DType::kU64, 7, ~0ull), 0u);
  EXPECT_EQ(Binary<std::int64_t>(BinaryOp::kDiv, DType::kI64, std::numeric_limits<std::int64_t>::min(), -1),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(Binary<std::int8_t>(BinaryOp::kAdd, DType::kI4, 7, 1), -8);
  EXPECT_EQ(Binary<std::int8_t>(BinaryOp::kDiv, DType::kI4, -8, -1), -8);
  EXPECT_EQ(Binary<std::uint8_t>(BinaryOp::kDiv, DType::kU4, 9, 0), 15);
  EXPECT_EQ(Binary<std::uint8_t>(BinaryOp::kSub, DType::kU2, 0, 1), 3);
}

TEST(Binary, ShiftsPastTheWidth) {
  EXPECT_EQ(Binary<std::int32_t>(BinaryOp::kShiftLeft, DType::kI32, 1, 31), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(Binary<std::int32_t>(BinaryOp::kShiftLeft, DType::kI32, 1, 32), 0);
  EXPECT_EQ(Binary<std::int32_t>(BinaryOp::kShiftLeft, DType::kI32, 1, -1), 0);  // the amount is unsigned
  EXPECT_EQ(Binary<std::int32_t>(BinaryOp::kShiftRightLogical, DType::kI32, -1, 28), 15);
  EXPECT_EQ(Binary<std::int32_t>(BinaryOp::kShiftRightArithmetic, DType::kI32, -8, 1), -4);
  EXPECT_EQ(Binary<std::int32_t>(BinaryOp::kShiftRightArithmetic, DType::kI32, -8, 40), -1);
  EXPECT_EQ(Binary<std::uint8_t>(BinaryOp::kShiftRightArithmetic, DType::kU8, 0x80, 9), 0xff);
  EXPECT_EQ(Binary<std::int8_t>(BinaryOp::kShiftRightLogical, DType::kI4, -1, 1), 7);
  EXPECT_EQ(Binary<std::int8_t>(BinaryOp::kShiftLeft, DType::kI4, 3, 2), -4);
}

TEST(Binary, Comparisons) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(Compare(BinaryOp::kEq, DType::kF32, 0.0f, -0.0f));
  EXPECT_FALSE(Compare(BinaryOp::kEq, DType::kF32, nan, nan));
  EXPECT_TRUE(Compare(BinaryOp::kNe, DType::kF32, nan, 1.0f));
  EXPECT_FALSE(Compare(BinaryOp::kGe, DType::kF32, nan, 1.0f));
  EXPECT_TRUE(Compare<std::uint32_t>(BinaryOp::kGt, DType::kU32, 0x80000000, 1));
  EXPECT_FALSE(Compare<std::uint32_t>(BinaryOp::kGt, DType::kI32, 0x80000000, 1));
  EXPECT_TRUE(Compare<std::uint16_t>(BinaryOp::kLt, DType::kBF16, 0xbf80, 0x8000));
  EXPECT_TRUE(Compare<std::uint8_t>(BinaryOp::kEq, DType::kBool, 1, 7));  // any byte but 0 is true
}

TEST(Binary, HasNoMeaning) {
  EXPECT_EQ(FindBinary(BinaryOp::kAdd, DType::kBool, Form::kVV), nullptr);
  EXPECT_EQ(FindBinary(BinaryOp::kAnd, DType::kF32, Form::kVV), nullptr);
  EXPECT_EQ(FindBinary(BinaryOp::kMaxNum, DType::kI32, Form::kVV), nullptr);
  EXPECT_EQ(FindUnary(UnaryOp::kFloor, DType::kI32), nullptr);
  EXPECT_EQ(FindUnary(UnaryOp::kClz, DType::kF32), nullptr);
}

TEST(Unary, RoundsHalves) {
  EXPECT_EQ(Unary(UnaryOp::kRoundHalfAway, DType::kF32, 2.5f), 3.0f);
  EXPECT_EQ(Unary(UnaryOp::kRoundHalfAway, DType::kF32, -2.5f), -3.0f);
  EXPECT_EQ(Unary(UnaryOp::kRoundHalfEven, DType::kF32, 2.5f), 2.0f);
  EXPECT_EQ(Unary(UnaryOp::kRoundHalfEven, DType::kF32, 3.5f), 4.0f);
  EXPECT_EQ(Unary(UnaryOp::kRoundHalfAway, DType::kF32, 0.49999997f), 0.0f);
  EXPECT_EQ(Unary(UnaryOp::kRoundHalfAway, DType::kF32, 8388609.0f), 8388609.0f);
  EXPECT_EQ(Unary<std::uint32_t>(UnaryOp::kRoundHalfEven, DType::kF32, 0xbf000000), 0x80000000u);  // -0.5 -> -0
  EXPECT_EQ(Unary<std::uint32_t>(UnaryOp::kCeil, DType::kF32, 0xbf000000), 0x80000000u);
  EXPECT_EQ(Unary(UnaryOp::kFloor, DType::kF64, -0.25), -1.0);
}

TEST(Unary, SignBits) {
  EXPECT_EQ(Unary<std::uint32_t>(UnaryOp::kNeg, DType::kF32, 0x7fc00001), 0xffc00001u);
  EXPECT_EQ(Unary<std::uint32_t>(UnaryOp::kAbs, DType::kF32, 0xffc00001), 0x7fc00001u);
  EXPECT_EQ(Unary<std::uint32_t>(UnaryOp::kSign, DType::kF32, 0x80000000), 0x80000000u);
  EXPECT_EQ(Unary(UnaryOp::kSign, DType::kF32, -3.0f), -1.0f);
  EXPECT_EQ(Unary<std::uint8_t>(UnaryOp::kNeg, DType::kF8E4M3FNUZ, 0x00), 0x00);
  EXPECT_EQ(Unary<std::uint8_t>(UnaryOp::kNeg, DType::kF8E4M3FNUZ, 0x80), 0x80);
  EXPECT_EQ(Unary<std::uint8_t>(UnaryOp::kNeg, DType::kF8E4M3FNUZ, 0x40), 0xc0);
  EXPECT_EQ(Unary<std::uint8_t>(UnaryOp::kAbs, DType::kF8E5M2, 0xbc), 0x3c);
}

// Where there is no -0, its bits are NaN.
TEST(Unary, AbsOfNarrowFloatsClearsTheSignAndNothingElse) {
  const auto abs = [](DType dtype, std::uint8_t x) { return Unary<std::uint8_t>(UnaryOp::kAbs, dtype, x); };
  for (const DType dtype : {DType::kF8E4M3FNUZ, DType::kF8E4M3B11FNUZ, DType::kF8E5M2FNUZ}) {
    EXPECT_EQ(abs(dtype, 0xbc), 0x3c) << Name(dtype);
    EXPECT_EQ(abs(dtype, 0x80), 0x80) << Name(dtype);
  }
  for (const DType dtype : {DType::kF8E3M4, DType::kF8E4M3, DType::kF8E4M3FN, DType::kF8E5M2}) {
    EXPECT_EQ(abs(dtype, 0xbc), 0x3c) << Name(dtype);
    EXPECT_EQ(abs(dtype, 0x80), 0x00) << Name(dtype);
  }
  EXPECT_EQ(abs(DType::kF6E2M3FN, 0x20), 0x00);
  EXPECT_EQ(abs(DType::kF4E2M1FN, 0x0b), 0x03);
  EXPECT_EQ(abs(DType::kF8E8M0FNU, 0x80), 0x80);  // it has no sign
}

TEST(Unary, Integers) {
  constexpr std::int32_t kMin = std::numeric_limits<std::int32_t>::min();
  EXPECT_EQ(Unary(UnaryOp::kAbs, DType::kI32, kMin), kMin);
  EXPECT_EQ(Unary(UnaryOp::kNeg, DType::kI32, kMin), kMin);
  EXPECT_EQ(Unary<std::int32_t>(UnaryOp::kSign, DType::kI32, -5), -1);
  EXPECT_EQ(Unary<std::int32_t>(UnaryOp::kClz, DType::kI32, 1), 31);
  EXPECT_EQ(Unary<std::int32_t>(UnaryOp::kClz, DType::kI32, 0), 32);
  EXPECT_EQ(Unary<std::int8_t>(UnaryOp::kClz, DType::kI8, -1), 0);
  EXPECT_EQ(Unary<std::int8_t>(UnaryOp::kClz, DType::kI4, 1), 3);
  EXPECT_EQ(Unary<std::int16_t>(UnaryOp::kPopulationCount, DType::kI16, -1), 16);
  EXPECT_EQ(Unary<std::uint8_t>(UnaryOp::kNot, DType::kU4, 5), 10);
  EXPECT_EQ(Unary<std::uint8_t>(UnaryOp::kNot, DType::kBool, 0), 1);
  EXPECT_EQ(Unary<std::uint8_t>(UnaryOp::kNot, DType::kBool, 2), 0);
}

TEST(Clamp, FollowsMaximumThenMinimum) {
  const float lo = 1, hi = -1, x[4] = {0, -5, 5, std::numeric_limits<float>::quiet_NaN()};
  float out[4];
  FindClamp(DType::kF32, true, true, Target::kScalar)(&lo, x, &hi, out, 4);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(out[i], -1.0f);  // an empty interval gives its upper bound
  EXPECT_EQ(std::bit_cast<std::uint32_t>(out[3]), 0x7fc00000u);
}

TEST(IntegerPow, RoundsEveryProduct) {
  const std::uint16_t x = 0x3f9d;  // 1.2265625 in bf16
  std::uint16_t out = 0;
  FindIntegerPow(DType::kBF16, Target::kScalar)(&x, 3, &out, 1);
  EXPECT_EQ(out, 0x3fed);
  const float y = 2;
  float result = 0;
  FindIntegerPow(DType::kF32, Target::kScalar)(&y, -3, &result, 1);
  EXPECT_EQ(result, 0.125f);
  FindIntegerPow(DType::kF32, Target::kScalar)(&y, 0, &result, 1);
  EXPECT_EQ(result, 1.0f);
  FindIntegerPow(DType::kF32, Target::kScalar)(&y, 11, &result, 1);
  EXPECT_EQ(result, 2048.0f);
}

}  // namespace
}  // namespace palladion::simd
