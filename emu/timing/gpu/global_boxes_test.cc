// Boxes of an array as rows of bytes, by hand.
#include "emu/timing/gpu/global_boxes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <vector>

namespace palladion::timing::gpu {
namespace {

BoxAccess Access(std::initializer_list<std::int64_t> start, std::initializer_list<std::int64_t> count) {
  BoxAccess access;
  access.rank = static_cast<int>(start.size());
  std::copy(start.begin(), start.end(), access.start.begin());
  std::copy(count.begin(), count.end(), access.count.begin());
  access.step.fill(1);
  return access;
}

TEST(GlobalBoxes, RowsLieAStrideApart) {
  const std::vector<std::int64_t> shape = {16, 32};
  const std::vector<GlobalBox> boxes =
      BoxesOf(Access({4, 8}, {2, 16}), {.number = 3, .shape = shape, .element_bytes = 2});
  ASSERT_EQ(boxes.size(), 1u);
  EXPECT_EQ(boxes[0].array, 3);
  EXPECT_EQ(boxes[0].first_byte, (4 * 32 + 8) * 2);
  EXPECT_EQ(boxes[0].rows, 2);
  EXPECT_EQ(boxes[0].row_stride, 64);
  EXPECT_EQ(boxes[0].row_bytes, 32);
}

TEST(GlobalBoxes, WholeRowsJoin) {
  const std::vector<std::int64_t> shape = {16, 32};
  const std::vector<GlobalBox> boxes = BoxesOf(Access({4, 0}, {2, 32}), {.shape = shape, .element_bytes = 2});
  ASSERT_EQ(boxes.size(), 1u);
  EXPECT_EQ(boxes[0].rows, 1);
  EXPECT_EQ(boxes[0].row_bytes, 128);
}

TEST(GlobalBoxes, PlanesAndMore) {
  const std::vector<std::int64_t> shape = {4, 4, 4, 4};
  const std::vector<GlobalBox> boxes =
      BoxesOf(Access({0, 0, 0, 0}, {2, 2, 2, 2}), {.shape = shape, .element_bytes = 4});
  ASSERT_EQ(boxes.size(), 2u);
  EXPECT_EQ(boxes[0].bytes() + boxes[1].bytes(), 16 * 4);
  EXPECT_EQ(boxes[0].planes, 2);
  EXPECT_EQ(boxes[0].plane_stride, 64);
  EXPECT_EQ(boxes[1].first_byte, 256);
}

TEST(GlobalBoxes, WhatLiesOutsideIsLeftOut) {
  const std::vector<std::int64_t> shape = {16, 32};
  const std::vector<GlobalBox> boxes = BoxesOf(Access({15, -4}, {4, 16}), {.shape = shape, .element_bytes = 2});
  ASSERT_EQ(boxes.size(), 1u);
  EXPECT_EQ(boxes[0].rows, 1);
  EXPECT_EQ(boxes[0].row_bytes, 24);
  EXPECT_TRUE(BoxesOf(Access({16, 0}, {2, 2}), {.shape = shape, .element_bytes = 2}).empty());
}

TEST(GlobalBoxes, PiecesThatTouchAreOne) {
  const std::vector<std::int64_t> offsets = {0, 4, PointAccess::kPadding, 16};
  const std::vector<GlobalBox> boxes = BoxesOf(offsets, 4, {});
  ASSERT_EQ(boxes.size(), 2u);
  EXPECT_EQ(boxes[0].row_bytes, 8);
  EXPECT_EQ(boxes[1].first_byte, 16);
}

}  // namespace
}  // namespace palladion::timing::gpu
