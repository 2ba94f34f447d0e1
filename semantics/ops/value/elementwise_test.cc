// The rows of the elementwise operations: broadcasting of rank 0, which loop each row picks, targets, and refusals.
// What each operation means is shown by conformance/cases/elementwise; the loops are tested in semantics/simd.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>

#include "semantics/ops/families.h"
#include "semantics/ops/op_test_util.h"

namespace palladion {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int32_t>;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

Type F32Type(std::int64_t n) { return ArrayType(DType::kF32, {n}); }

template <class T>
std::vector<T> RunOne(const TestCall& call) {
  absl::StatusOr<std::vector<TestArray>> results = RunOp(call);
  EXPECT_TRUE(results.ok()) << call.name << ": " << results.status();
  return results.ok() ? (*results)[0].As<T>() : std::vector<T>{};
}

std::string Error(const TestCall& call) {
  const absl::StatusOr<std::vector<TestArray>> results = RunOp(call);
  EXPECT_FALSE(results.ok()) << call.name;
  return std::string(results.status().message());
}

TEST(Elementwise, RankZeroOperandsAreBroadcast) {
  const TestArray x = F32({1, 2, 3});
  const TestArray two = Scalar(DType::kF32, 2.0f);
  const std::vector<Type> out = {F32Type(3)};
  EXPECT_EQ(RunOne<float>({.name = "sub", .in = {x, two}, .out = out}), (Floats{-1, 0, 1}));
  EXPECT_EQ(RunOne<float>({.name = "sub", .in = {two, x}, .out = out}), (Floats{1, 0, -1}));
  EXPECT_EQ(RunOne<float>({.name = "sub", .in = {two, two}, .out = {ArrayType(DType::kF32, {})}}), (Floats{0}));
  EXPECT_EQ(RunOne<float>({.name = "pow", .in = {two, x}, .out = out}), (Floats{2, 4, 8}));
  EXPECT_EQ(RunOne<float>({.name = "pow", .in = {x, two}, .out = out}), (Floats{1, 4, 9}));
  EXPECT_EQ(RunOne<float>({.name = "nextafter", .in = {x, two}, .out = out}),
            (Floats{std::nextafter(1.0f, 2.0f), 2, std::nextafter(3.0f, 2.0f)}));
}

// Longer than the block that repeats and converts operands.
TEST(Elementwise, PowOfLongArrays) {
  constexpr std::int64_t kLength = 2500;
  Floats bases;
  Ints exponents;
  Floats expected;
  for (std::int64_t i = 0; i < kLength; ++i) {
    bases.push_back(static_cast<float>(i % 7));
    exponents.push_back(static_cast<std::int32_t>(i % 5));
    expected.push_back(static_cast<float>(std::pow(static_cast<double>(i % 7), static_cast<double>(i % 5))));  // exact
  }
  EXPECT_EQ(RunOne<float>({.name = "pow", .in = {F32(bases), I32(exponents)}, .out = {F32Type(kLength)}}), expected);
  const TestArray cube = Scalar<std::int32_t>(DType::kI32, 3);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = bases[i] * bases[i] * bases[i];
  EXPECT_EQ(RunOne<float>({.name = "pow", .in = {F32(bases), cube}, .out = {F32Type(kLength)}}), expected);
}

TEST(Elementwise, EmptyArrays) {
  const TestArray x = F32({});
  const std::vector<Type> out = {F32Type(0)};
  EXPECT_EQ(RunOne<float>({.name = "add", .in = {x, Scalar(DType::kF32, 1.0f)}, .out = out}), Floats{});
  EXPECT_EQ(RunOne<float>({.name = "select_n", .in = {Bools({}), x, x}, .out = out}), Floats{});
  EXPECT_EQ(RunOne<float>({.name = "exp", .in = {x}, .out = out}), Floats{});
}

// On Triton maxnumf is the machine's instruction; elsewhere NaN wins.
TEST(Elementwise, NanLosesOnTritonOnly) {
  const TestArray x = F32({kNaN, 1, kNaN});
  const TestArray y = F32({2, kNaN, kNaN});
  for (const char* name : {"max", "min"}) {
    TestCall call{.name = name, .in = {x, y}, .out = {F32Type(3)}};
    for (float v : RunOne<float>(call)) EXPECT_TRUE(std::isnan(v)) << name;
    call.backend = TargetBackend::kTriton;
    const Floats triton = RunOne<float>(call);
    EXPECT_EQ(triton[0], 2) << name;
    EXPECT_EQ(triton[1], 1) << name;
    EXPECT_TRUE(std::isnan(triton[2])) << name;
  }
  TestCall clamp{.name = "clamp", .in = {Scalar(DType::kF32, 0.0f), x, Scalar(DType::kF32, 5.0f)}, .out = {F32Type(3)}};
  EXPECT_TRUE(std::isnan(RunOne<float>(clamp)[0]));
  clamp.backend = TargetBackend::kTriton;
  EXPECT_EQ(RunOne<float>(clamp)[0], 0);
  // Integers have no NaN: the target changes nothing.
  const std::vector<Type> ints = {ArrayType(DType::kI32, {2})};
  EXPECT_EQ(RunOne<std::int32_t>(
                {.name = "max", .in = {I32({1, -5}), I32({-1, 7})}, .out = ints, .backend = TargetBackend::kTriton}),
            (Ints{1, 7}));
}

TEST(Elementwise, SelectTakesCasesInOrder) {
  const TestArray a = F32({1, 2, 3});
  const TestArray b = F32({4, 5, 6});
  const std::vector<Type> out = {F32Type(3)};
  const TestArray pred = Bools({0, 1, 1});
  EXPECT_EQ(RunOne<float>({.name = "select_n", .in = {pred, a, b}, .out = out}), (Floats{1, 5, 6}));
  const TestArray nine = Scalar(DType::kF32, 9.0f);
  EXPECT_EQ(RunOne<float>({.name = "select_n", .in = {pred, nine, b}, .out = out}), (Floats{9, 5, 6}));
  EXPECT_EQ(RunOne<float>({.name = "select_n", .in = {pred, a, nine}, .out = out}), (Floats{1, 9, 9}));
  EXPECT_EQ(RunOne<float>({.name = "select_n", .in = {pred, nine, nine}, .out = out}), (Floats{9, 9, 9}));
  const TestArray yes = Scalar<std::uint8_t>(DType::kBool, 1);
  EXPECT_EQ(RunOne<float>({.name = "select_n", .in = {yes, a, b}, .out = out}), (Floats{4, 5, 6}));
  EXPECT_EQ(RunOne<float>({.name = "select_n", .in = {yes, a, nine}, .out = out}), (Floats{9, 9, 9}));
  EXPECT_EQ(RunOne<float>({.name = "select_n", .in = {pred, a}, .out = out}), (Floats{1, 2, 3}));
  EXPECT_EQ(RunOne<float>({.name = "select_n", .in = {I32({-3, 2, 1}), a, b, nine}, .out = out}), (Floats{1, 9, 6}));
  const TestArray far = Scalar<std::int32_t>(DType::kI32, 7);
  EXPECT_EQ(RunOne<float>({.name = "select_n", .in = {far, a, b}, .out = out}), (Floats{4, 5, 6}));
}

// Expected words: jax.lax.reduce_precision(x, 4, 3) of JAX 0.10.2 on CPU.
TEST(Elementwise, ReducePrecisionAsJax) {
  const std::vector<std::pair<std::string, Attr>> attrs = {{"exponent_bits", {std::int64_t{4}}},
                                                           {"mantissa_bits", {std::int64_t{3}}}};
  EXPECT_EQ(RunOne<std::uint32_t>({.name = "reduce_precision",
                                   .in = {F32({1.00390625f, 70000, -1e-7f, kInf, 3.3f})},
                                   .out = {F32Type(5)},
                                   .attrs = attrs}),
            (std::vector<std::uint32_t>{0x3f800000, 0x7f800000, 0x80000000, 0x7f800000, 0x40500000}));
  const TestArray f16 =
      ArrayOf<std::uint16_t>(DType::kF16, {0x3c04, 0x7b53, 0x868e, 0x429a});  // 1.0039, 6e4, -1e-4, 3.3
  EXPECT_EQ(RunOne<std::uint16_t>(
                {.name = "reduce_precision", .in = {f16}, .out = {ArrayType(DType::kF16, {4})}, .attrs = attrs}),
            (std::vector<std::uint16_t>{0x3c00, 0x7c00, 0x8000, 0x4280}));
}

// GPUs saturate (cvt.rn.satfinite), more elements than fit in a strip; elsewhere what is too large is NaN or infinity.
TEST(Elementwise, ConversionsToEightBitFloatsSaturateOnGpus) {
  constexpr std::int64_t kLength = 600;
  Floats values(kLength, 1.0f);
  values[0] = 465.0f;
  values[1] = -1e30f;
  values[2] = kInf;
  values[3] = -kNaN;
  values[kLength - 1] = -kInf;
  const struct {
    DType to;
    const char* name;
    std::uint8_t largest, beyond, one;
  } kinds[] = {{DType::kF8E4M3FN, "f8e4m3fn", 0x7e, 0x7f, 0x38}, {DType::kF8E5M2, "f8e5m2", 0x7b, 0x7c, 0x3c}};
  for (const auto& kind : kinds) {
    TestCall call{.name = "convert_element_type",
                  .in = {F32(values)},
                  .out = {ArrayType(kind.to, {kLength})},
                  .attrs = {{"to", Word(kind.name)}}};
    EXPECT_EQ(RunOne<std::uint8_t>(call)[2], kind.beyond) << kind.name;
    for (const TargetBackend backend : {TargetBackend::kTriton, TargetBackend::kMosaicGpu}) {
      call.backend = backend;
      const auto codes = RunOne<std::uint8_t>(call);
      ASSERT_EQ(codes.size(), values.size());
      EXPECT_EQ(codes[1], kind.largest | 0x80) << kind.name;
      EXPECT_EQ(codes[2], kind.largest) << kind.name;
      EXPECT_EQ(codes[3], 0x7f) << kind.name;
      EXPECT_EQ(codes[4], kind.one) << kind.name;
      EXPECT_EQ(codes[kLength - 1], kind.largest | 0x80) << kind.name;
    }
  }
}

TEST(Elementwise, ReducePrecisionToTheTypeItselfChangesNothing) {
  const std::vector<std::pair<std::string, Attr>> attrs = {{"exponent_bits", {std::int64_t{200}}},
                                                           {"mantissa_bits", {std::int64_t{23}}}};
  const TestArray x = F32({1e-45f, -0.0f, kInf, 1.1f});
  EXPECT_EQ(RunOne<std::uint32_t>({.name = "reduce_precision", .in = {x}, .out = {F32Type(4)}, .attrs = attrs}),
            x.As<std::uint32_t>());
}

// Every pair of neighbours of f16 and bf16, against the order of their values.
TEST(Elementwise, NextAfterOfSixteenBitTypes) {
  for (const auto& [dtype, inf] : {std::pair{DType::kF16, 0x7c00}, std::pair{DType::kBF16, 0x7f80}}) {
    std::vector<std::uint16_t> codes;
    for (int code = 0; code < inf; ++code) codes.push_back(static_cast<std::uint16_t>(code));
    const std::vector<Type> out = {ArrayType(dtype, {inf})};
    const TestArray up = Scalar(dtype, static_cast<std::uint16_t>(inf));
    const TestArray down = Scalar(dtype, static_cast<std::uint16_t>(inf | 0x8000));
    const auto above = RunOne<std::uint16_t>({.name = "nextafter", .in = {ArrayOf(dtype, codes), up}, .out = out});
    const auto below = RunOne<std::uint16_t>({.name = "nextafter", .in = {ArrayOf(dtype, codes), down}, .out = out});
    for (int code = 0; code < inf; ++code) {
      ASSERT_EQ(above[code], code + 1);
      ASSERT_EQ(below[code], code == 0 ? 0x8001 : code - 1);
    }
  }
}

TEST(Elementwise, BitcastOfTypesNarrowerThanAByte) {
  const TestArray bytes = ArrayOf<std::uint8_t>(DType::kU8, {0x1f, 0xe2});
  const std::vector<std::int8_t> nibbles = {-1, 1, 2, -2};  // jax.lax.bitcast_convert_type(bytes, int4)
  EXPECT_EQ(RunOne<std::int8_t>({.name = "bitcast_convert_type",
                                 .in = {bytes},
                                 .out = {ArrayType(DType::kI4, {2, 2})},
                                 .attrs = {{"to", Word("i4")}}}),
            nibbles);
  const TestArray i4 = ArrayOf<std::int8_t>(DType::kI4, nibbles, Shape{2, 2});
  EXPECT_EQ(RunOne<std::uint8_t>({.name = "bitcast_convert_type",
                                  .in = {i4},
                                  .out = {ArrayType(DType::kU8, {2})},
                                  .attrs = {{"to", Word("u8")}}}),
            bytes.As<std::uint8_t>());
  EXPECT_EQ(RunOne<std::uint8_t>({.name = "bitcast_convert_type",
                                  .in = {i4},
                                  .out = {ArrayType(DType::kU4, {2, 2})},
                                  .attrs = {{"to", Word("u4")}}}),
            (std::vector<std::uint8_t>{15, 1, 2, 14}));
  const TestArray crumbs = ArrayOf<std::uint8_t>(DType::kU2, {3, 1, 0, 2}, Shape{2, 2});
  EXPECT_EQ(RunOne<std::int8_t>({.name = "bitcast_convert_type",
                                 .in = {crumbs},
                                 .out = {ArrayType(DType::kI4, {2})},
                                 .attrs = {{"to", Word("i4")}}}),
            (std::vector<std::int8_t>{0b0111, -8}));
}

TEST(Elementwise, TypesWithoutAMeaningAreRefused) {
  const TestArray ints = I32({1, 2});
  const std::vector<Type> out = {ArrayType(DType::kI32, {2})};
  EXPECT_EQ(Error({.name = "exp", .in = {ints}, .out = out}), "operand 0 must be an array of float; found i32[2]");
  EXPECT_EQ(Error({.name = "and", .in = {F32({1}), F32({1})}, .out = {F32Type(1)}}),
            "operand 0 must be an array of bool, signed integer, unsigned integer; found f32[1]");
  EXPECT_NE(Error({.name = "add", .in = {Bools({1}), Bools({1})}, .out = {ArrayType(DType::kBool, {1})}}), "");
  EXPECT_NE(Error({.name = "abs", .in = {U32({1})}, .out = {ArrayType(DType::kU32, {1})}}), "");
}

TEST(Elementwise, MismatchesAreRefused) {
  EXPECT_EQ(Error({.name = "add", .in = {F32({1, 2}), F32({1})}, .out = {F32Type(2)}}),
            "operands must have one shape or rank 0; found f32[2] and f32[1]");
  EXPECT_EQ(Error({.name = "add", .in = {F32({1}), I32({1})}, .out = {F32Type(1)}}),
            "operands must have one element type; operand 0 is f32[1], operand 1 is i32[1]");
  EXPECT_EQ(Error({.name = "add", .in = {F32({1})}, .out = {F32Type(1)}}), "expected 2 operands; found 1");
  EXPECT_EQ(Error({.name = "add", .in = {F32({1}), F32({1})}, .out = {F32Type(2)}}),
            "result 0 must have type f32[1]; found f32[2]");
  EXPECT_EQ(Error({.name = "eq", .in = {F32({1}), F32({1})}, .out = {F32Type(1)}}),
            "result 0 must have type bool[1]; found f32[1]");
  EXPECT_EQ(Error({.name = "clamp", .in = {F32({1}), Scalar(DType::kF32, 1.0f), F32({1})}, .out = {F32Type(1)}}),
            "the clamped operand must have the shape of the bounds or the bounds rank 0; found f32[] and bounds "
            "f32[1], f32[1]");
  EXPECT_NE(Error({.name = "select_n", .in = {Bools({1}), F32({1}), F32({1}), F32({1})}, .out = {F32Type(1)}}), "");
  EXPECT_NE(Error({.name = "bitcast_convert_type",
                   .in = {F32({1})},
                   .out = {ArrayType(DType::kF64, {1})},
                   .attrs = {{"to", Word("f64")}}}),
            "");
}

// Several elements make one of as many bits, which then has a dimension less; else the shape stays.
TEST(Elementwise, BitsThatDoNotFillTheNewTypeAreRefused) {
  const auto call = [](const Shape& shape, const char* to, DType dtype, const Shape& result) {
    const std::vector<std::int16_t> ones(static_cast<std::size_t>(NumElements(shape)), 1);
    return TestCall{.name = "bitcast_convert_type",
                    .in = {ArrayOf(DType::kI16, ones, shape)},
                    .out = {ArrayType(dtype, result)},
                    .attrs = {{"to", Word(to)}}};
  };
  EXPECT_EQ(RunOne<std::int32_t>(call({2, 2}, "i32", DType::kI32, {2})), (std::vector<std::int32_t>{65537, 65537}));
  EXPECT_EQ(RunOne<std::uint16_t>(call({2, 1}, "u16", DType::kU16, {2, 1})), (std::vector<std::uint16_t>{1, 1}));
  for (const Shape& shape : {Shape{}, Shape{3}, Shape{3, 4}}) {
    const std::string error = Error(call(shape, "i32", DType::kI32, {3}));
    EXPECT_NE(error.find("the bits must fill the new type"), std::string::npos) << error;
  }
}

TEST(Elementwise, NumbersChooseAmongBools) {
  const TestArray which = I32({0, 1, 1, 0, 1}), no = Bools({1, 1, 0, 0, 0}), yes = Bools({0, 0, 1, 1, 0});
  EXPECT_EQ(RunOne<std::uint8_t>({.name = "select_n", .in = {which, no, yes}, .out = {no.type}}),
            (std::vector<std::uint8_t>{1, 0, 1, 0, 0}));
}

TEST(Elementwise, AttributesAreChecked) {
  EXPECT_EQ(Error({.name = "integer_pow",
                   .in = {I32({2})},
                   .out = {ArrayType(DType::kI32, {1})},
                   .attrs = {{"y", {std::int64_t{-1}}}}}),
            "the exponent of integers must not be negative; found -1");
  EXPECT_NE(Error({.name = "integer_pow", .in = {I32({2})}, .out = {ArrayType(DType::kI32, {1})}}), "");
  EXPECT_NE(
      Error(
          {.name = "round", .in = {F32({2})}, .out = {F32Type(1)}, .attrs = {{"rounding_method", {std::int64_t{2}}}}}),
      "");
  EXPECT_NE(Error({.name = "reduce_precision",
                   .in = {F32({2})},
                   .out = {F32Type(1)},
                   .attrs = {{"exponent_bits", {std::int64_t{0}}}, {"mantissa_bits", {std::int64_t{3}}}}}),
            "");
}

TEST(Elementwise, InlineAssembly) {
  const std::string name = "triton.elementwise_inline_asm";
  const auto code = [](const char* text) {
    return std::vector<std::pair<std::string, Attr>>{{"asm", {std::string(text)}}};
  };
  EXPECT_EQ(RunOne<float>(
                {.name = name, .in = {F32({0, kInf})}, .out = {F32Type(2)}, .attrs = code("tanh.approx.f32 $0, $1;")}),
            (Floats{0, 1}));
  const std::string error =
      Error({.name = name, .in = {F32({0})}, .out = {F32Type(1)}, .attrs = code("ex2.approx.f32 $0, $1;")});
  EXPECT_NE(error.find("ex2.approx.f32 $0, $1;"), std::string::npos) << error;
}

TEST(Atomic, OfEqualValuesTheOldOneStays) {
  const auto result = [](const char* op, float old, float operand) {
    float out = 7;
    (*FindAtomic(op, DType::kF32))(reinterpret_cast<const std::byte*>(&old),
                                   reinterpret_cast<const std::byte*>(&operand), nullptr,
                                   reinterpret_cast<std::byte*>(&out));
    return out;
  };
  for (const char* op : {"max", "min"}) {
    EXPECT_TRUE(std::signbit(result(op, -0.0f, 0.0f))) << op;
    EXPECT_FALSE(std::signbit(result(op, 0.0f, -0.0f))) << op;
    EXPECT_EQ(3, result(op, std::numeric_limits<float>::quiet_NaN(), 3)) << op;
  }
}

template <class T>
T Reduced(const char* op, DType dtype, T old, T operand) {
  T out = 7;
  (*FindCopyReduction(op, dtype))(reinterpret_cast<const std::byte*>(&old),
                                  reinterpret_cast<const std::byte*>(&operand), nullptr,
                                  reinterpret_cast<std::byte*>(&out));
  return out;
}

TEST(CopyReduction, SaysWhetherNumbersHaveASign) {
  constexpr std::uint32_t kNegative = 0x80000005;
  for (const DType dtype : {DType::kI32, DType::kU32}) {
    EXPECT_EQ(kNegative, Reduced("smin", dtype, 3u, kNegative));
    EXPECT_EQ(3u, Reduced("smax", dtype, 3u, kNegative));
    EXPECT_EQ(3u, Reduced("umin", dtype, 3u, kNegative));
    EXPECT_EQ(kNegative, Reduced("umax", dtype, 3u, kNegative));
  }
  EXPECT_EQ(-5, Reduced("smin", DType::kI64, std::int64_t{-5}, std::int64_t{1} << 40));
  EXPECT_EQ(-5, Reduced("umax", DType::kI64, std::int64_t{-5}, std::int64_t{1} << 40));
}

TEST(CopyReduction, CountsAround) {
  const auto counted = [](const char* op, std::uint32_t old) { return Reduced(op, DType::kU32, old, 5u); };
  EXPECT_EQ(1u, counted("inc", 0));
  EXPECT_EQ(5u, counted("inc", 4));
  EXPECT_EQ(0u, counted("inc", 5));
  EXPECT_EQ(0u, counted("inc", 0xffffffff));
  EXPECT_EQ(5u, counted("dec", 0));
  EXPECT_EQ(4u, counted("dec", 5));
  EXPECT_EQ(5u, counted("dec", 6));
}

TEST(CopyReduction, IsNoneOfOtherTypes) {
  for (const auto& [op, dtype] : {std::pair("smin", DType::kF32),
                                  {"umax", DType::kI16},
                                  {"inc", DType::kI64},
                                  {"dec", DType::kF16},
                                  {"xchg", DType::kI32},
                                  {"cas", DType::kI32}}) {
    EXPECT_FALSE(FindCopyReduction(op, dtype).ok()) << op;
  }
  EXPECT_TRUE(FindCopyReduction("add", DType::kF16).ok());
}

TEST(Elementwise, ManyResults) {
  const absl::StatusOr<std::vector<TestArray>> results = RunOp({.name = "optimization_barrier",
                                                                .in = {F32({1, 2}), I32({3})},
                                                                .out = {F32Type(2), ArrayType(DType::kI32, {1})}});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0].As<float>(), (Floats{1, 2}));
  EXPECT_EQ((*results)[1].As<std::int32_t>(), (Ints{3}));
}

}  // namespace
}  // namespace palladion
