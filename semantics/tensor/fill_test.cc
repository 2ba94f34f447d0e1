// The fills by name, and what each writes.
#include "semantics/tensor/fill.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace palladion {
namespace {

TEST(Fill, ByName) {
  EXPECT_EQ(Fill::Kind::kPoison, ParseFill("nan")->kind);
  EXPECT_EQ(Fill::Kind::kZero, ParseFill("zero")->kind);
  EXPECT_EQ(Fill::Kind::kIntMax, ParseFill("intmax")->kind);
  EXPECT_EQ(17u, ParseFill("random:17")->seed);
  EXPECT_EQ(~std::uint64_t{0}, ParseFill("random:18446744073709551615")->seed);
  for (const char* bad :
       {"", "NaN", "random", "random:", "random:x", "random:-1", "random:18446744073709551616", "random:1 ", "zeros"}) {
    EXPECT_EQ(absl::StatusCode::kInvalidArgument, ParseFill(bad).status().code()) << bad;
  }
}

template <class T>
std::array<T, 64> Filled(const char* name, DType dtype) {
  std::array<T, 64> values;
  Filler filler(*ParseFill(name));
  filler(dtype, values.data(), values.size());
  return values;
}

TEST(Fill, Writes) {
  EXPECT_TRUE(std::isnan(Filled<float>("nan", DType::kF32)[63]));
  EXPECT_EQ(std::numeric_limits<std::int32_t>::min(), Filled<std::int32_t>("nan", DType::kI32)[0]);
  EXPECT_EQ(0.0f, Filled<float>("zero", DType::kF32)[63]);
  EXPECT_EQ(std::numeric_limits<std::int32_t>::max(), Filled<std::int32_t>("intmax", DType::kI32)[5]);
  EXPECT_EQ(7, Filled<std::int8_t>("intmax", DType::kI4)[5]);
  EXPECT_TRUE(std::isnan(Filled<double>("intmax", DType::kF64)[1]));
  EXPECT_EQ(1, Filled<std::uint8_t>("intmax", DType::kBool)[1]);
}

// Values of the type, the same for one seed and others for another.
TEST(Fill, Random) {
  EXPECT_EQ(Filled<std::int32_t>("random:3", DType::kI32), Filled<std::int32_t>("random:3", DType::kI32));
  EXPECT_NE(Filled<std::int32_t>("random:3", DType::kI32), Filled<std::int32_t>("random:4", DType::kI32));
  int ones = 0;
  for (std::uint8_t b : Filled<std::uint8_t>("random:3", DType::kBool)) {
    EXPECT_LE(b, 1);
    ones += b;
  }
  EXPECT_GT(ones, 10);
  EXPECT_LT(ones, 54);
  for (std::int8_t i : Filled<std::int8_t>("random:3", DType::kI4)) {
    EXPECT_GE(i, -8);
    EXPECT_LE(i, 7);
  }
  for (std::uint8_t u : Filled<std::uint8_t>("random:3", DType::kU4)) EXPECT_LE(u, 15);
}

}  // namespace
}  // namespace palladion
