// Lines and sectors by hand: rows, strides, masks, vectors.
#include "emu/timing/gpu/sector_lines.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace palladion::timing::gpu {
namespace {

int SectorsOfLines(const std::vector<SectorLine>& lines) {
  int sectors = 0;
  for (const SectorLine& line : lines) sectors += __builtin_popcount(line.sectors);
  return sectors;
}

GlobalBox RowsOfBytes(std::int64_t rows, std::int64_t bytes, std::int64_t stride, std::int64_t first = 0) {
  return {.array = 3, .first_byte = first, .row_stride = stride, .rows = rows, .row_bytes = bytes};
}

TEST(SectorLines, ARowHasTheLinesThatItsBytesAreIn) {
  const std::vector<SectorLine> lines = LinesOf({{RowsOfBytes(1, 256, 0, 64)}}, {});
  ASSERT_EQ(lines.size(), 3u);  // bytes 64 to 320
  EXPECT_EQ(lines[0].key, SectorLine::Key(3, 0));
  EXPECT_EQ(lines[0].sectors, 0b1100);
  EXPECT_EQ(lines[1].sectors, 0b1111);
  EXPECT_EQ(lines[2].sectors, 0b0011);
}

// 256 floats in a row are 32 sectors; every eighth of them is alone in its sector.
TEST(SectorLines, AStrideOfASectorAsksForEightTimesTheSectors) {
  EXPECT_EQ(SectorsOfLines(LinesOf({{RowsOfBytes(1, 1024, 0)}}, {})), 32);
  EXPECT_EQ(SectorsOfLines(LinesOf({{RowsOfBytes(256, 4, 32)}}, {})), 256);
}

TEST(SectorLines, ASectorCountsOnceInWhateverOrderLanesAskForIt) {
  const std::vector<GlobalBox> boxes = {RowsOfBytes(1, 4, 0, 160), RowsOfBytes(1, 4, 0, 4), RowsOfBytes(1, 4, 0, 164),
                                        RowsOfBytes(1, 4, 0, 0)};
  const std::vector<SectorLine> lines = LinesOf(boxes, {});
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(SectorsOfLines(lines), 2);
}

TEST(SectorLines, BoxesOfLinesHaveTheSameSectors) {
  const GlobalBox rows = RowsOfBytes(4, 64, 256);
  const std::vector<GlobalBox> boxes = BoxesOf(LinesOf({{rows}}, {}), {});
  ASSERT_EQ(boxes.size(), 1u);
  EXPECT_EQ(boxes[0].rows, 4);
  EXPECT_EQ(boxes[0].row_stride, 256);
  EXPECT_EQ(boxes[0].bytes(), rows.bytes());
  const std::vector<GlobalBox> joined = BoxesOf(LinesOf({{RowsOfBytes(2, 128, 128)}}, {}), {});
  ASSERT_EQ(joined.size(), 1u);
  EXPECT_EQ(joined[0].row_bytes, 256);
}

BoxAccess BoxOf4x8() {
  BoxAccess access{};
  access.rank = access.value_rank = 2;
  access.start = {0, 0};
  access.count = {4, 8};
  access.step = {1, 1};
  access.order = {0, 1};
  return access;
}

TEST(SectorLines, LanesThatAMaskTurnsOffAskForNothing) {
  const std::vector<std::int64_t> shape = {4, 8};
  const ArrayLayout array{.number = 0, .shape = shape, .element_bytes = 4};
  BoxAccess access = BoxOf4x8();
  std::vector<std::uint8_t> lanes(32, 1);
  access.mask.lanes = lanes.data();
  EXPECT_EQ(TouchedBy(access, array).elements, 32);
  EXPECT_EQ(TouchedBy(access, array).boxes.size(), 1u);
  for (std::size_t i = 8; i < 32; ++i) lanes[i] = 0;
  const Touched first_row = TouchedBy(access, array);
  EXPECT_EQ(first_row.elements, 8);
  ASSERT_EQ(first_row.boxes.size(), 1u);
  EXPECT_EQ(first_row.boxes[0].row_bytes, 32);
}

TEST(SectorLines, WhatLiesOutsideTheArrayIsNotRequested) {
  const std::vector<std::int64_t> shape = {2, 8};
  BoxAccess access = BoxOf4x8();
  std::vector<std::uint8_t> lanes(32, 1);
  lanes[0] = 0;
  access.mask.lanes = lanes.data();
  EXPECT_EQ(TouchedBy(access, {.number = 0, .shape = shape, .element_bytes = 4}).elements, 15);
}

TEST(SectorLines, VectorsAreAsLongAsAddressesAllow) {
  EXPECT_EQ(VectorBytes({{RowsOfBytes(1, 4096, 0)}}, 4), 16);
  EXPECT_EQ(VectorBytes({{RowsOfBytes(1, 4096, 0, 8)}}, 4), 8);
  EXPECT_EQ(VectorBytes({{RowsOfBytes(4, 1028, 1028)}}, 4), 4);  // 257 floats to a row
  EXPECT_EQ(VectorBytes({{RowsOfBytes(64, 4, 32)}}, 4), 4);
  EXPECT_EQ(VectorBytes({{RowsOfBytes(1, 6, 0)}}, 2), 2);
}

}  // namespace
}  // namespace palladion::timing::gpu
