// The random operations against literal answers: those of jax.random in JAX 0.10.2.
#include <gtest/gtest.h>

#include <cstdint>

#include "semantics/ops/op_test_util.h"

namespace palladion {
namespace {

using Words = std::vector<std::uint32_t>;

TestArray Keys(const Words& words, Shape shape) {
  TestArray keys = ArrayOf(DType::kU32, words, std::move(shape));
  keys.type.kind = TypeKind::kKey;
  keys.type.key_impl = "fry";
  return keys;
}

Type KeyType(Shape shape) { return Keys({}, std::move(shape)).type; }

std::pair<std::string, Attr> Int(std::string name, std::int64_t value) { return {std::move(name), {value}}; }
std::pair<std::string, Attr> ShapeAttr(const Shape& shape) {
  AttrList list;
  for (std::int64_t d : shape) list.emplace_back().value = d;
  return {"shape", {list}};
}

template <class T>
std::vector<T> RunOne(const TestCall& call) {
  const absl::StatusOr<std::vector<TestArray>> results = RunOp(call);
  EXPECT_TRUE(results.ok()) << call.name << ": " << results.status();
  return results.ok() ? (*results)[0].As<T>() : std::vector<T>{};
}

// jax.random.bits(jax.random.key(42), (2, 3), ...)
TEST(Random, BitsOfEveryWidth) {
  const TestArray key = Keys({0, 42}, {});
  const auto call = [&](int bits, DType dtype) {
    return TestCall{.name = "random_bits",
                    .in = {key},
                    .out = {ArrayType(dtype, {2, 3})},
                    .attrs = {Int("bits", bits), ShapeAttr({2, 3})}};
  };
  EXPECT_EQ(RunOne<std::uint8_t>(call(8, DType::kU8)), (std::vector<std::uint8_t>{0xa2, 0xd9, 0xf9, 0xd7, 0x15, 0xd8}));
  EXPECT_EQ(RunOne<std::uint16_t>(call(16, DType::kU16)),
            (std::vector<std::uint16_t>{0x13a2, 0x30d9, 0xf9f9, 0xc1d7, 0x7315, 0x4ed8}));
  EXPECT_EQ(RunOne<std::uint32_t>(call(32, DType::kU32)),
            (Words{0x7d1c13a2, 0xae0730d9, 0x9dc3f9f9, 0x8f9ec1d7, 0x735d7315, 0x95fb4ed8}));
  EXPECT_EQ(RunOne<std::uint64_t>(call(64, DType::kU64)),
            (std::vector<std::uint64_t>{0x6d3e048f1022172d, 0x03d7b32dadd083f4, 0x92fb20ea0f38d913, 0xbad56946354ba891,
                                        0xb013aee3c34eddf6, 0xa4d91a963122544e}));
}

// keys = jax.random.split(jax.random.key(42), 3), and jax.vmap of bits over the first two.
TEST(Random, SplitAndBitsOfManyKeys) {
  EXPECT_EQ(RunOne<std::uint32_t>(
                {.name = "random_split", .in = {Keys({0, 42}, {})}, .out = {KeyType({3})}, .attrs = {ShapeAttr({3})}}),
            (Words{0x6d3e048f, 0x1022172d, 0x03d7b32d, 0xadd083f4, 0x92fb20ea, 0x0f38d913}));
  EXPECT_EQ(RunOne<std::uint32_t>({.name = "random_bits",
                                   .in = {Keys({0x6d3e048f, 0x1022172d, 0x03d7b32d, 0xadd083f4}, {2})},
                                   .out = {ArrayType(DType::kU32, {2, 2})},
                                   .attrs = {Int("bits", 32), ShapeAttr({2})}}),
            (Words{0x87bf2d4d, 0x503881c0, 0xba4834c4, 0xc9b1b012}));
}

// jax.random.fold_in(jax.random.key(42), d) for d = 0, 7
TEST(Random, FoldIn) {
  const Words expected = {0x6d3e048f, 0x1022172d, 0x97d0552f, 0x51bf719f};
  EXPECT_EQ(
      RunOne<std::uint32_t>({.name = "random_fold_in", .in = {Keys({0, 42}, {}), I32({0, 7})}, .out = {KeyType({2})}}),
      expected);
  EXPECT_EQ(RunOne<std::uint32_t>({.name = "random_fold_in",
                                   .in = {Keys({0, 42, 0, 42}, {2}), ArrayOf<std::uint8_t>(DType::kU8, {0, 7})},
                                   .out = {KeyType({2})}}),
            expected);
}

// jax.random.key(seed) of 8, 32 and 64 bits.
TEST(Random, Seed) {
  const auto call = [](TestArray seeds) {
    const Shape shape = seeds.type.shape;
    return TestCall{
        .name = "random_seed", .in = {std::move(seeds)}, .out = {KeyType(shape)}, .attrs = {{"impl", Word("fry")}}};
  };
  EXPECT_EQ(RunOne<std::uint32_t>(call(I32({42, -1}))), (Words{0, 42, 0, 0xffffffff}));
  EXPECT_EQ(RunOne<std::uint32_t>(call(ArrayOf<std::int8_t>(DType::kI8, {-1}))), (Words{0, 0xffffffff}));
  EXPECT_EQ(RunOne<std::uint32_t>(call(ArrayOf<std::int64_t>(DType::kI64, {0x123456789abcdef0, -1}))),
            (Words{0x12345678, 0x9abcdef0, 0xffffffff, 0xffffffff}));
  EXPECT_EQ(RunOne<std::uint32_t>(call(I32({0x40000000, INT32_MIN}))), (Words{0, 0x40000000, 0, 0x80000000}));
  EXPECT_EQ(RunOne<std::uint32_t>(call(ArrayOf<std::uint64_t>(DType::kU64, {std::uint64_t{1} << 63}))),
            (Words{0x80000000, 0}));
}

TEST(Random, WrapAndUnwrapKeepTheWords) {
  const Words words = {1, 2, 3, 4};
  const TestArray array = ArrayOf(DType::kU32, words, Shape{2, 2});
  EXPECT_EQ(
      RunOne<std::uint32_t>(
          {.name = "random_wrap", .in = {array}, .out = {KeyType({2})}, .attrs = {{"impl", Word("threefry2x32")}}}),
      words);
  EXPECT_EQ(RunOne<std::uint32_t>({.name = "random_unwrap", .in = {Keys(words, {2})}, .out = {array.type}}), words);
}

TEST(Random, KeysAreCopiedAndSelectedWhole) {
  const TestArray a = Keys({1, 2, 3, 4}, {2});
  const TestArray b = Keys({5, 6, 7, 8}, {2});
  EXPECT_EQ(RunOne<std::uint32_t>({.name = "copy", .in = {a}, .out = {KeyType({2})}}), (Words{1, 2, 3, 4}));
  EXPECT_EQ(RunOne<std::uint32_t>({.name = "select_n", .in = {Bools({0, 1}), a, b}, .out = {KeyType({2})}}),
            (Words{1, 2, 7, 8}));
}

TEST(Random, ThreefryBroadcastsAndIotaCounts) {
  const TestArray key = Scalar<std::uint32_t>(DType::kU32, 0);
  const Type out = ArrayType(DType::kU32, {2});
  const auto hashed = RunOp({.name = "threefry2x32", .in = {key, key, U32({0, 1}), key}, .out = {out, out}});
  ASSERT_TRUE(hashed.ok()) << hashed.status();
  EXPECT_EQ((*hashed)[0].As<std::uint32_t>()[0], 0x6b200159u);
  EXPECT_EQ((*hashed)[1].As<std::uint32_t>()[0], 0x99ba4efeu);
  const auto iota = RunOp({.name = "iota_2x32_shape", .in = {}, .out = {out, out}, .attrs = {ShapeAttr({2})}});
  ASSERT_TRUE(iota.ok()) << iota.status();
  EXPECT_EQ((*iota)[0].As<std::uint32_t>(), (Words{0, 0}));
  EXPECT_EQ((*iota)[1].As<std::uint32_t>(), (Words{0, 1}));
}

TEST(Random, OtherImplementationsAreRefused) {
  TestArray key = Keys({0, 1, 2, 3}, {2});
  key.type.key_impl = "rbg";
  const absl::Status status =
      RunOp({.name = "random_unwrap", .in = {key}, .out = {ArrayType(DType::kU32, {2, 2})}}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
  EXPECT_EQ(RunOp({.name = "random_unwrap", .in = {U32({1, 2})}, .out = {ArrayType(DType::kU32, {2})}}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace palladion
