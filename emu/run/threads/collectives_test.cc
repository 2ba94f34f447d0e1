// Which blocks are members of a collective operation, and what is compared between them.
#include "emu/run/threads/collectives.h"

#include <gtest/gtest.h>

#include <vector>

namespace palladion::threads {
namespace {

using Index = std::vector<std::int64_t>;

// Blocks of one thread each, in clusters of 2 by 3.
class CollectivesTest : public testing::Test {
 protected:
  static Program Make() {
    Program program;
    program.mesh = ThreadMesh{.cluster_dims = 2, .names = {"b", "x", "y"}};
    program.grid = {{.size = 4}, {.size = 2}, {.size = 3}};
    return program;
  }
  AgentId AddBlock(const Index& index) { return residents_.AddBlock(index, 1); }
  void Enter(AgentId thread, const std::vector<std::size_t>& dims, const std::string& what) {
    collectives_.Enter(thread, {.kinds = "copies", .grid_dims = dims, .what = what}, {});
  }

  const Program program_ = Make();
  const LaunchShape shape_{program_, Index{4, 2, 3}};
  memory_model::Memory memory_{1 << 20};
  memory_model::ConcurrencyModel model_;
  Residents residents_{shape_, model_};
  Collectives collectives_{{shape_, memory_, model_, residents_}};
};

TEST_F(CollectivesTest, MembersAreNumberedRowMajor) {
  const CollectiveGroup both{{2, -1, -1}, 0, 0}, one{{2, 1, -1}, 0, 0};
  EXPECT_EQ(both.GridDims(), (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(MemberOf(both, Index{2, 1, 2}, shape_), 5u);
  EXPECT_EQ(MemberOf(one, Index{2, 1, 2}, shape_), 2u);
  EXPECT_EQ(MemberOf(one, Index{2, 0, 2}, shape_), std::nullopt);
  EXPECT_EQ(MemberOf(both, Index{3, 1, 2}, shape_), std::nullopt);
}

TEST_F(CollectivesTest, AGroupIsInAClusterIfAllItsBlocksAre) {
  EXPECT_TRUE(InCluster({{2, -1, -1}, 0, 0}, shape_));
  EXPECT_TRUE(InCluster({{2, 1, -1}, 0, 0}, shape_));
  EXPECT_FALSE(InCluster({{-1, 1, 2}, 0, 0}, shape_));
}

TEST_F(CollectivesTest, MembersThatDoTheSameAreNoFinding) {
  const AgentId first = AddBlock({0, 0, 0}), second = AddBlock({0, 1, 0});
  Enter(first, {1}, "a copy");
  Enter(second, {1}, "a copy");
  collectives_.ThreadEnds(first);
  collectives_.ThreadEnds(second);
  EXPECT_TRUE(model_.findings().empty());
  EXPECT_EQ(collectives_.size(), 1u);
  collectives_.RetireCluster(0);
  EXPECT_EQ(collectives_.size(), 0u);
}

TEST_F(CollectivesTest, AMemberThatEndsBeforeIsAFinding) {
  const AgentId first = AddBlock({0, 0, 0}), second = AddBlock({0, 1, 0});
  residents_.ThreadEnds(second);  // before the collective is known
  Enter(first, {1}, "a copy");
  collectives_.ThreadEnds(first);
  EXPECT_EQ(model_.findings().size(), 1u);
}

TEST_F(CollectivesTest, CopiesAndAllocationsHaveNoOrderAmongEachOther) {
  const AgentId first = AddBlock({0, 0, 0}), second = AddBlock({0, 1, 0});
  const std::vector<std::size_t> x = {1};
  const auto allocate = [&](AgentId thread) {
    collectives_.Enter(thread, {.kinds = "allocations", .grid_dims = x, .what = "t"}, {});
  };
  Enter(first, x, "copy");
  allocate(first);
  allocate(second);
  Enter(second, x, "copy");
  collectives_.ThreadEnds(first);
  collectives_.ThreadEnds(second);
  EXPECT_TRUE(model_.findings().empty());
}

TEST_F(CollectivesTest, TheSameBlocksInAnotherDirectionAreAnotherGroup) {
  const AgentId thread = AddBlock({0, 0, 0});
  Enter(thread, {1}, "a copy");
  Enter(thread, {2}, "a copy");
  Enter(thread, {1}, "a copy");
  EXPECT_EQ(collectives_.size(), 2u);
}

TEST_F(CollectivesTest, WhatIsAcrossClustersEndsWithItsFirstBlock) {
  const AgentId thread = AddBlock({0, 0, 0});
  Enter(thread, {0}, "a copy");
  collectives_.RetireCluster(0);
  EXPECT_EQ(collectives_.size(), 1u);
  collectives_.BlockEnds(Index{1, 0, 1});
  EXPECT_EQ(collectives_.size(), 1u) << "it is of another group";
  collectives_.BlockEnds(Index{1, 0, 0});
  EXPECT_EQ(collectives_.size(), 0u);
}

}  // namespace
}  // namespace palladion::threads
