// pow and atan2 against MPFR: special operands in all combinations, exact and halfway powers, random pairs, every pair
// of one type of eight bits, f64 within 1 ulp.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "semantics/simd/math.h"
#include "semantics/simd/math_mpfr.h"
#include "semantics/tensor/element.h"

namespace palladion::simd {
namespace {

// Rounds toward zero; returns MPFR's ternary value, 0 if exact.
int MpfrBinary(Math2Op op, mpfr_ptr result, double a, double b) {
  Mpfr x(53), y(53);
  mpfr_set_d(x.get(), a, MPFR_RNDN);
  mpfr_set_d(y.get(), b, MPFR_RNDN);
  return op == Math2Op::kPow ? mpfr_pow(result, x.get(), y.get(), MPFR_RNDZ)
                             : mpfr_atan2(result, x.get(), y.get(), MPFR_RNDZ);
}

// Rounded to odd. The ternary value matters: atan2 of 2^-149 differs from the quotient in the 300th bit.
double Odd(Math2Op op, double a, double b) {
  Mpfr result(200);
  const int ternary = MpfrBinary(op, result.get(), a, b);
  if (mpfr_nan_p(result.get())) return NAN;
  const double y = RoundToOdd(result.get());
  return ternary == 0 || !std::isfinite(y) ? y : std::bit_cast<double>(std::bit_cast<std::uint64_t>(y) | 1);
}

struct Pairs {
  std::vector<double> a, b;
  void Push(double x, double y) {
    a.push_back(x);
    b.push_back(y);
  }
};

// Values every type of 16 and 32 bits rounds to something of its own; the test rounds them to the type.
Pairs MakePairs() {
  std::mt19937_64 random(5);
  const std::vector<double> special = {0.0,  -0.0,  1.0,    -1.0,   INFINITY,  -INFINITY, NAN,       2.0,   -2.0,
                                       3.0,  -3.0,  0.5,    -0.5,   1e-45,     -1e-45,    3e38,      -3e38, 2.5,
                                       -2.5, 1e-40, 1e-300, 65504., 16777215., 33554432., 16777217., 1e-7,  -7.0};
  Pairs pairs;
  for (double a : special) {
    for (double b : special) pairs.Push(a, b);
  }
  for (int k = 1; k < 4096; k += 2) {
    pairs.Push(1 + std::ldexp(k, -12), 2);                  // squares of 13 to 24 bits: many are halfway in f32
    pairs.Push(1 + std::ldexp(k % 256, -8), 3);             // cubes
    pairs.Push(k * k, 0.5);                                 // exact roots
    pairs.Push(std::ldexp(k, -60), std::ldexp(1, k % 40));  // quotients that are exact
    pairs.Push(std::ldexp(k | 0x1000001, -120 + k % 60), std::ldexp(1, k % 10));
    for (int smallest : {-149, -133, -24}) {  // quotients halfway between subnormals of f32, bf16, f16: atan is below
      pairs.Push(std::ldexp(k % 64 + 1, smallest), std::ldexp(1, 1 + k % 5));
    }
  }
  std::uniform_real_distribution<double> unit(-1, 1);
  for (int i = 0; i < 30000; ++i) {
    const double a = unit(random) * std::exp2(unit(random) * 8), b = unit(random) * std::exp2(unit(random) * 8);
    pairs.Push(a, b);
    pairs.Push(std::fabs(a), b);
    pairs.Push(std::exp2(unit(random) * 140), unit(random));
    pairs.Push(-std::fabs(a), std::nearbyint(b / 8));
  }
  return pairs;
}

template <DType D>
void CheckType(Math2Op op, const Pairs& pairs) {
  using Type = Element<D>;
  using Storage = typename Type::Storage;
  std::vector<Storage> a, b, y(pairs.a.size());
  std::vector<Storage> expected;
  for (std::size_t i = 0; i < pairs.a.size(); ++i) {
    a.push_back(Type::FromDouble(pairs.a[i]));
    b.push_back(Type::FromDouble(pairs.b[i]));
    expected.push_back(Type::FromDouble(Odd(op, Type::ToDouble(a[i]), Type::ToDouble(b[i]))));
  }
  for (Target target : HostTargets()) {
    FindMath2(op, D, target)(a.data(), b.data(), y.data(), y.size());
    int shown = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      if (std::memcmp(&y[i], &expected[i], sizeof(Storage)) == 0 || ++shown > 6) continue;
      ADD_FAILURE() << Name(target) << " " << palladion::Name(D) << std::hexfloat << " a " << Type::ToDouble(a[i])
                    << " b " << Type::ToDouble(b[i]) << " expected " << Type::ToDouble(expected[i]) << " got "
                    << Type::ToDouble(y[i]);
    }
  }
}

class MathBinaryTest : public testing::TestWithParam<Math2Op> {};

TEST_P(MathBinaryTest, F32IsCorrectlyRounded) { CheckType<DType::kF32>(GetParam(), MakePairs()); }
TEST_P(MathBinaryTest, BF16IsCorrectlyRounded) { CheckType<DType::kBF16>(GetParam(), MakePairs()); }
TEST_P(MathBinaryTest, F16IsCorrectlyRounded) { CheckType<DType::kF16>(GetParam(), MakePairs()); }

TEST_P(MathBinaryTest, EveryPairOfF8E5M2) {
  Pairs pairs;
  for (int i = 0; i < 65536; ++i) {
    pairs.Push(Element<DType::kF8E5M2>::ToDouble(static_cast<std::uint8_t>(i >> 8)),
               Element<DType::kF8E5M2>::ToDouble(static_cast<std::uint8_t>(i)));
  }
  CheckType<DType::kF8E5M2>(GetParam(), pairs);
}

TEST_P(MathBinaryTest, F64IsWithinOneUlp) {
  Pairs pairs = MakePairs();
  std::mt19937_64 random(9);
  for (int i = 0; i < 20000; ++i) {  // any two doubles; then a power whose result is in range
    pairs.Push(std::bit_cast<double>(random()), std::bit_cast<double>(random()));
    const double x = std::fabs(std::bit_cast<double>(random()));
    pairs.Push(x, static_cast<double>(static_cast<std::int64_t>(random())) * 0x1p-63 * 745 / std::log(x));
  }
  std::vector<double> y(pairs.a.size());
  FindMath2(GetParam(), DType::kF64)(pairs.a.data(), pairs.b.data(), y.data(), y.size());
  double worst = 0;
  int shown = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    Mpfr result(200);
    MpfrBinary(GetParam(), result.get(), pairs.a[i], pairs.b[i]);
    const double rounded = RoundTo(result.get(), kFormatF64);
    double error = 0;
    if (std::isnan(rounded) || std::isinf(rounded) || std::isnan(y[i]) || std::isinf(y[i]) || rounded == 0) {
      const bool same = std::isnan(rounded) ? std::isnan(y[i]) : std::memcmp(&rounded, &y[i], 8) == 0;
      error = same ? 0 : 1e9;
    } else {
      mpfr_sub_d(result.get(), result.get(), y[i], MPFR_RNDN);
      mpfr_mul_2si(result.get(), result.get(), -std::max(std::ilogb(rounded) - 52, -1074), MPFR_RNDN);
      error = std::fabs(mpfr_get_d(result.get(), MPFR_RNDN));
    }
    worst = std::max(worst, error);
    if (error <= 1 || ++shown > 6) continue;
    ADD_FAILURE() << std::hexfloat << "a " << pairs.a[i] << " b " << pairs.b[i] << " expected " << rounded << " got "
                  << y[i];
  }
  RecordProperty("worst_ulp", std::to_string(worst));
}

// Quick: the ends of the range of powers, the diagonal and some between of atan2.
TEST(MathBinary, AFewOfF64) {
  const auto of = [](Math2Op op, double a, double b) {
    double y = 0;
    FindMath2(op, DType::kF64)(&a, &b, &y, 1);
    return y;
  };
  EXPECT_EQ(0x1p-537, of(Math2Op::kPow, 0x1p-1074, 0.5));
  EXPECT_DOUBLE_EQ(0x1.8p-512, of(Math2Op::kPow, 0x1.2p-1023, 0.5));
  for (const double a : {0.1, 0.3, 0.5, 0.7, 0.97, 1.0}) {
    EXPECT_DOUBLE_EQ(std::atan2(a, 1), of(Math2Op::kAtan2, a, 1));
    EXPECT_DOUBLE_EQ(std::atan2(1, -a), of(Math2Op::kAtan2, 1, -a));
  }
}

INSTANTIATE_TEST_SUITE_P(Both, MathBinaryTest, testing::Values(Math2Op::kPow, Math2Op::kAtan2),
                         [](const auto& test) { return std::string(Name(test.param)); });

}  // namespace
}  // namespace palladion::simd
