// Bounds "padded": shapes against infer_tiling of JAX 0.10.2 (the rows are its answers), and accesses by hand.
#include "memory_model/bytes/padded_bounds.h"

#include <gtest/gtest.h>

#include <vector>

#include "memory_model/bytes/memory_test_util.h"

namespace palladion::memory_model {
namespace {

using Shape = std::vector<std::int64_t>;

TEST(PaddedShape, AsInferTilingSays) {
  EXPECT_EQ((Shape{16, 256}), PaddedShape({10, 200}, DType::kF32, 5));
  EXPECT_EQ((Shape{4, 128}), PaddedShape({3, 100}, DType::kF32, 5));
  EXPECT_EQ((Shape{4, 128}), PaddedShape({3, 100}, DType::kBF16, 5));
  EXPECT_EQ((Shape{16, 128}), PaddedShape({9, 128}, DType::kF32, 5));
  EXPECT_EQ((Shape{16, 128}), PaddedShape({9, 128}, DType::kBF16, 5));
  EXPECT_EQ((Shape{16, 128}), PaddedShape({10, 1}, DType::kI8, 5));
  EXPECT_EQ((Shape{16, 128}), PaddedShape({9, 128}, DType::kI4, 5));
  EXPECT_EQ((Shape{5, 7, 8, 128}), PaddedShape({5, 7, 8, 1}, DType::kF32, 4));
  EXPECT_EQ((Shape{128}), PaddedShape({10}, DType::kF32, 5));
  EXPECT_EQ((Shape{256}), PaddedShape({10}, DType::kBF16, 5));
  EXPECT_EQ((Shape{256}), PaddedShape({10}, DType::kF32, 3));
  EXPECT_EQ((Shape{}), PaddedShape({}, DType::kF32, 5));
  EXPECT_EQ((Shape{10, 200}), PaddedShape({10, 200}, DType::kF64, 5));
}

class PaddedBoundsTest : public MemoryFixture {};

TEST_F(PaddedBoundsTest, WhatStaysInTheTilesIsNoFinding) {
  memory_.SetPaddedBounds({.generation = 5});
  Floats data = Iota(6);
  const BufferId x = Adopt(data, {3, 2});  // tiles of 4 rows: 4 x 128
  const Floats rows = Load(Box(x, {1, 0}, {3, 1}, {1, 1}), 3);
  EXPECT_EQ((Floats{2, 4, -1}), rows);
  Store(Box(x, {2, 1}, {2, 1}, {1, 1}), {70, 80});
  EXPECT_EQ((Floats{0, 1, 2, 3, 4, 70}), data);  // nothing else was written
  EXPECT_TRUE(memory_.findings().empty());
  Load(Box(x, {2, 0}, {3, 1}, {1, 1}), 3);  // one row beyond the tiles
  Load(Box(x, {-1, 0}, {2, 1}, {1, 1}), 2);
  ASSERT_EQ(1u, memory_.findings().size());
  EXPECT_EQ(2, memory_.findings()[0].count);
}

TEST_F(PaddedBoundsTest, ScalarMemoryHasNoTiles) {
  memory_.SetPaddedBounds({.generation = 5, .scalar_memory = {"x"}});
  Floats data = Iota(4);
  Load(Box(Adopt(data, {4}), {3}, {2}, {1}), 2);
  EXPECT_EQ(1u, memory_.findings().size());
}

TEST_F(PaddedBoundsTest, LogicalBoundsAreTheDefault) {
  Floats data = Iota(4);
  Load(Box(Adopt(data, {4}), {3}, {2}, {1}), 2);
  EXPECT_EQ(1u, memory_.findings().size());
}

}  // namespace
}  // namespace palladion::memory_model
