// Which bytes a block's allocations get, and which one a later one replaces.
#include "emu/run/threads/shared_stack.h"

#include <gtest/gtest.h>

#include <vector>

namespace palladion::threads {
namespace {

using Buffers = std::vector<BufferId>;

constexpr ObjectName kFirst{1, 0}, kSecond{2, 0}, kThird{3, 0};

SharedBuffer Of(std::int32_t buffer, std::int64_t offset, std::int64_t bytes) {
  return {.buffer = {buffer}, .offset = ByteCount(offset), .bytes = ByteCount(bytes), .users = 1, .reached = true};
}

TEST(SharedStack, ALaterAllocationComesAfterTheOthersAligned) {
  SharedStack stack;
  EXPECT_EQ(stack.Top().value(), 0);
  stack.Place(kFirst, Of(1, 0, 100));
  EXPECT_EQ(stack.Top().value(), 1024);
  const SharedStack::Replaced replaced = stack.Place(kSecond, Of(2, 1024, 1024));
  EXPECT_TRUE(replaced.freed.empty());
  EXPECT_TRUE(replaced.gone.empty());
  EXPECT_EQ(stack.Top().value(), 2048);
}

TEST(SharedStack, WhatOnlyAPeerHasReachedIsNoFloor) {
  SharedStack stack;
  SharedBuffer early = Of(1, 4096, 100);
  early.reached = false;
  stack.Place(kFirst, early);
  EXPECT_EQ(stack.Top().value(), 0);
}

TEST(SharedStack, BytesOfAScopeThatIsOverAreGivenAgain) {
  SharedStack stack;
  stack.Place(kFirst, Of(1, 0, 1025));
  stack.Leave(kFirst);
  EXPECT_EQ(stack.Find(kFirst), nullptr);
  EXPECT_EQ(stack.Top().value(), 0);
  const SharedStack::Replaced replaced = stack.Place(kSecond, Of(2, 1024, 8));  // one byte of it
  EXPECT_EQ(replaced.freed, (Buffers{{1}}));
  EXPECT_EQ(replaced.gone, (Buffers{{1}}));
  EXPECT_TRUE(stack.Place(kThird, Of(3, 0, 8)).freed.empty()) << "nothing of it is left";
}

TEST(SharedStack, NeighboursDoNotOverlap) {
  SharedStack stack;
  stack.Place(kFirst, Of(1, 0, 1024));
  stack.Leave(kFirst);
  EXPECT_TRUE(stack.Place(kSecond, Of(2, 1024, 1024)).gone.empty());
}

TEST(SharedStack, AScopeIsOverWhenAllHaveLeftIt) {
  SharedStack stack;
  SharedBuffer shared = Of(1, 0, 8);
  shared.users = 2;
  stack.Place(kFirst, shared);
  stack.Leave(kFirst);
  EXPECT_NE(stack.Find(kFirst), nullptr);
  stack.Leave(kFirst);
  EXPECT_EQ(stack.Find(kFirst), nullptr);
}

// A peer has reached for memory of a later scope before the block has left the one that has the bytes now.
TEST(SharedStack, BytesOfAScopeThatGoesOnAreFreedOnceAndStayItsOwn) {
  SharedStack stack;
  stack.Place(kFirst, Of(1, 0, 8));
  const SharedStack::Replaced replaced = stack.Place(kSecond, Of(2, 0, 8));
  EXPECT_EQ(replaced.freed, (Buffers{{1}}));
  EXPECT_TRUE(replaced.gone.empty());
  ASSERT_NE(stack.Find(kFirst), nullptr);
  stack.Leave(kFirst);
  const SharedStack::Replaced third = stack.Place(kThird, Of(3, 0, 8));
  EXPECT_EQ(third.freed, (Buffers{{2}})) << "1 has been freed before";
  EXPECT_EQ(third.gone, (Buffers{{1}}));
}

TEST(SharedStack, AtTheEndAllThatIsLeftIsReported) {
  SharedStack stack;
  stack.Place(kFirst, Of(1, 0, 8));
  stack.Place(kSecond, Of(2, 1024, 8));
  stack.Leave(kFirst);
  Buffers left;
  for (const SharedBuffer& shared : stack.End()) left.push_back(shared.buffer);
  EXPECT_EQ(left, (Buffers{{1}, {2}}));
  EXPECT_TRUE(stack.End().empty());
  EXPECT_EQ(stack.Find(kSecond), nullptr);
}

}  // namespace
}  // namespace palladion::threads
