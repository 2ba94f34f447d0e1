// Padding in VMEM against the rules of the compiler's old sources (docs/spec/tpu-limits.md#vector-memory).
#include "emu/chip/layouts/tiles.h"

#include <gtest/gtest.h>

#include "emu/chip/machines/chip.h"

namespace palladion::layouts {
namespace {

std::int64_t Bytes(DType dtype, const Shape& shape, PaddedAs as = PaddedAs::kOperand) {
  return TiledBytes(ArrayType(dtype, shape), shape, *machines::FindChip("v6e"), as);
}

struct RowsOfTile {
  DType dtype;
  std::int64_t rows, padded;
};

TEST(Tiles, RowsAreOfTheLeastPowerOfTwoThatHoldsThem) {
  for (const RowsOfTile& one : {RowsOfTile{DType::kF32, 1, 1},
                                {DType::kF32, 2, 2},
                                {DType::kF32, 3, 4},
                                {DType::kF32, 4, 4},
                                {DType::kF32, 5, 8},
                                {DType::kF32, 9, 16},
                                {DType::kBF16, 1, 2},
                                {DType::kBF16, 2, 2},
                                {DType::kBF16, 3, 4},
                                {DType::kBF16, 5, 8},
                                {DType::kBF16, 9, 16},
                                {DType::kI8, 1, 4},
                                {DType::kI8, 4, 4},
                                {DType::kI8, 5, 8},
                                {DType::kI4, 1, 8},
                                {DType::kI4, 9, 16},
                                {DType::kI2, 3, 16},
                                {DType::kI2, 17, 32},
                                {DType::kI32, 12, 16},
                                {DType::kU8, 33, 40}})
    EXPECT_EQ(one.padded * 128 * Info(one.dtype).bits / 8, Bytes(one.dtype, {one.rows, 128}))
        << Name(one.dtype) << " " << one.rows;
}

TEST(Tiles, ColumnsAreLanesAndLeadingDimensionsStay) {
  EXPECT_EQ(3 * 8 * 128 * 4, Bytes(DType::kF32, {3, 8, 1}));
  EXPECT_EQ(3 * 8 * 256 * 4, Bytes(DType::kF32, {3, 7, 129}));
  EXPECT_EQ(25344 * 128 * 2, Bytes(DType::kBF16, {1, 1, 25344, 80}));
  EXPECT_EQ(4, Bytes(DType::kF32, {}));
}

TEST(Tiles, RankOneIsOfUpTo1024Elements) {
  EXPECT_EQ(128 * 4, Bytes(DType::kF32, {100}));
  EXPECT_EQ(256 * 4, Bytes(DType::kF32, {200}));
  EXPECT_EQ(512 * 4, Bytes(DType::kF32, {300}));
  EXPECT_EQ(1024 * 4, Bytes(DType::kF32, {600}));
  EXPECT_EQ(2048 * 4, Bytes(DType::kF32, {1100}));
  EXPECT_EQ(256 * 2, Bytes(DType::kBF16, {100}));
  EXPECT_EQ(512, Bytes(DType::kI8, {100}));
}

TEST(Tiles, BoolsTake32Bits) { EXPECT_EQ(8 * 128 * 4, Bytes(DType::kBool, {8, 100})); }

TEST(Tiles, NarrowScopedArraysOf32BitsKeepTheirRows) {
  EXPECT_EQ(3 * 128 * 4, Bytes(DType::kF32, {3, 128}, PaddedAs::kScoped));
  EXPECT_EQ(9 * 128 * 4, Bytes(DType::kI32, {9, 1}, PaddedAs::kScoped));
  EXPECT_EQ(4 * 256 * 4, Bytes(DType::kF32, {3, 129}, PaddedAs::kScoped));
  EXPECT_EQ(4 * 128 * 2, Bytes(DType::kBF16, {3, 128}, PaddedAs::kScoped));
  EXPECT_EQ(512 * 4, Bytes(DType::kF32, {300}, PaddedAs::kScoped));
}

}  // namespace
}  // namespace palladion::layouts
