// Shapes, joins, slices, gathers, reductions, contractions and TPU values: what verification refuses, and what the
// conformance cases cannot show in a few numbers: keys, empty arrays. What the operations compute is in those cases and
// in python/tests/test_array_operations.py, against JAX.
#include <gtest/gtest.h>

#include <cstdint>

#include "semantics/ops/op_test_util.h"

namespace palladion {
namespace {

using Named = std::pair<std::string, Attr>;

Attr List(const std::vector<std::int64_t>& values) {
  AttrList list(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) list[i].value = values[i];
  return Attr{std::move(list)};
}
Attr Lists(const std::vector<std::vector<std::int64_t>>& lists) {
  AttrList list(lists.size());
  for (std::size_t i = 0; i < lists.size(); ++i) list[i] = List(lists[i]);
  return Attr{std::move(list)};
}
Named Ints(std::string name, const std::vector<std::int64_t>& values) { return {std::move(name), List(values)}; }
Named Int(std::string name, std::int64_t value) { return {std::move(name), {value}}; }

TestArray Zeros(DType dtype, const Shape& shape) {
  const Type type = ArrayType(dtype, shape);
  return {.type = type, .bytes = std::vector<std::byte>(NumElements(shape) * StorageBytes(dtype))};
}
Type F32Type(Shape shape) { return ArrayType(DType::kF32, std::move(shape)); }

struct Refusal {
  TestCall call;
  std::string message;  // a part of it
};

void ExpectRefused(const std::vector<Refusal>& refusals) {
  for (const Refusal& refusal : refusals) {
    const auto result = RunOp(refusal.call);
    ASSERT_FALSE(result.ok()) << refusal.call.name << " was to be refused: " << refusal.message;
    EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument) << result.status();
    EXPECT_NE(result.status().message().find(refusal.message), std::string::npos)
        << refusal.call.name << "\nexpected " << refusal.message << "\nfound    " << result.status().message();
  }
}

TEST(ShapeOps, RefuseWhatDoesNotFit) {
  const TestArray x = Zeros(DType::kF32, {2, 3});
  ExpectRefused({
      {{"broadcast_in_dim", {x}, {F32Type({2, 4})}, {Ints("shape", {2, 4}), Ints("dims", {0, 1})}},
       "dimension 1 of f32[2,3] must have size 1 or 4"},
      {{"broadcast_in_dim", {x}, {F32Type({3, 2})}, {Ints("shape", {3, 2}), Ints("dims", {1, 0})}}, "must increase"},
      {{"broadcast_in_dim", {x}, {F32Type({2, 3})}, {Ints("shape", {2, 3}), Ints("dims", {0})}},
       "one entry for each of the 2 dimensions; found 1"},
      {{"broadcast_to", {x}, {F32Type({3, 2})}, {Ints("shape", {3, 2})}}, "cannot be broadcast"},
      {{"reshape", {x}, {F32Type({5})}, {Ints("shape", {5})}}, "must have the 6 elements of f32[2,3]; it has 5"},
      {{"reshape", {x}, {F32Type({6})}, {Ints("shape", {std::int64_t{1} << 32, std::int64_t{1} << 32})}},
       "at most 2^36 elements"},
      {{"squeeze", {x}, {F32Type({3})}, {Ints("dims", {0})}}, "must have size 1 to be squeezed"},
      {{"transpose", {x}, {F32Type({2, 2})}, {Ints("perm", {0, 0})}}, "found 0 twice"},
      {{"transpose", {x}, {F32Type({2, 3})}, {Ints("perm", {1, 0})}}, "must have type f32[3,2]; found f32[2,3]"},
      {{"rev", {x}, {F32Type({2, 3})}, {Ints("dims", {2})}}, "must be in [0, 2); found 2"},
      {{"tile", {x}, {F32Type({2, 3})}, {Ints("reps", {-1, 1})}}, "no negative size"},
      {{"tpu.repeat", {x}, {F32Type({2, 3})}, {Int("repeats", INT64_MAX), Int("axis", 0)}}, "2^36"},
      {{"iota", {}, {F32Type({})}, {Int("dim", 0)}}, "must be in [0, 0); found 0"},
      {{"expand_dims", {x}, {F32Type({2, 3})}, {Ints("dims", {4})}}, "must be in [0, 3); found 4"},
  });
}

TEST(ShapeOps, RefusePartsThatDoNotFit) {
  const TestArray x = Zeros(DType::kF32, {2, 3}), y = Zeros(DType::kF32, {3, 3}), start = Scalar<float>(DType::kF32, 0);
  ExpectRefused({
      {{"concatenate", {}, {F32Type({2})}, {Int("dim", 0)}}, "at least one operand"},
      {{"concatenate", {x, y}, {F32Type({2, 6})}, {Int("dim", 1)}}, "operand 1 is f32[3,3]"},
      {{"concatenate", {x, Zeros(DType::kI32, {2, 3})}, {F32Type({2, 6})}, {Int("dim", 1)}}, "operand 1 is i32[2,3]"},
      {{"split", {x, x}, {F32Type({2, 3})}, {Ints("sizes", {3}), Int("axis", 1)}}, "found 2"},
      {{"stack", {x, y}, {F32Type({2, 2, 3})}, {Int("axis", 0)}}, "one shape"},
      {{"unstack", {x}, {F32Type({3})}, {Int("axis", 0)}}, "expected 2 results; found 1"},
      {{"split", {x}, {F32Type({2, 1})}, {Ints("sizes", {1, 1}), Int("axis", 1)}}, "whose sum is 3"},
      {{"slice", {x}, {F32Type({2, 3})}, {Ints("start", {0, 0}), Ints("limit", {2, 4})}}, "limit <= 3"},
      {{"slice", {x}, {F32Type({2, 3})}, {Ints("start", {0, 0}), Ints("limit", {2, 3}), Ints("strides", {1, 0})}},
       "stride of at least 1"},
      {{"dynamic_slice", {x, start, start}, {F32Type({1, 1})}, {Ints("sizes", {1, 1})}},
       "operand 1 must be an array of"},
      {{"dynamic_slice", {x}, {F32Type({1, 1})}, {Ints("sizes", {1, 1})}}, "expected 3 operands; found 1"},
      {{"pad", {x, start}, {F32Type({2, 3})}, {{"config", Lists({{0, 0, 0}, {0, 0, -1}})}}}, "interior >= 0"},
      {{"pad", {x, start}, {F32Type({2, 0})}, {{"config", Lists({{0, 0, 0}, {-2, -2, 0}})}}}, "a padded size >= 0"},
      {{"pad", {x, x}, {F32Type({2, 3})}, {{"config", Lists({{0, 0, 0}, {0, 0, 0}})}}}, "must be f32[]"},
      {{"sort", {x}, {F32Type({2, 3})}, {Int("dim", 1), Int("num_keys", 2)}}, "must lie in [1, 1]; found 2"},
  });
}

TEST(ShapeOps, RefuseUpdatesOfAnotherType) {
  const TestArray x = Zeros(DType::kF32, {4, 2}), indices = Zeros(DType::kI32, {3, 1});
  const std::vector<Named> attrs = {
      Ints("update_window_dims", {1}),           Ints("inserted_window_dims", {0}),
      Ints("operand_batching_dims", {}),         Ints("scatter_indices_batching_dims", {}),
      Ints("scatter_dims_to_operand_dims", {0}), {"mode", Word("drop")}};
  EXPECT_TRUE(RunOp({"scatter", {x, indices, Zeros(DType::kF32, {3, 2})}, {x.type}, attrs}).ok());
  ExpectRefused({{{"scatter", {x, indices, Zeros(DType::kI32, {3, 2})}, {x.type}, attrs}, "i32[3,2]"},
                 {{"scatter", {x, indices, Zeros(DType::kF32, {3, 3})}, {x.type}, attrs}, "f32[3,3]"}});
}

TEST(ShapeOps, TakeWhatJustFits) {
  const TestArray one = Zeros(DType::kF32, {1}), zero = Scalar<float>(DType::kF32, 0);
  EXPECT_TRUE(RunOp({"stack", {one}, {F32Type({1, 1})}, {Int("axis", 0)}}).ok()) << "of one operand";
  constexpr std::int64_t kMost = std::int64_t{1} << 36;
  const auto pad = [&](std::int64_t interior) {
    return TestCall{"pad", {one, zero}, {F32Type({1})}, {{"config", Lists({{0, 0, interior}})}}};
  };
  EXPECT_TRUE(RunOp(pad(kMost)).ok()) << "nothing lies between the elements of one";
  ExpectRefused({{pad(kMost + 1), "'config'"}});
}

TEST(ReduceOps, RefuseWhatHasNoMeaning) {
  const TestArray x = Zeros(DType::kF32, {2, 3}), none = Zeros(DType::kF32, {2, 0}), flags = Zeros(DType::kBool, {2});
  ExpectRefused({
      {{"reduce_sum", {flags}, {ArrayType(DType::kBool, {})}, {Ints("axes", {0})}}, "signed integer, unsigned integer"},
      {{"reduce_and", {x}, {F32Type({2})}, {Ints("axes", {1})}}, "bool, signed integer"},
      {{"reduce_max", {x}, {F32Type({2})}, {Ints("axes", {1, 1})}}, "found 1 twice"},
      {{"argmax", {none}, {ArrayType(DType::kI32, {2})}, {Int("axis", 1)}}, "at least 1"},
      {{"argmax", {x}, {F32Type({2})}, {Int("axis", 1)}}, "integer type"},
      {{"cumsum", {x}, {F32Type({2, 3})}, {Int("axis", 2)}}, "must be in [0, 2)"},
  });
}

TEST(DotOps, RefuseWhatDoesNotFit) {
  const TestArray a = Zeros(DType::kF32, {2, 3}), b = Zeros(DType::kF32, {4, 2}), c = Zeros(DType::kU8, {3, 2});
  const Named contract = {"contract", Lists({{1}, {0}})}, batch = {"batch", Lists({{}, {}})};
  ExpectRefused({
      {{"dot_general", {a, b}, {F32Type({2, 2})}, {contract, batch}}, "f32[2,3] has [3], f32[4,2] has [4]"},
      {{"dot_general", {a, c}, {ArrayType(DType::kU8, {2, 2})}, {contract, batch}}, "must have type f32[2,2]"},
      {{"dot_general", {a, b}, {F32Type({2, 2})}, {{"contract", Lists({{1}})}, batch}}, "two lists of axes"},
      {{"dot_general", {a, b}, {F32Type({})}, {{"contract", Lists({{1}, {0}})}, {"batch", Lists({{1}, {0}})}}},
       "found 1 twice"},
  });
}

TEST(TpuOps, RefuseWhatDoesNotFit) {
  const TestArray x = Zeros(DType::kF32, {2, 3}), shift = Scalar<std::int32_t>(DType::kI32, 1);
  const TestArray words = Zeros(DType::kU32, {2, 3}), flags = Zeros(DType::kBool, {2, 2});
  ExpectRefused({
      {{"tpu.roll", {x, shift}, {F32Type({2, 3})}, {Int("axis", 0), Int("stride", 1)}}, "belong together"},
      {{"tpu.roll", {x, shift}, {F32Type({2, 3})}, {Int("axis", 0), Int("stride", 1), Int("stride_axis", 0)}},
       "must not be 'axis'"},
      {{"tpu.bitcast", {x}, {ArrayType(DType::kF64, {1, 3})}, {{"to", Word("bool")}}}, "to=bool"},
      {{"tpu.bitcast", {flags}, {ArrayType(DType::kU8, {2, 2})}, {{"to", Word("u8")}}},
       "operand 0 must be an array of"},
      {{"tpu.stochastic_round", {x, words}, {ArrayType(DType::kF16, {2, 3})}, {{"to", Word("f16")}}}, "must be bf16"},
      {{"tpu.pack_elementwise", {x}, {words.type}, {{"to", Word("bf16")}}}, "expected 2 operands; found 1"},
      {{"tpu.unpack_elementwise",
        {words},
        {F32Type({2, 3})},
        {{"packed", Word("bf16")}, {"to", Word("f32")}, Int("index", 2)}},
       "must be in [0, 2); found 2"},
  });
}

TEST(ShapeOps, KeepTheWordsOfAKeyTogether) {
  TestArray keys = ArrayOf<std::uint32_t>(DType::kU32, {1, 2, 3, 4}, Shape{2});
  keys.type.kind = TypeKind::kKey;
  keys.type.key_impl = "fry";
  Type out = keys.type;
  const auto reversed = RunOp({"rev", {keys}, {out}, {Ints("dims", {0})}});
  ASSERT_TRUE(reversed.ok()) << reversed.status();
  EXPECT_EQ((*reversed)[0].As<std::uint32_t>(), (std::vector<std::uint32_t>{3, 4, 1, 2}));
  out.shape = {2, 2};
  const auto repeated = RunOp({"broadcast_in_dim", {keys}, {out}, {Ints("shape", {2, 2}), Ints("dims", {0})}});
  ASSERT_TRUE(repeated.ok()) << repeated.status();
  EXPECT_EQ((*repeated)[0].As<std::uint32_t>(), (std::vector<std::uint32_t>{1, 2, 1, 2, 3, 4, 3, 4}));
}

TEST(ShapeOps, EmptyArraysMoveNothing) {
  const TestArray none = Zeros(DType::kF32, {0, 3}), two = F32({1, 2});
  EXPECT_TRUE(RunOp({"transpose", {none}, {F32Type({3, 0})}, {Ints("perm", {1, 0})}}).ok());
  EXPECT_TRUE(RunOp({"tile", {two}, {F32Type({0})}, {Ints("reps", {0})}}).ok());
  EXPECT_TRUE(RunOp({"sort", {none}, {none.type}, {Int("dim", 0), Int("num_keys", 1)}}).ok());
  EXPECT_TRUE(RunOp({"tpu.roll", {none, Scalar<std::int32_t>(DType::kI32, 5)}, {none.type}, {Int("axis", 0)}}).ok());
  const auto sum = RunOp({"reduce_sum", {none}, {F32Type({3})}, {Ints("axes", {0})}});
  ASSERT_TRUE(sum.ok()) << sum.status();
  EXPECT_EQ((*sum)[0].As<float>(), (std::vector<float>{0, 0, 0}));
}

}  // namespace
}  // namespace palladion
