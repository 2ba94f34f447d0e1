// Products with scales and with a sparse a, held against plain ones of operands that have been scaled and filled up
// with zeros before; what of a result is undefined; and that packing is the inverse of what JAX's documentation does to
// an array of scales. Numbers against NumPy are the cases' business (the cases gpu/*tcgen05_*).
#include "semantics/ops/gpu/scaled_mma.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "semantics/ops/matrix/mma.h"
#include "semantics/tensor/element.h"

namespace palladion {
namespace {

using Marks = std::vector<std::uint8_t>;
using Values = std::vector<double>;

// Codes below `end`, which leaves out NaN and infinity where the type has them.
AsyncValue RandomBytes(std::int64_t count, int end, std::mt19937* random) {
  AsyncValue value{.bytes = std::vector<std::byte>(static_cast<std::size_t>(count)), .marks = {}};
  std::uniform_int_distribution<int> code(0, end - 1);
  for (std::byte& byte : value.bytes) byte = static_cast<std::byte>(code(*random));
  return value;
}

template <DType D>
Values ValuesOf(const AsyncValue& value) {
  Values values;
  for (const std::byte byte : value.bytes) values.push_back(Element<D>::ToDouble(static_cast<std::uint8_t>(byte)));
  return values;
}

AsyncValue Floats(const Values& values) {
  AsyncValue value{.bytes = std::vector<std::byte>(values.size() * sizeof(float)), .marks = {}};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto narrow = static_cast<float>(values[i]);
    std::memcpy(value.bytes.data() + i * sizeof(float), &narrow, sizeof(float));
  }
  return value;
}

AsyncValue Zeros(std::int64_t count, std::size_t element_bytes) {
  return {.bytes = std::vector<std::byte>(static_cast<std::size_t>(count) * element_bytes), .marks = {}};
}

// Two different positions for each group of four, increasing; as the ref of TMEM has them for operands of 8 bits.
AsyncValue RandomPositions(std::int64_t groups, std::mt19937* random) {
  constexpr int kPairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
  AsyncValue value = Zeros(groups * 2, 1);
  std::uniform_int_distribution<int> pair(0, 5);
  for (std::size_t group = 0; group < static_cast<std::size_t>(groups); ++group) {
    const auto& chosen = kPairs[pair(*random)];
    value.bytes[2 * group] = static_cast<std::byte>(chosen[0]);
    value.bytes[2 * group + 1] = static_cast<std::byte>(chosen[1]);
  }
  return value;
}

std::vector<std::byte> PlainProduct(const ScaledMmaForm& form, const Values& a, const Values& b) {
  const Mma mma({form.m, form.n, form.k, DType::kF32, DType::kF32, DType::kF32});
  const AsyncValue left = Floats(a), right = Floats(b), acc = Zeros(form.m * form.n, 4);
  AsyncValue out = Zeros(form.m * form.n, 4);
  const AsyncValue* const one = &right;
  mma.Run({.a = left, .b = {&one, 1}, .acc = &acc}, &out);
  return out.bytes;
}

TEST(ScaledMma, EachBlockOfKHasItsScale) {
  std::mt19937 random(1);
  const ScaledMmaForm form{
      .m = 8, .n = 6, .k = 64, .a = DType::kF4E2M1FN, .b = DType::kF4E2M1FN, .block = 16, .scale = DType::kF8E4M3FN};
  const AsyncValue a = RandomBytes(8 * 64, 16, &random), b = RandomBytes(64 * 6, 16, &random);
  const AsyncValue a_scale = RandomBytes(8 * 4, 0x7f, &random), b_scale = RandomBytes(6 * 4, 0x7f, &random);
  AsyncValue out = Zeros(8 * 6, 4);
  ScaledMma(form).Run({.a = a, .b = b, .acc = Zeros(8 * 6, 4), .a_scale = &a_scale, .b_scale = &b_scale}, &out);

  Values wide_a = ValuesOf<DType::kF4E2M1FN>(a), wide_b = ValuesOf<DType::kF4E2M1FN>(b);
  const Values of_a = ValuesOf<DType::kF8E4M3FN>(a_scale), of_b = ValuesOf<DType::kF8E4M3FN>(b_scale);
  for (std::size_t i = 0; i < wide_a.size(); ++i) wide_a[i] *= of_a[i / 64 * 4 + i % 64 / 16];
  for (std::size_t i = 0; i < wide_b.size(); ++i) wide_b[i] *= of_b[i % 6 * 4 + i / 6 / 16];
  EXPECT_EQ(PlainProduct(form, wide_a, wide_b), out.bytes);
}

TEST(ScaledMma, ASparseOperandMultipliesTheRowsAtItsPositions) {
  std::mt19937 random(2);
  const ScaledMmaForm form{.m = 8, .n = 6, .k = 32, .sparse = true};
  const AsyncValue a = RandomBytes(8 * 16, 0x7f, &random), b = RandomBytes(32 * 6, 0x7f, &random);
  const AsyncValue positions = RandomPositions(8 * 8, &random);
  AsyncValue out = Zeros(8 * 6, 4);
  ScaledMma(form).Run({.a = a, .b = b, .acc = Zeros(8 * 6, 4), .positions = &positions}, &out);

  const Values stored = ValuesOf<DType::kF8E4M3FN>(a);
  Values filled(8 * 32, 0);
  for (std::size_t i = 0; i < stored.size(); ++i) {
    filled[i / 2 * 4 + static_cast<std::size_t>(positions.bytes[i])] = stored[i];
  }
  EXPECT_EQ(PlainProduct(form, filled, ValuesOf<DType::kF8E4M3FN>(b)), out.bytes);
}

TEST(ScaledMma, APositionOfFourBitsPlacesTwoElements) {
  std::mt19937 random(3);
  const ScaledMmaForm form{
      .m = 4, .n = 2, .k = 64, .a = DType::kF4E2M1FN, .b = DType::kF4E2M1FN, .block = 64, .sparse = true};
  const AsyncValue a = RandomBytes(4 * 32, 16, &random), b = RandomBytes(64 * 2, 16, &random);
  const AsyncValue a_scale = RandomBytes(4, 0x80, &random), b_scale = {.bytes = {std::byte{127}, std::byte{128}}};
  const AsyncValue positions = RandomPositions(4 * 8, &random);
  AsyncValue out = Zeros(4 * 2, 4);
  ScaledMma(form).Run(
      {.a = a, .b = b, .acc = Zeros(8, 4), .a_scale = &a_scale, .b_scale = &b_scale, .positions = &positions}, &out);

  const Values stored = ValuesOf<DType::kF4E2M1FN>(a), of_a = ValuesOf<DType::kF8E8M0FNU>(a_scale);
  Values filled(4 * 64, 0), wide_b = ValuesOf<DType::kF4E2M1FN>(b);
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const std::size_t entry = i / 2, pair = entry / 2 * 4 + static_cast<std::size_t>(positions.bytes[entry]);
    filled[pair * 2 + i % 2] = stored[i] * of_a[i / 32];
  }
  for (std::size_t i = 0; i < wide_b.size(); ++i) wide_b[i] *= i % 2 == 0 ? 1 : 2;
  EXPECT_EQ(PlainProduct(form, filled, wide_b), out.bytes);
}

// NaN at a row of b that no position names is not there.
TEST(ScaledMma, WhatIsNotKeptDoesNotCount) {
  const ScaledMmaForm form{.m = 1, .n = 1, .k = 4, .sparse = true};
  constexpr std::byte kOne{0x38}, kNaN{0x7f};
  const AsyncValue a{.bytes = {kOne, kOne}}, b{.bytes = {kNaN, kOne, kNaN, kOne}, .marks = {2, 0, 2, 0}};
  const AsyncValue positions{.bytes = {std::byte{1}, std::byte{3}}};
  AsyncValue out = Zeros(1, 4);
  ScaledMma(form).Run({.a = a, .b = b, .acc = Zeros(1, 4), .positions = &positions}, &out);
  EXPECT_EQ(Floats({2}).bytes, out.bytes);
  EXPECT_EQ((Marks{0}), out.marks);
}

TEST(ScaledMma, IntegersWrapAroundTheirAccumulator) {
  const ScaledMmaForm form{
      .m = 1, .n = 1, .k = 4, .a = DType::kI8, .b = DType::kI8, .acc = DType::kI32, .sparse = true};
  const AsyncValue a{.bytes = {std::byte{1}, std::byte{2}}};
  const AsyncValue b{.bytes = {std::byte{3}, std::byte{5}, std::byte{7}, std::byte{11}}};
  const AsyncValue positions{.bytes = {std::byte{0}, std::byte{2}}};
  constexpr std::byte kAll{0xff};
  AsyncValue out = Zeros(1, 4);
  const AsyncValue greatest{.bytes = {kAll, kAll, kAll, std::byte{0x7f}}};
  ScaledMma(form).Run({.a = a, .b = b, .acc = greatest, .positions = &positions}, &out);
  EXPECT_EQ((std::vector<std::byte>{std::byte{16}, std::byte{0}, std::byte{0}, std::byte{0x80}}), out.bytes);
}

// The marks after a 2x8 by 8x2 product of zeros in blocks of four: a mark at element `at` of one operand.
Marks MarksAfter(std::string_view operand, std::size_t at, bool sparse) {
  const ScaledMmaForm form{.m = 2, .n = 2, .k = 8, .block = 4, .sparse = sparse};
  AsyncValue a = Zeros(sparse ? 8 : 16, 1), b = Zeros(16, 1), a_scale = Zeros(4, 1), b_scale = Zeros(4, 1);
  AsyncValue positions{.bytes = std::vector<std::byte>(8)};
  for (std::size_t i = 1; i < 8; i += 2) positions.bytes[i] = std::byte{2};
  AsyncValue& marked = operand == "a"         ? a
                       : operand == "b"       ? b
                       : operand == "a_scale" ? a_scale
                       : operand == "b_scale" ? b_scale
                                              : positions;
  marked.marks.resize(marked.bytes.size());
  marked.marks[at] = 3;
  AsyncValue out = Zeros(4, 4);
  ScaledMma(form).Run({.a = a,
                       .b = b,
                       .acc = Zeros(4, 4),
                       .a_scale = &a_scale,
                       .b_scale = &b_scale,
                       .positions = sparse ? &positions : nullptr},
                      &out);
  return out.marks;
}

TEST(ScaledMma, AMarkReachesWhatIsComputedFromIt) {
  EXPECT_EQ((Marks{0, 0, 3, 3}), MarksAfter("a", 8, false));
  EXPECT_EQ((Marks{0, 3, 0, 3}), MarksAfter("b", 3, false));
  EXPECT_EQ((Marks{3, 3, 0, 0}), MarksAfter("a_scale", 1, false));
  EXPECT_EQ((Marks{0, 3, 0, 3}), MarksAfter("b_scale", 2, false));
  EXPECT_EQ((Marks{3, 3, 0, 0}), MarksAfter("positions", 3, true));
  EXPECT_EQ((Marks{0, 3, 0, 3}), MarksAfter("b", 2 * 2 + 1, true)) << "row 2 is kept";
  EXPECT_EQ((Marks{0, 0, 0, 0}), MarksAfter("b", 1 * 2 + 1, true)) << "row 1 is not";
}

// scales.reshape(rows/128, 4, 32, columns/4, 4).transpose(0, 3, 2, 1, 4), as JAX documents it, written as loops.
TEST(TmemPacking, ScalesArePackedAsJaxDocuments) {
  const std::int64_t rows = 256, columns = 8;
  std::vector<std::int64_t> packed;
  for (std::int64_t tile = 0; tile < 2; ++tile)
    for (std::int64_t four = 0; four < 2; ++four)
      for (std::int64_t line = 0; line < 32; ++line)
        for (std::int64_t quarter = 0; quarter < 4; ++quarter)
          for (std::int64_t i = 0; i < 4; ++i)
            packed.push_back(((tile * 4 + quarter) * 32 + line) * columns + four * 4 + i);
  const std::vector<std::int64_t> order = PackedOrder(TmemLayoutName::kScales, rows, columns);
  for (std::size_t element = 0; element < order.size(); ++element) {
    EXPECT_EQ(static_cast<std::int64_t>(element), packed[static_cast<std::size_t>(order[element])]);
  }
}

// The two halves of b's columns are packed one after the other, each in as many quarters as it has.
TEST(TmemPacking, ScalesOfAPairsColumnsBeginAtRow128) {
  const std::vector<std::int64_t> order = PackedOrder(TmemLayoutName::kScalesM64Collective, 256, 4);
  for (const std::int64_t columns : {64, 128, 256}) {
    const std::int64_t quarters = columns / 64;
    for (std::int64_t j = 0; j < columns; ++j) {
      const std::int64_t half = j / (quarters * 32), quarter = j / 32 % quarters, line = half * 32 + j % 32;
      const std::int64_t row = ScaleRowOfColumn(TmemLayoutName::kScalesM64Collective, j, columns);
      EXPECT_EQ(line * 16 + quarter * 4, order[static_cast<std::size_t>(row * 4)]) << j << " of " << columns;
    }
  }
}

// meta.reshape(8, 2, 8, columns/64, 4, 2, 8).transpose(3, 0, 5, 2, 4, 1, 6), as format_tcgen05_sparse_metadata does.
TEST(TmemPacking, PositionsOf16BitOperandsAreWhereJaxPutsThem) {
  const std::int64_t columns = 128;
  const std::vector<std::int64_t> order = PackedOrder(TmemLayoutName::kSparseMetadata, 128, columns);
  for (std::int64_t row = 0; row < 128; ++row) {
    for (std::int64_t entry = 0; entry < columns; ++entry) {
      const std::int64_t line = row / 16 * 16 + entry % 16 / 8 * 8 + row % 8;
      const std::int64_t at = entry % 64 / 16 * 16 + row % 16 / 8 * 8 + entry % 8;
      const auto element = static_cast<std::size_t>(PositionInTmem(row, entry, columns, 16));
      EXPECT_EQ((entry / 64 * 128 + line) * 64 + at, order[element]);
    }
  }
}

}  // namespace
}  // namespace palladion
