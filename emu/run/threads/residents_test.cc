// Which agents of a launch are resident, from when and until when.
#include "emu/run/threads/residents.h"

#include <gtest/gtest.h>

#include <vector>

namespace palladion::threads {
namespace {

using Index = std::vector<std::int64_t>;

// Clusters of 2 blocks of 2 threads.
class ResidentsTest : public testing::Test {
 protected:
  static Program Make() {
    Program program;
    program.mesh = ThreadMesh{.cluster_dims = 1, .thread_dim = true, .names = {"b", "c", "wg"}};
    program.grid = {{.size = 4}, {.size = 2}, {.size = 2}};
    return program;
  }
  AgentId AddBlock(std::int64_t cluster, std::int64_t block) {
    return residents_.AddBlock(Index{cluster, block, 0}, 2);
  }
  static AgentId After(AgentId thread) { return {thread.value + 1}; }

  const Program program_ = Make();
  const LaunchShape shape_{program_, Index{4, 2, 2}};
  memory_model::ConcurrencyModel model_;
  Residents residents_{shape_, model_};
};

TEST_F(ResidentsTest, ABlockHasItsThreadsInOrder) {
  const AgentId first = AddBlock(3, 1);
  EXPECT_EQ(residents_.BlockOf(first).number, 7);
  EXPECT_EQ(residents_.BlockOf(first).cluster, 3);
  EXPECT_EQ(residents_.Of(After(first)).index, (Index{3, 1, 1}));
  EXPECT_EQ(residents_.Of(After(first)).number, 1u);
  EXPECT_EQ(model_.agents().NameOf(After(first)), "thread 1 of block (3, 1)");
  EXPECT_TRUE(residents_.IsOf(first, Index{3, 1, 1}));
  EXPECT_FALSE(residents_.IsOf(first, Index{3, 0, 1}));
}

TEST_F(ResidentsTest, AClusterIsOverWithItsLastThread) {
  const AgentId first = AddBlock(0, 0), second = AddBlock(0, 1);
  EXPECT_FALSE(residents_.ThreadEnds(first));
  EXPECT_FALSE(residents_.ThreadEnds(After(first)));
  EXPECT_FALSE(residents_.ThreadEnds(After(second)));
  EXPECT_TRUE(residents_.ThreadEnds(second));
}

TEST_F(ResidentsTest, ARetiredClusterHasBegunAndIsNotThere) {
  AddBlock(1, 0);
  const BlockId other = residents_.Of(AddBlock(2, 1)).block;
  residents_.RetireCluster(1);
  EXPECT_FALSE(residents_.At(2).valid());
  EXPECT_TRUE(residents_.HasBegun(2));
  EXPECT_FALSE(residents_.HasBegun(3));
  EXPECT_EQ(residents_.At(5), other);
  EXPECT_EQ(residents_.InOrder(), std::vector<BlockId>{other});
  EXPECT_EQ(residents_.threads(), 2u);
  EXPECT_EQ(residents_.clusters(), 1u);
}

TEST_F(ResidentsTest, TheKernelBeforeHasANumberAmongTheThreads) {
  const AgentId first = AddBlock(0, 0);
  EXPECT_FALSE(residents_.overlaps());
  const AgentId before = residents_.Before();
  EXPECT_TRUE(residents_.overlaps());
  EXPECT_EQ(residents_.Before(), before);
  const AgentId next = AddBlock(0, 1);
  EXPECT_EQ(residents_.BlockOf(next).number, 1);
  EXPECT_EQ(residents_.BlockOf(first).number, 0);
  EXPECT_EQ(residents_.threads(), 4u);
}

TEST_F(ResidentsTest, AWarpHasTheQueuesOfItsThread) {
  const AgentId thread = AddBlock(0, 0);
  const AgentId warp = residents_.Fork(thread, 3, {});
  EXPECT_TRUE(residents_.Of(warp).is_warp());
  EXPECT_EQ(residents_.Of(warp).lane(), 3u);
  EXPECT_EQ(&residents_.OwnerOf(residents_.Of(warp)), &residents_.Of(thread));
  EXPECT_EQ(model_.agents().NameOf(warp), "warp 3 of thread 0 of block (0, 0)");
  EXPECT_EQ(residents_.Of(thread).warps_running, 1u);
  residents_.WarpEnds(warp);
  EXPECT_EQ(residents_.Of(thread).warps_running, 0u);
}

TEST_F(ResidentsTest, AnAllocationHasItsStepAndHowOftenItRan) {
  Thread& thread = residents_.Of(AddBlock(0, 0));
  EXPECT_EQ(thread.NextName(5), (ObjectName{5, 0}));
  EXPECT_EQ(thread.NextName(5), (ObjectName{5, 1}));
  EXPECT_EQ(thread.NextName(6), (ObjectName{6, 0}));
}

}  // namespace
}  // namespace palladion::threads
