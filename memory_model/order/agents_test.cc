// The table of agents, where there are clocks: what an agent is, where it is, its owner, and what is still known of
// it when it has ended.
#include "memory_model/order/agents.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "semantics/base/live_table.h"

namespace palladion::memory_model {
namespace {

Place Block(std::int32_t number) { return Place{}.With(PlaceLevel::kBlock, number); }

TEST(Agents, WhoAndWhere) {
  AgentTable agents;
  const AgentId before = agents.Add("the kernel before this one", {}, AgentRole::kLaunch);
  const AgentId thread = agents.Add("thread 1 of block (3)", Block(3).With(PlaceLevel::kThread, 1));
  const AgentId warp =
      agents.Spawn(thread, "warp 2 of thread 1", agents.PlaceOf(thread).With(PlaceLevel::kWarp, 2), {.text_line = 7});
  const AgentId copy = agents.AddOperation(warp, "copy", {.text_line = 8});
  EXPECT_EQ(agents.RoleOf(before), AgentRole::kLaunch);
  EXPECT_EQ(agents.RoleOf(thread), AgentRole::kThread);
  EXPECT_EQ(agents.RoleOf(warp), AgentRole::kWarp);
  EXPECT_EQ(agents.RoleOf(copy), AgentRole::kOperation);
  EXPECT_FALSE(agents.ParentOf(before).valid());
  EXPECT_FALSE(agents.ParentOf(thread).valid());
  EXPECT_EQ(agents.ParentOf(warp), thread);
  EXPECT_EQ(agents.ParentOf(copy), warp);
  EXPECT_EQ(Describe(agents.PlaceOf(thread)), "device 0, block 3, thread 1");
  EXPECT_EQ(Describe(agents.PlaceOf(copy)), "device 0, block 3, thread 1, warp 2") << "its issuer's";
  EXPECT_EQ(agents.NameOf(copy), "copy issued by warp 2 of thread 1");
  EXPECT_EQ(agents.OperationName(agents.AddOperation(thread, "wgmma", {}, 3)), "wgmma #3");
}

// Ids are given in the order in which agents begin, those of operations after all others.
TEST(Agents, IdsAreInOrderAndGivenOnce) {
  AgentTable agents;
  const AgentId first = agents.Add("a", {}), copy = agents.AddOperation(first, "copy", {}),
                second = agents.Add("b", {});
  EXPECT_EQ(first, AgentId{0});
  EXPECT_EQ(second, AgentId{1});
  EXPECT_TRUE(second < copy);
  agents.Retire(first);
  EXPECT_FALSE(agents.Lives(first));
  EXPECT_EQ(agents.Add("c", {}), AgentId{2}) << "not the id of one that has ended";
}

TEST(Agents, OneThatHasEndedIsKnownWhileAnAgentRemembersIt) {
  AgentTable agents;
  const AgentId thread = agents.Add("thread 0", Block(0)), other = agents.Add("thread 1", Block(0));
  agents.Retire(thread);
  EXPECT_EQ(agents.ended(), 1u);
  EXPECT_EQ(agents.NameOf(thread), "thread 0");
  const std::vector<AgentId> live = {thread};
  Remaining remaining(live), none({});
  agents.Sweep(remaining, 0);
  EXPECT_EQ(agents.NameOf(thread), "thread 0") << "a history still has it";
  EXPECT_EQ(agents.RoleOf(thread), AgentRole::kThread);
  agents.Sweep(none, 0);
  EXPECT_EQ(agents.ended(), 0u);
  EXPECT_TRUE(agents.Lives(other));
}

// Tables of several owners that share ids stay in step.
TEST(Agents, ATableCanPassOverAnId) {
  LiveTable<AgentId, std::string> names;
  names.Skip();
  EXPECT_EQ(names.live(), 0u);
  EXPECT_EQ(names.Next(), AgentId{1});
  names.Add("b");
  EXPECT_FALSE(names.Has(AgentId{0}));
  EXPECT_EQ(names[AgentId{1}], "b");
  EXPECT_EQ(names.given(), 2u);
}

}  // namespace
}  // namespace palladion::memory_model
