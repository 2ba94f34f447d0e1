// Reductions: literals for what they mean, every target against the scalar reference for the bits. The literals are
// NumPy's (integers, extremes), JAX's on CPU (argmax with NaN, cumulative logsumexp), or follow from the stated order
// of a sum.
#include "semantics/simd/reduce.h"

#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "gtest/gtest.h"
#include "semantics/simd/testing.h"

namespace palladion::simd {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

template <typename T>
std::vector<T> Reduce(ReduceOp op, DType dtype, const std::vector<T>& x, MiddleAxis shape) {
  std::vector<T> out(shape.outer * shape.inner);
  FindReduce(op, dtype, Target::kScalar)(x.data(), shape, out.data());
  return out;
}

TEST(Reduce, SumsAlongTheMiddle) {
  const std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  EXPECT_EQ(Reduce(ReduceOp::kSum, DType::kF32, x, {2, 3, 2}), (std::vector<float>{9, 12, 27, 30}));
  EXPECT_EQ(Reduce(ReduceOp::kProd, DType::kF32, x, {1, 12, 1}), (std::vector<float>{479001600}));
  EXPECT_EQ(Reduce(ReduceOp::kMax, DType::kF32, x, {4, 3, 1}), (std::vector<float>{3, 6, 9, 12}));
}

// In f32, 1 + 2^-24 + 2^-24 one after the other is 1; the sum rounded once is 1 + 2^-23.
TEST(Reduce, RoundsFloatSumsOnce) {
  EXPECT_EQ(Reduce<float>(ReduceOp::kSum, DType::kF32, {1, 0x1p-24f, 0x1p-24f}, {1, 3, 1})[0], 1 + 0x1p-23f);
}

// Of f64 the partials themselves round: 2^53 and 1 meet in one partial (0 and 16), so the 1 is lost; in two, 1 + 1
// survives.
TEST(Reduce, KeepsTheOrderOfSixteenPartials) {
  std::vector<double> x(32, 0.0);
  x[0] = 0x1p53;
  x[16] = 1;
  EXPECT_EQ(Reduce(ReduceOp::kSum, DType::kF64, x, {1, 32, 1})[0], 0x1p53);
  x[16] = 0;
  x[1] = 1;  // partial 1 and partial 9 are added before they meet partial 0
  x[9] = 1;
  EXPECT_EQ(Reduce(ReduceOp::kSum, DType::kF64, x, {1, 32, 1})[0], 0x1p53 + 2);
  x[9] = 0;
  x[8] = 1;  // partial 8 goes into partial 0 first and is lost there; 1 alone is lost too
  EXPECT_EQ(Reduce(ReduceOp::kSum, DType::kF64, x, {1, 32, 1})[0], 0x1p53);
}

TEST(Reduce, OverNothing) {
  EXPECT_EQ(Reduce<float>(ReduceOp::kSum, DType::kF32, {}, {1, 0, 2}), (std::vector<float>{0, 0}));
  EXPECT_EQ(Reduce<float>(ReduceOp::kProd, DType::kF32, {}, {1, 0, 1}), (std::vector<float>{1}));
  EXPECT_EQ(Reduce<float>(ReduceOp::kMax, DType::kF32, {}, {1, 0, 1}), (std::vector<float>{-kInf}));
  EXPECT_EQ(Reduce<std::int32_t>(ReduceOp::kMin, DType::kI32, {}, {1, 0, 1}),
            (std::vector<std::int32_t>{std::numeric_limits<std::int32_t>::max()}));
  EXPECT_EQ(Reduce<std::uint8_t>(ReduceOp::kMax, DType::kF8E4M3FN, {}, {1, 0, 1}), (std::vector<std::uint8_t>{0xfe}));
  EXPECT_EQ(Reduce<std::uint8_t>(ReduceOp::kAnd, DType::kBool, {}, {1, 0, 1}), (std::vector<std::uint8_t>{1}));
}

TEST(Reduce, NaN) {
  const std::vector<float> x = {1, kNaN, 3};
  const std::vector<float> all = {kNaN, kNaN};
  EXPECT_TRUE(std::isnan(Reduce(ReduceOp::kMax, DType::kF32, x, {1, 3, 1})[0]));
  EXPECT_EQ(Reduce(ReduceOp::kMaxNum, DType::kF32, x, {1, 3, 1})[0], 3);
  EXPECT_EQ(Reduce(ReduceOp::kMinNum, DType::kF32, x, {1, 3, 1})[0], 1);
  EXPECT_TRUE(std::isnan(Reduce(ReduceOp::kMaxNum, DType::kF32, all, {1, 2, 1})[0]));
  EXPECT_EQ(std::bit_cast<std::uint32_t>(Reduce<float>(ReduceOp::kSum, DType::kF32, {kInf, -kInf}, {1, 2, 1})[0]),
            0x7fc00000u);
}

TEST(Reduce, IntegersAndBools) {
  EXPECT_EQ(Reduce<std::int8_t>(ReduceOp::kSum, DType::kI8, {100, 100, 100}, {1, 3, 1})[0], 44);
  EXPECT_EQ(Reduce<std::int8_t>(ReduceOp::kSum, DType::kI4, {7, 7}, {1, 2, 1})[0], -2);
  EXPECT_EQ(Reduce<std::uint8_t>(ReduceOp::kOr, DType::kBool, {0, 0, 1}, {1, 3, 1})[0], 1);
  EXPECT_EQ(Reduce<std::uint8_t>(ReduceOp::kXor, DType::kBool, {1, 1, 1}, {1, 3, 1})[0], 1);
  EXPECT_FALSE(FindReduce(ReduceOp::kSum, DType::kBool).valid);
  EXPECT_FALSE(FindReduce(ReduceOp::kAnd, DType::kF32).valid);
}

TEST(Reduce, EveryTargetGivesTheBitsOfTheReference) {
  constexpr MiddleAxis kShapes[] = {{1, 1, 1},   {3, 2, 1},   {5, 7, 1}, {2, 15, 1}, {3, 16, 1},   {3, 17, 1},
                                    {70, 33, 1}, {2, 130, 1}, {2, 1, 5}, {2, 5, 3},  {1, 16, 9},   {2, 40, 16},
                                    {1, 35, 70}, {2, 3, 129}, {0, 4, 1}, {2, 0, 3},  {1, 1000, 1}, {1, 100, 11}};
  for (const DTypeInfo& info : AllDTypes()) {
    for (int op = 0; op < kReduceOpCount; ++op) {
      const ReduceKernel reference = FindReduce(static_cast<ReduceOp>(op), info.dtype, Target::kScalar);
      for (Target target : HostTargets()) {
        const ReduceKernel kernel = FindReduce(static_cast<ReduceOp>(op), info.dtype, target);
        ASSERT_EQ(kernel.valid, reference.valid);
        if (!kernel.valid) continue;
        for (const MiddleAxis& shape : kShapes) {
          for (std::uint64_t seed : {1, 2}) {
            std::vector<std::byte> x = MixedElements(info.dtype, shape.outer * shape.length * shape.inner + 1, seed);
            if (seed == 2) {  // few special values: sums that stay finite
              for (std::size_t i = 0; i + StorageBytes(info.dtype) <= x.size(); i += StorageBytes(info.dtype)) {
                const auto bits = std::uint64_t{0x3f3b}
                                  << (Info(info.dtype).bits > 16 ? Info(info.dtype).bits - 16 : 0);
                PutElement(info.dtype, bits + (i * 2654435761u >> 7) % 1000, x.data() + i);
              }
            }
            const std::size_t bytes = shape.outer * shape.inner * StorageBytes(info.dtype);
            std::vector<std::byte> want(bytes + 64, std::byte{0xa5}), got = want;
            reference(x.data(), shape, want.data());
            kernel(x.data(), shape, got.data());
            ASSERT_EQ(want, got) << info.name << " op " << op << " on " << Name(target) << " [" << shape.outer << ", "
                                 << shape.length << ", " << shape.inner << "]";
          }
        }
      }
    }
  }
}

template <typename T>
std::int32_t Arg(ArgOp op, NaNOrder order, DType dtype, const std::vector<T>& x) {
  std::int32_t out = -1;
  FindArg(op, order, dtype)(x.data(), {1, x.size(), 1}, &out);
  return out;
}

TEST(Arg, FirstOfTheExtremes) {
  EXPECT_EQ(Arg<float>(ArgOp::kArgMax, NaNOrder::kNaNWins, DType::kF32, {1, 3, 3, 2}), 1);
  EXPECT_EQ(Arg<float>(ArgOp::kArgMin, NaNOrder::kNaNWins, DType::kF32, {1, 0.0f, -0.0f}), 1);
  EXPECT_EQ(Arg<float>(ArgOp::kArgMax, NaNOrder::kNaNWins, DType::kF32, {1, kNaN, 3, kNaN}), 1);
  EXPECT_EQ(Arg<float>(ArgOp::kArgMin, NaNOrder::kNaNWins, DType::kF32, {1, kNaN, -3}), 1);
  EXPECT_EQ(Arg<float>(ArgOp::kArgMax, NaNOrder::kNaNIsEqual, DType::kF32, {1, kNaN, 3}), 2);
  EXPECT_EQ(Arg<float>(ArgOp::kArgMax, NaNOrder::kNaNIsEqual, DType::kF32, {kNaN, 1, 0}), 0);
  EXPECT_EQ(Arg<float>(ArgOp::kArgMax, NaNOrder::kNaNIsEqual, DType::kF32, {kNaN, 1, 2}), 2);
  EXPECT_EQ(Arg<std::int64_t>(ArgOp::kArgMax, NaNOrder::kNaNWins, DType::kI64, {(1ll << 53), (1ll << 53) + 1}), 1);
  EXPECT_EQ(Arg<std::uint8_t>(ArgOp::kArgMin, NaNOrder::kNaNWins, DType::kU8, {200, 100, 100}), 1);
  const std::vector<std::int32_t> x = {1, 9, 5, 2, 3, 4};
  std::vector<std::int32_t> out(2);
  FindArg(ArgOp::kArgMax, NaNOrder::kNaNWins, DType::kI32)(x.data(), {1, 3, 2}, out.data());
  EXPECT_EQ(out, (std::vector<std::int32_t>{1, 0}));
}

template <typename T>
std::vector<T> Cum(CumOp op, DType dtype, const std::vector<T>& x, MiddleAxis shape, Direction direction) {
  std::vector<T> out(x.size());
  FindCum(op, dtype, Target::kScalar)(x.data(), shape, direction, out.data());
  return out;
}

TEST(Cum, InOrderAndRoundedAtEveryStep) {
  EXPECT_EQ(Cum<std::int32_t>(CumOp::kSum, DType::kI32, {1, 2, 3, 4}, {1, 4, 1}, Direction::kForward),
            (std::vector<std::int32_t>{1, 3, 6, 10}));
  EXPECT_EQ(Cum<std::int32_t>(CumOp::kSum, DType::kI32, {1, 2, 3, 4}, {1, 4, 1}, Direction::kReverse),
            (std::vector<std::int32_t>{10, 9, 7, 4}));
  EXPECT_EQ(Cum<std::int32_t>(CumOp::kProd, DType::kI32, {1, 2, 3, 4, 5, 6}, {1, 3, 2}, Direction::kForward),
            (std::vector<std::int32_t>{1, 2, 3, 8, 15, 48}));
  EXPECT_EQ(Cum<float>(CumOp::kMax, DType::kF32, {1, 3, 2}, {1, 3, 1}, Direction::kForward),
            (std::vector<float>{1, 3, 3}));
  // 1 + 2^-24 rounds to 1 at every step.
  EXPECT_EQ(Cum<float>(CumOp::kSum, DType::kF32, {1, 0x1p-24f, 0x1p-24f}, {1, 3, 1}, Direction::kForward)[2], 1.0f);
  const auto zero = Cum<float>(CumOp::kSum, DType::kF32, {-0.0f, -0.0f}, {1, 2, 1}, Direction::kForward);
  EXPECT_TRUE(std::signbit(zero[0]) && std::signbit(zero[1]));
}

TEST(Cum, EveryTargetGivesTheBitsOfTheReference) {
  for (const DTypeInfo& info : AllDTypes()) {
    for (CumOp op : {CumOp::kSum, CumOp::kProd, CumOp::kMax, CumOp::kMin, CumOp::kLogSumExp}) {
      const CumKernel reference = FindCum(op, info.dtype, Target::kScalar);
      for (Target target : HostTargets()) {
        const CumKernel kernel = FindCum(op, info.dtype, target);
        ASSERT_EQ(kernel.valid, reference.valid);
        if (!kernel.valid) continue;
        for (const MiddleAxis& shape : {MiddleAxis{2, 9, 1}, MiddleAxis{2, 5, 37}, MiddleAxis{1, 3, 700}}) {
          const std::vector<std::byte> x = MixedElements(info.dtype, shape.outer * shape.length * shape.inner, 3);
          for (Direction direction : {Direction::kForward, Direction::kReverse}) {
            std::vector<std::byte> want(x.size()), got(x.size());
            reference(x.data(), shape, direction, want.data());
            kernel(x.data(), shape, direction, got.data());
            ASSERT_EQ(want, got) << info.name << " op " << static_cast<int>(op) << " on " << Name(target);
          }
        }
      }
    }
  }
  EXPECT_FALSE(FindCum(CumOp::kSum, DType::kBool).valid);
  EXPECT_FALSE(FindCum(CumOp::kLogSumExp, DType::kI32).valid);
}

}  // namespace
}  // namespace palladion::simd
