// Arrays from text and their comparison. Oracles: SplitMix64 and FNV-1a as published, and values written by hand.
#include "emu/values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <utility>

namespace palladion::kernel {
namespace {

Tensor Make(DType dtype, const std::vector<std::int64_t>& shape, std::string_view text) {
  absl::StatusOr<Tensor> tensor = TensorFromText(dtype, shape, text);
  EXPECT_TRUE(tensor.ok()) << text << ": " << tensor.status();
  return tensor.ok() ? *std::move(tensor) : Tensor();
}

std::string ErrorOf(DType dtype, const std::vector<std::int64_t>& shape, std::string_view text) {
  absl::StatusOr<Tensor> tensor = TensorFromText(dtype, shape, text);
  EXPECT_FALSE(tensor.ok()) << text;
  return tensor.ok() ? "" : std::string(tensor.status().message());
}

TEST(TensorFromText, ListsAreRowMajorAndMayHaveSpaces) {
  const Tensor t = Make(DType::kF32, {2, 2}, " [1.5, -0.0,\n inf,nan ] ");
  EXPECT_EQ(1.5f, t.data<float>()[0]);
  EXPECT_TRUE(std::signbit(t.data<float>()[1]));
  EXPECT_TRUE(std::isinf(t.data<float>()[2]));
  EXPECT_TRUE(IsNaN(t, 3));
  EXPECT_FALSE(IsNaN(t, 2));
}

TEST(TensorFromText, BitsAndTruthValues) {
  EXPECT_EQ(0x7fc00001u, Make(DType::kF32, {1}, "[0x7fc00001]").data<std::uint32_t>()[0]);
  EXPECT_EQ(-1, Make(DType::kI32, {1}, "[0xffffffff]").data<std::int32_t>()[0]);
  EXPECT_EQ(1, Make(DType::kBool, {2}, "[true, 0]").data<std::uint8_t>()[0]);
  EXPECT_EQ(1.0f, Make(DType::kF32, {1}, "[true]").data<float>()[0]);
}

TEST(TensorFromText, AnEmptyArrayTakesAnEmptyList) { EXPECT_EQ(0, Make(DType::kF32, {0, 3}, "[]").num_elements()); }

TEST(TensorFromText, WrongTextSaysWhatWasExpected) {
  EXPECT_NE(std::string::npos, ErrorOf(DType::kF32, {2}, "[1.0]").find("expected 2 numbers for f32[2]; found 1"));
  EXPECT_NE(std::string::npos, ErrorOf(DType::kF32, {1}, "[1.0,]").find("found 2"));
  EXPECT_NE(std::string::npos,
            ErrorOf(DType::kI8, {2}, "[1, 128]").find("element 1: expected a i8, which holds -128 to 127"));
  EXPECT_NE(std::string::npos, ErrorOf(DType::kF32, {1}, "[--1]").find("expected a number"));
  EXPECT_NE(std::string::npos, ErrorOf(DType::kF32, {1}, "[x]").find("expected a number"));
  EXPECT_NE(std::string::npos, ErrorOf(DType::kF32, {1}, "ones").find("expected [numbers], zeros, iota"));
  EXPECT_NE(std::string::npos,
            ErrorOf(DType::kF32, {1}, "random(seed=1, lo=0)").find("expected random(seed=S, lo=A, hi=B)"));
  EXPECT_NE(std::string::npos, ErrorOf(DType::kF32, {1}, "random_bits(-1)").find("expected a seed"));
}

TEST(TensorFromText, IotaConvertsAsConvertElementTypeDoes) {
  const Tensor t = Make(DType::kU8, {300}, "iota");  // the low bits
  EXPECT_EQ(255, t.data<std::uint8_t>()[255]);
  EXPECT_EQ(43, t.data<std::uint8_t>()[299]);
  EXPECT_EQ(3.0f, Make(DType::kF32, {2, 2}, "iota").data<float>()[3]);
}

// The first outputs of the generator's published C code for the seed 1234567.
TEST(TensorFromText, RandomBitsAreSplitMix64) {
  const Tensor t = Make(DType::kU64, {5}, "random_bits(1234567)");
  const std::uint64_t expected[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                    4593380528125082431u, 16408922859458223821u};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(expected[i], t.data<std::uint64_t>()[i]);
  EXPECT_EQ(static_cast<std::uint8_t>(expected[1]),
            Make(DType::kU8, {2}, "random_bits(1234567)").data<std::uint8_t>()[1]);
  EXPECT_EQ(expected[0] & 15, Make(DType::kU4, {1}, "random_bits(1234567)").data<std::uint8_t>()[0]);
}

TEST(TensorFromText, RandomIsTheTop53BitsOverTheRange) {
  const Tensor t = Make(DType::kF64, {2}, "random(seed=1234567, lo=-1, hi=3)");
  const double u = static_cast<double>(6457827717110365317u >> 11) / 9007199254740992.0;
  EXPECT_EQ(-1 + 4 * u, t.data<double>()[0]);
}

TEST(Fnv1a, PublishedVectors) {
  EXPECT_EQ(0xcbf29ce484222325u, Fnv1a(Make(DType::kU8, {0}, "[]")));
  EXPECT_EQ(0xaf63dc4c8601ec8cu, Fnv1a(Make(DType::kU8, {1}, "[97]")));                          // "a"
  EXPECT_EQ(0x85944171f73967e8u, Fnv1a(Make(DType::kU8, {6}, "[102, 111, 111, 98, 97, 114]")));  // "foobar"
}

TEST(UlpDistance, CountsNeighbours) {
  const auto distance = [](DType dtype, std::string_view a, std::string_view b) {
    return UlpDistance(Make(dtype, {1}, a), Make(dtype, {1}, b), 0);
  };
  EXPECT_EQ(1u, distance(DType::kF32, "[1.0]", "[0x3f800001]"));
  EXPECT_EQ(1u, distance(DType::kF32, "[0x3f800001]", "[1.0]"));
  EXPECT_EQ(2u, distance(DType::kF32, "[0x00000001]", "[0x80000001]"));  // the two smallest subnormals
  EXPECT_EQ(0u, distance(DType::kF32, "[0.0]", "[-0.0]"));
  EXPECT_EQ(0u, distance(DType::kBF16, "[nan]", "[nan]"));
  EXPECT_EQ(std::nullopt, distance(DType::kF32, "[nan]", "[1.0]"));
  EXPECT_EQ(std::nullopt, distance(DType::kF32, "[inf]", "[3.4028235e38]"));
  EXPECT_EQ(3u, distance(DType::kI8, "[-1]", "[2]"));
  EXPECT_EQ(~std::uint64_t{0}, distance(DType::kU64, "[0]", "[18446744073709551615]"));
}

TEST(LooksLikeValueText, FormsAndFileNames) {
  for (const char* form : {"[1,2]", "zeros", "iota", "full(1)", "random(seed=1,lo=0,hi=1)", "random_bits(7)"})
    EXPECT_TRUE(LooksLikeValueText(form)) << form;
  for (const char* name : {"x.npy", "zeros.npy", "random.npy", "full"}) EXPECT_FALSE(LooksLikeValueText(name)) << name;
}

}  // namespace
}  // namespace palladion::kernel
