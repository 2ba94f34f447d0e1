// The elementary functions against MPFR: every bf16 and f16 input, stratified f32 inputs and every listed exception,
// sampled f64 inputs with a bound in ulps, and the same bits on every SIMD target of the host.
// What it does not catch: a wrong f32 result outside the sample; math_exhaustive_main.cc looks at every one.
#include "semantics/simd/math.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "semantics/simd/math_exceptions.h"
#include "semantics/simd/math_mpfr.h"
#include "semantics/tensor/element.h"

namespace palladion::simd {
namespace {

float FromBF16(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

double FromF16(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  double magnitude;
  if (exponent == 31) {
    magnitude = mantissa != 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  } else {
    magnitude = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  }
  return std::copysign(magnitude, bits & 0x8000 ? -1.0 : 1.0);
}

std::vector<std::uint16_t> All16() {
  std::vector<std::uint16_t> all(65536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
  return all;
}

// Every exponent and sign with random mantissas, the neighbours of powers of two, and the range where most functions
// do something more densely.
std::vector<float> SampleF32() {
  std::mt19937 random(7);
  std::vector<float> sample;
  for (std::uint32_t top = 0; top < 512; ++top) {
    for (std::uint32_t low : {0u, 1u, 0x7FFFFFu, 0x400000u}) sample.push_back(std::bit_cast<float>(top << 23 | low));
    const int count = (top & 255) > 96 && (top & 255) < 136 ? 100 : 8;
    for (int i = 0; i < count; ++i)
      sample.push_back(std::bit_cast<float>(top << 23 | static_cast<std::uint32_t>(random() & 0x7FFFFF)));
  }
  return sample;
}

template <std::size_t... kOps>
const Exceptions& ExceptionsOf(MathOp op, std::index_sequence<kOps...>) {
  static constexpr const Exceptions* kLists[] = {&kExceptionsF32<static_cast<MathOp>(kOps)>...};
  return *kLists[static_cast<std::size_t>(op)];
}

// The inputs where one rounding of the double result would be wrong.
std::vector<float> ListedExceptions(MathOp op) {
  const Exceptions& list = ExceptionsOf(op, std::make_index_sequence<kMathOpCount>());
  std::vector<float> inputs;
  for (int i = 0; i < list.count; ++i) {
    inputs.push_back(std::bit_cast<float>(list.entries[i].x));
    inputs.push_back(-inputs.back());
  }
  return inputs;
}

std::vector<double> SampleF64() {
  std::mt19937_64 random(11);
  std::vector<double> sample = {0.0,    -0.0,      1.0,        -1.0,    INFINITY, -INFINITY,
                                NAN,    0x1p-1074, -0x1p-1074, 709.7,   710.3,    -745.2,
                                -708.5, 0.5,       1024.0,     -1074.0, -1075.0,  0x1.fffffffffffffp1023};
  const std::uint64_t mask = (std::uint64_t{1} << 52) - 1;
  for (std::uint64_t top = 0; top < 4096; ++top) {
    const bool dense = (top & 2047) > 990 && (top & 2047) < 1036;
    for (int i = 0; i < (dense ? 40 : top % 16 == 0); ++i) {
      sample.push_back(std::bit_cast<double>(top << 52 | (random() & mask)));
    }
  }
  return sample;
}

class MathTest : public testing::TestWithParam<MathOp> {};

template <class T>
std::vector<T> Apply(UnaryFn fn, const std::vector<T>& x) {
  std::vector<T> y(x.size());
  fn(x.data(), y.data(), x.size());
  return y;
}

TEST_P(MathTest, EveryBF16) {
  const std::vector<std::uint16_t> x = All16();
  std::vector<std::uint32_t> expected;
  for (std::uint16_t bits : x) {
    const float y = static_cast<float>(Reference(GetParam(), FromBF16(bits), kFormatBF16));
    expected.push_back(std::isnan(y) ? 0x7FC0 : std::bit_cast<std::uint32_t>(y) >> 16);
  }
  for (Target target : HostTargets()) {
    const auto y = Apply(FindMath(GetParam(), DType::kBF16, target), x);
    int shown = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (y[i] == expected[i] || ++shown > 8) continue;
      ADD_FAILURE() << Name(target) << " x f32 bits 0x" << std::hex << (x[i] << 16) << " expected " << expected[i]
                    << " got " << y[i];
    }
  }
}

TEST_P(MathTest, EveryF16) {
  const std::vector<std::uint16_t> x = All16();
  std::vector<double> expected;
  for (std::uint16_t bits : x) expected.push_back(Reference(GetParam(), FromF16(bits), kFormatF16));
  for (Target target : HostTargets()) {
    const auto y = Apply(FindMath(GetParam(), DType::kF16, target), x);
    int shown = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const bool same = std::isnan(expected[i])
                            ? y[i] == 0x7E00
                            : std::bit_cast<std::uint64_t>(FromF16(y[i])) == std::bit_cast<std::uint64_t>(expected[i]);
      if (same || ++shown > 8) continue;
      ADD_FAILURE() << Name(target) << " x f16 bits 0x" << std::hex << x[i] << " f32 bits 0x"
                    << std::bit_cast<std::uint32_t>(static_cast<float>(FromF16(x[i]))) << " expected f32 bits 0x"
                    << std::bit_cast<std::uint32_t>(static_cast<float>(expected[i])) << " got f16 bits " << y[i];
    }
  }
}

// Every input of every type of eight bits and fewer; the reference is rounded to odd first, so once in effect. Not for
// f8e8m0fnu, which has no zero to underflow to: there the conversion of the f64 result, zero included, is the
// definition.
TEST_P(MathTest, EveryNarrowType) {
  std::vector<std::uint8_t> x(256);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::uint8_t>(i);
  for (const DTypeInfo& info : AllDTypes()) {
    if (info.kind != DTypeKind::kFloat || info.storage_bytes != 1) continue;
    const auto y = Apply(FindMath(GetParam(), info.dtype), x);
    VisitDType(info.dtype, [&](auto tag) {
      using Type = Element<tag>;
      if constexpr (Type::kIsFloat && Type::kBits <= 8) {
        for (int i = 0; i < 1 << Type::kBits; ++i) {
          const auto bits = static_cast<std::uint8_t>(i);
          const double value = Type::ToDouble(bits);
          const double expected =
              tag == DType::kF8E8M0FNU ? Reference(GetParam(), value, kFormatF64) : ReferenceOdd(GetParam(), value);
          EXPECT_EQ(int{y[bits]}, int{Type::FromDouble(expected)}) << info.name << " x " << Type::ToDouble(bits);
        }
      }
    });
  }
}

TEST_P(MathTest, SampledF32IsCorrectlyRounded) {
  std::vector<float> x = SampleF32();
  const std::vector<float> exceptions = ListedExceptions(GetParam());
  x.insert(x.end(), exceptions.begin(), exceptions.end());
  std::vector<std::uint32_t> expected;
  for (float v : x) {
    const float y = static_cast<float>(Reference(GetParam(), v, kFormatF32));
    expected.push_back(std::isnan(y) ? 0x7FC00000u : std::bit_cast<std::uint32_t>(y));
  }
  for (Target target : HostTargets()) {
    const auto y = Apply(FindMath(GetParam(), DType::kF32, target), x);
    int shown = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (std::bit_cast<std::uint32_t>(y[i]) == expected[i] || ++shown > 8) continue;
      ADD_FAILURE() << Name(target) << " x " << x[i] << std::hex << " bits 0x" << std::bit_cast<std::uint32_t>(x[i])
                    << " expected 0x" << expected[i] << " got 0x" << std::bit_cast<std::uint32_t>(y[i]);
    }
  }
}

TEST_P(MathTest, SampledF64KeepsItsBoundAndTheSameBits) {
  const std::vector<double> x = SampleF64();
  const auto scalar = Apply(FindMath(GetParam(), DType::kF64, Target::kScalar), x);
  double worst = 0, worst_x = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double error = UlpError(GetParam(), x[i], scalar[i]);
    if (error > worst) {
      worst = error;
      worst_x = x[i];
    }
  }
  RecordProperty("worst_ulp", std::to_string(worst));
  EXPECT_LE(worst, OracleOf(GetParam()).f64_bound) << "at x = " << std::hexfloat << worst_x;
  for (Target target : HostTargets()) {
    const auto y = Apply(FindMath(GetParam(), DType::kF64, target), x);
    int shown = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (std::memcmp(&y[i], &scalar[i], 8) == 0 || ++shown > 4) continue;
      ADD_FAILURE() << Name(target) << std::hexfloat << " x " << x[i] << " scalar " << scalar[i] << " got " << y[i];
    }
  }
}

TEST_P(MathTest, AnyLengthAndInPlace) {
  std::vector<float> x = SampleF32();
  for (Target target : HostTargets()) {
    const UnaryFn fn = FindMath(GetParam(), DType::kF32, target);
    const std::vector<float> whole = Apply(fn, x);
    for (std::size_t n = 0; n < 40; ++n) {
      std::vector<float> part(x.begin() + 2000, x.begin() + 2041);
      fn(part.data(), part.data(), n);
      EXPECT_EQ(std::memcmp(part.data(), whole.data() + 2000, n * 4), 0) << Name(target) << n;
      EXPECT_EQ(std::memcmp(part.data() + n, x.data() + 2000 + n, (41 - n) * 4), 0) << "wrote past the end";
    }
  }
}

std::vector<MathOp> AllOps() {
  std::vector<MathOp> ops;
  for (int i = 0; i < kMathOpCount; ++i) {
    const MathOp op = static_cast<MathOp>(i);
    if (FindMath(op, DType::kF32, Target::kScalar) != nullptr) ops.push_back(op);
  }
  return ops;
}

INSTANTIATE_TEST_SUITE_P(AllFunctions, MathTest, testing::ValuesIn(AllOps()),
                         [](const auto& test) { return std::string(Name(test.param)); });

}  // namespace
}  // namespace palladion::simd
