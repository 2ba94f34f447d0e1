#include "semantics/base/agent_name.h"

#include <gtest/gtest.h>

namespace palladion {
namespace {

constexpr AgentNaming kBlocks{.blocks = true}, kOneThread{.blocks = true, .thread_index = true},
    kThreads{.blocks = true, .thread_index = true, .many_threads = true};

TEST(AgentNameTest, NamesWhatTheGridCounts) {
  EXPECT_EQ("program (3, 0)", AgentName({3, 0}));
  EXPECT_EQ("block (2)", AgentName(kBlocks, {2}));
  EXPECT_EQ("thread 1 of block (2)", AgentName(kThreads, {2, 1}));
  EXPECT_EQ("block (2)", AgentName(kOneThread, {2, 0}));
}

TEST(AgentNameTest, HasNoEmptyBrackets) {
  EXPECT_EQ("the program", AgentName({}));
  EXPECT_EQ("the block", AgentName(kBlocks, {}));
  EXPECT_EQ("the block", AgentName(kOneThread, {0}));
  EXPECT_EQ("thread 1", AgentName(kThreads, {1}));
}

TEST(AgentNameTest, SaysWhereOnlyWhenThereAreSeveral) {
  EXPECT_EQ("", AtAgent({}, {}));
  EXPECT_EQ("", AtAgent(kOneThread, {0}));
  EXPECT_EQ(" at thread 0", AtAgent(kThreads, {0}));
  EXPECT_EQ(" at program (3)", AtAgent({}, {3}));
}

}  // namespace
}  // namespace palladion
