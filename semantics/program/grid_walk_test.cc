// Walks of a grid: which program is the n-th, where a task ends, and what two cores take.
#include "semantics/program/grid_walk.h"

#include <gtest/gtest.h>

#include "semantics/program/program.h"

namespace palladion {
namespace {

using Ints = std::vector<std::int64_t>;
constexpr DimOrder kPar = DimOrder::kParallel, kSeq = DimOrder::kSequential;

Ints At(const GridWalk& walk, std::int64_t n, std::size_t rank) {
  Ints index(rank);
  walk.At(n, absl::MakeSpan(index));
  return index;
}

TEST(GridWalk, ParallelDimensionsTurnAround) {
  const GridWalk forward(Ints{2, 3}, std::vector<DimOrder>{kPar, kSeq}, WalkOrder::kRowMajor);
  const GridWalk reverse(Ints{2, 3}, std::vector<DimOrder>{kPar, kSeq}, WalkOrder::kReverse);
  EXPECT_EQ((Ints{0, 1}), At(forward, 1, 2));
  EXPECT_EQ((Ints{1, 1}), At(reverse, 1, 2));
  EXPECT_EQ((Ints{0, 2}), At(reverse, 5, 2));
}

TEST(GridWalk, ATaskEndsWhereAParallelIndexChanges) {
  for (const WalkOrder order : {WalkOrder::kRowMajor, WalkOrder::kReverse}) {
    const GridWalk walk(Ints{2, 3}, std::vector<DimOrder>{kPar, kSeq}, order);
    for (std::int64_t n = 1; n < 6; ++n) EXPECT_EQ(n == 3, walk.NewTask(n, At(walk, n - 1, 2))) << n;
    const GridWalk inside(Ints{2, 3}, std::vector<DimOrder>{kSeq, kPar}, order);
    for (std::int64_t n = 1; n < 6; ++n) EXPECT_TRUE(inside.NewTask(n, At(inside, n - 1, 2))) << n;
    const GridWalk none(Ints{2, 3}, std::vector<DimOrder>{kSeq, kSeq}, order);
    for (std::int64_t n = 1; n < 6; ++n) EXPECT_FALSE(none.NewTask(n, At(none, n - 1, 2))) << n;
  }
}

TEST(GridWalk, ATaskCanComeInOnePiece) {
  for (const WalkOrder order : {WalkOrder::kRowMajor, WalkOrder::kReverse}) {
    GridWalk walk(Ints{2, 3, 2}, std::vector<DimOrder>{kSeq, kPar, kSeq}, order);
    walk.TasksFirst();
    const std::int64_t first = order == WalkOrder::kReverse ? 2 : 0;
    EXPECT_EQ((Ints{0, first, 0}), At(walk, 0, 3));
    EXPECT_EQ((Ints{0, first, 1}), At(walk, 1, 3)) << "what is sequential keeps its order";
    EXPECT_EQ((Ints{1, first, 0}), At(walk, 2, 3));
    EXPECT_EQ((Ints{0, 1, 0}), At(walk, 4, 3));
    for (std::int64_t n = 1; n < 12; ++n) EXPECT_EQ(n % 2 == 0, walk.NewTask(n, At(walk, n - 1, 3))) << n;
  }
}

TEST(GridWalk, TwoCoresShareTheLeadingParallelDimensions) {
  const auto first = [](const Ints& size, const std::vector<DimOrder>& order) {
    return GridWalk(size, order, WalkOrder::kRowMajor).FirstHalf();
  };
  EXPECT_EQ(6, first({4, 3}, {kPar, kSeq}));
  EXPECT_EQ(6, first({3, 3}, {kPar, kSeq})) << "rounded up";
  EXPECT_EQ(5, first({3, 3}, {kPar, kPar}));
  EXPECT_EQ(6, first({2, 3}, {kSeq, kPar})) << "not leading: all on one core";
  EXPECT_EQ(3, first({1, 3}, {kPar, kSeq}));
  EXPECT_EQ(0, first({4, 0}, {kPar, kSeq}));
}

}  // namespace
}  // namespace palladion
