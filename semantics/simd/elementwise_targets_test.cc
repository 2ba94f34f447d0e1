// Every target gives the bits of the scalar reference: all operations, types and forms, on every length up to a few
// vectors. What it does not show is that the reference is right: elementwise_test.cc and elementwise_golden_test.cc do.
#include <string>

#include "gtest/gtest.h"
#include "semantics/simd/elementwise.h"
#include "semantics/simd/testing.h"

namespace palladion::simd {
namespace {

std::string Where(DType dtype, int op, Target target, std::size_t n) {
  return std::string(Name(dtype)) + " op " + std::to_string(op) + " on " + std::string(Name(target)) +
         ", n = " + std::to_string(n);
}

// Bytes past the end must survive: the results are compared with those of the reference over a longer, filled buffer.
constexpr std::size_t kGuard = 64;
constexpr std::byte kFill{0xa5};

class TargetTest : public ::testing::TestWithParam<DType> {};

TEST_P(TargetTest, BinaryGivesTheBitsOfTheReference) {
  const DType dtype = GetParam();
  const std::size_t size = StorageBytes(dtype);
  constexpr std::size_t kMax = 4099;
  const std::vector<std::byte> a = MixedElements(dtype, kMax, 1);
  const std::vector<std::byte> b = MixedElements(dtype, kMax, 2);
  for (int op = 0; op < kBinaryOpCount; ++op) {
    for (Form form : {Form::kVV, Form::kSV, Form::kVS}) {
      const BinaryFn reference = FindBinary(static_cast<BinaryOp>(op), dtype, form, Target::kScalar);
      for (Target target : HostTargets()) {
        const BinaryFn kernel = FindBinary(static_cast<BinaryOp>(op), dtype, form, target);
        ASSERT_EQ(kernel == nullptr, reference == nullptr);
        if (kernel == nullptr || kernel == reference) continue;
        for (std::size_t n : {0, 1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 33, 63, 65, 129, 4098}) {
          const std::size_t first = n % 2;  // an odd start: nothing may rely on alignment
          std::vector<std::byte> want(kMax * size + kGuard, kFill), got(kMax * size + kGuard, kFill);
          reference(a.data() + first * size, b.data() + first * size, want.data(), n);
          kernel(a.data() + first * size, b.data() + first * size, got.data(), n);
          ASSERT_EQ(want, got) << Where(dtype, op, target, n);
        }
      }
    }
  }
}

TEST_P(TargetTest, BinaryWorksInPlace) {
  const DType dtype = GetParam();
  const std::vector<std::byte> a = MixedElements(dtype, 1000, 3);
  const std::vector<std::byte> b = MixedElements(dtype, 1000, 4);
  for (int op = 0; op < static_cast<int>(BinaryOp::kEq); ++op) {
    for (Target target : HostTargets()) {
      const BinaryFn kernel = FindBinary(static_cast<BinaryOp>(op), dtype, Form::kVV, target);
      if (kernel == nullptr) continue;
      std::vector<std::byte> want(a.size()), left = a, right = b;
      kernel(a.data(), b.data(), want.data(), 1000);
      kernel(left.data(), b.data(), left.data(), 1000);
      kernel(a.data(), right.data(), right.data(), 1000);
      EXPECT_EQ(want, left) << Where(dtype, op, target, 1000);
      EXPECT_EQ(want, right) << Where(dtype, op, target, 1000);
    }
  }
}

TEST_P(TargetTest, UnaryGivesTheBitsOfTheReference) {
  const DType dtype = GetParam();
  const std::size_t size = StorageBytes(dtype);
  constexpr std::size_t kMax = 4099;
  const std::vector<std::byte> x = MixedElements(dtype, kMax, 5);
  for (int op = 0; op < kUnaryOpCount; ++op) {
    const UnaryFn reference = FindUnary(static_cast<UnaryOp>(op), dtype, Target::kScalar);
    for (Target target : HostTargets()) {
      const UnaryFn kernel = FindUnary(static_cast<UnaryOp>(op), dtype, target);
      ASSERT_EQ(kernel == nullptr, reference == nullptr);
      if (kernel == nullptr) continue;
      for (std::size_t n : {0, 1, 2, 3, 5, 7, 15, 16, 17, 33, 65, 4098}) {
        const std::size_t first = n % 2;
        std::vector<std::byte> want(kMax * size + kGuard, kFill), got(kMax * size + kGuard, kFill);
        reference(x.data() + first * size, want.data(), n);
        kernel(x.data() + first * size, got.data(), n);
        ASSERT_EQ(want, got) << Where(dtype, op, target, n);
      }
    }
  }
}

TEST_P(TargetTest, ClampAndPowGiveTheBitsOfTheReference) {
  const DType dtype = GetParam();
  constexpr std::size_t kN = 2100;
  const std::vector<std::byte> x = MixedElements(dtype, kN, 6);
  const std::vector<std::byte> lo = MixedElements(dtype, kN, 7);
  const std::vector<std::byte> hi = MixedElements(dtype, kN, 8);
  for (Target target : HostTargets()) {
    for (int scalars = 0; scalars < 4; ++scalars) {
      const ClampKernel want = FindClamp(dtype, (scalars & 1) != 0, (scalars & 2) != 0, Target::kScalar);
      const ClampKernel got = FindClamp(dtype, (scalars & 1) != 0, (scalars & 2) != 0, target);
      std::vector<std::byte> expected(x.size()), found(x.size());
      want(lo.data(), x.data(), hi.data(), expected.data(), kN);
      got(lo.data(), x.data(), hi.data(), found.data(), kN);
      EXPECT_EQ(expected, found) << Where(dtype, scalars, target, kN);
    }
    if (dtype == DType::kBool) continue;
    for (int exponent : {0, 1, 2, 3, 4, 5, 7, 10, -1, -2, -3}) {
      std::vector<std::byte> expected(x.size()), found(x.size());
      FindIntegerPow(dtype, Target::kScalar)(x.data(), exponent, expected.data(), kN);
      FindIntegerPow(dtype, target)(x.data(), exponent, found.data(), kN);
      EXPECT_EQ(expected, found) << Where(dtype, exponent, target, kN);
    }
  }
}

// All codes of the 16-bit floats.
TEST(HalfFloats, UnaryGivesTheBitsOfTheReferenceForEveryValue) {
  std::vector<std::uint16_t> x(65536), want(65536), got(65536);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::uint16_t>(i);
  for (DType dtype : {DType::kF16, DType::kBF16}) {
    for (int op = 0; op < kUnaryOpCount; ++op) {
      const UnaryFn reference = FindUnary(static_cast<UnaryOp>(op), dtype, Target::kScalar);
      if (reference == nullptr) continue;
      reference(x.data(), want.data(), x.size());
      for (Target target : HostTargets()) {
        FindUnary(static_cast<UnaryOp>(op), dtype, target)(x.data(), got.data(), x.size());
        EXPECT_EQ(want, got) << Where(dtype, op, target, x.size());
      }
    }
  }
}

std::vector<DType> EveryDType() {
  std::vector<DType> types;
  for (const DTypeInfo& info : AllDTypes()) types.push_back(info.dtype);
  return types;
}

INSTANTIATE_TEST_SUITE_P(Types, TargetTest, ::testing::ValuesIn(EveryDType()),
                         [](const auto& type) { return std::string(Name(type.param)); });

}  // namespace
}  // namespace palladion::simd
