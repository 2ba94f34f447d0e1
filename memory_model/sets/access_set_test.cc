// Which elements an access touches, by hand: boxes, masks, bytes, and what two sets have in common.
#include "memory_model/sets/access_set.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace palladion::memory_model {
namespace {

using Ranges = std::vector<ByteRange>;
const std::vector<std::int64_t> kShape = {4, 8};
constexpr ElementSize kSize(4);

// A part of two rows of an array [4, 8].
BoxAccess TwoRows(std::int64_t row, std::int64_t column, std::int64_t columns, const std::uint8_t* lanes = nullptr) {
  BoxAccess box;
  box.rank = box.value_rank = 2;
  const std::int64_t start[] = {row, column}, count[] = {2, columns};
  for (std::size_t d = 0; d < 2; ++d) {
    box.start[d] = start[d], box.count[d] = count[d], box.step[d] = 1;
    box.lower[d] = 0, box.upper[d] = kShape[d];
    box.order[d] = static_cast<std::uint8_t>(d);
  }
  box.mask.lanes = lanes;
  return box;
}

AccessSet SetOf(const BoxAccess& access) { return SetOf(kShape, kSize, access, ReachOf(kShape, access)); }

TEST(AccessSet, LanesThatMakeABoxAreABox) {
  const std::uint8_t columns[] = {0, 1, 1, 0, 0, 1, 1, 0}, row[] = {0, 0, 0, 0, 1, 1, 1, 1};
  EXPECT_EQ(Describe(SetOf(TwoRows(1, 2, 4, columns)).box), "[1:3, 3:5]");
  EXPECT_EQ(Describe(SetOf(TwoRows(1, 2, 4, row)).box), "[2, 2:6]");
}

TEST(AccessSet, OtherLanesAreTheirBytes) {
  const std::uint8_t corner[] = {1, 1, 0, 0, 1, 0, 0, 0}, none[8] = {};
  const AccessSet set = SetOf(TwoRows(1, 2, 4, corner));
  EXPECT_FALSE(set.is_box);
  EXPECT_EQ(set.ranges, (Ranges{{40, 48}, {72, 76}}));
  EXPECT_TRUE(SetOf(TwoRows(1, 2, 4, none)).empty());
}

TEST(AccessSet, WhatABoxAndBytesHaveInCommonIsSaid) {
  const AccessSet box = SetOf(TwoRows(1, 2, 4));  // bytes 40 to 56 and 72 to 88
  const AccessSet other = SetOf(TwoRows(2, 4, 4)), apart = AccessSet::Of(Ranges{{0, 40}, {56, 72}});
  const AccessSet meets = AccessSet::Of(Ranges{{0, 8}, {60, 76}});
  EXPECT_EQ(InCommon(box, other, kShape, kSize), "[2, 4:6]");
  EXPECT_EQ(InCommon(box, meets, kShape, kSize), " bytes 72:76");
  EXPECT_EQ(InCommon(meets, box, kShape, kSize), " bytes 72:76");
  EXPECT_EQ(InCommon(box, apart, kShape, kSize), "");
}

}  // namespace
}  // namespace palladion::memory_model
