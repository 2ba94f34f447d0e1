// Reductions by hand: Triton's layouts for values that were loaded and for results of products.
#include "emu/timing/triton/reduction.h"

#include <gtest/gtest.h>

namespace palladion::timing::triton {
namespace {

// 1024 elements over 128 lanes: one result, all lanes and all warps hold parts of it.
TEST(TritonReduction, ARowOverAllWarps) {
  const TritonTree tree = TreeOf({1024}, {true}, {.warps = 4});
  EXPECT_EQ(tree.rounds, 5);
  EXPECT_EQ(tree.warps, 4);
  EXPECT_EQ(tree.of_lane, 1);
}

TEST(TritonReduction, OneWarpMeetsNoOther) { EXPECT_EQ(TreeOf({1024}, {true}, {.warps = 1}).warps, 1); }

// 64 columns, four to a lane: 16 lanes to a row, two rows to a warp, so eight at once; 16 results to a lane.
TEST(TritonReduction, RowsOfATileThatWasLoaded) {
  const TritonTree tree = TreeOf({128, 64}, {false, true}, {.warps = 4});
  EXPECT_EQ(tree.rounds, 4);
  EXPECT_EQ(tree.warps, 1);
  EXPECT_EQ(tree.of_lane, 16);
}

TEST(TritonReduction, ColumnsGoOverWarps) {
  const TritonTree tree = TreeOf({128, 64}, {true, false}, {.warps = 4});
  EXPECT_EQ(tree.rounds, 1);
  EXPECT_EQ(tree.warps, 4);
  EXPECT_EQ(tree.of_lane, 4);
}

// Four lanes to a row, 8 rows to a warp: two rounds, four results to a lane.
TEST(TritonReduction, RowsOfAProduct) {
  const TritonTree tree = TreeOf({128, 128}, {false, true}, {.warps = 4, .product = true});
  EXPECT_EQ(tree.rounds, 2);
  EXPECT_EQ(tree.warps, 1);
  EXPECT_EQ(tree.of_lane, 4);
}

TEST(TritonReduction, FewRowsOfAProductAreSharedByWarps) {
  const TritonTree tree = TreeOf({16, 128}, {false, true}, {.warps = 4, .product = true});
  EXPECT_EQ(tree.warps, 4);
}

}  // namespace
}  // namespace palladion::timing::triton
