#include "emu/run/threads/buffers_in_use.h"

#include <gtest/gtest.h>

namespace palladion::threads {
namespace {

constexpr BufferId kBuffer{3}, kOther{4};

TEST(BuffersInUse, UnusedBuffersAreFreedAtOnce) {
  BuffersInUse in_use;
  in_use.Add(kOther);
  EXPECT_TRUE(in_use.Free(kBuffer));
}

TEST(BuffersInUse, ABufferStaysUntilItsLastUserIsDone) {
  BuffersInUse in_use;
  in_use.Add(kBuffer);
  in_use.Add(kBuffer);
  EXPECT_FALSE(in_use.Free(kBuffer));
  EXPECT_FALSE(in_use.Remove(kBuffer));
  EXPECT_TRUE(in_use.Remove(kBuffer));
}

TEST(BuffersInUse, WhatIsNotToBeFreedIsKept) {
  BuffersInUse in_use;
  in_use.Add(kBuffer);
  EXPECT_FALSE(in_use.Remove(kBuffer));
  EXPECT_TRUE(in_use.Free(kBuffer));
}

// The memory gives a number again once its buffer has been freed.
TEST(BuffersInUse, ANumberThatIsGivenAgainBeginsAnew) {
  BuffersInUse in_use;
  in_use.Add(kBuffer);
  EXPECT_FALSE(in_use.Free(kBuffer));
  EXPECT_TRUE(in_use.Remove(kBuffer));
  in_use.Add(kBuffer);
  EXPECT_FALSE(in_use.Remove(kBuffer));
}

}  // namespace
}  // namespace palladion::threads
