#include "emu/run/threads/begin_order.h"

#include <gtest/gtest.h>

namespace palladion::threads {
namespace {

TEST(BeginOrder, ClustersOfOneDeviceBeginInOrderAsFarAsThereIsRoom) {
  BeginOrder order({.programs = 6, .of_cluster = 2, .at_once = 2});
  for (std::int64_t program = 0; program < 4; ++program) {
    ASSERT_TRUE(order.Ready());
    ASSERT_EQ(order.Next(), program);
    order.Begin(program + 1);
  }
  EXPECT_FALSE(order.Ready());
  EXPECT_FALSE(order.AllHaveBegun());
  EXPECT_EQ(order.Next(), 4) << "the first that waits";
  order.ClusterEnds(1);
  ASSERT_TRUE(order.Ready());
  order.Begin(5);
  EXPECT_TRUE(order.Ready()) << "a cluster that has begun goes on";
  order.Begin(6);
  EXPECT_TRUE(order.AllHaveBegun());
  EXPECT_TRUE(order.Ready()) << "none waits";
}

TEST(BeginOrder, ADeviceThatIsFullKeepsNoOtherFromGoingOn) {
  BeginOrder order({.programs = 8, .devices = 2, .at_once = 1});
  EXPECT_EQ(order.Next(), 0);
  order.Begin(1);
  EXPECT_EQ(order.Next(), 4) << "the first of the other device";
  order.Begin(5);
  EXPECT_FALSE(order.Ready());
  order.ClusterEnds(4);
  ASSERT_TRUE(order.Ready());
  EXPECT_EQ(order.Next(), 5);
  order.ClusterEnds(0);
  EXPECT_EQ(order.Next(), 1);
}

TEST(BeginOrder, AnAgentMayBeSeveralPrograms) {
  BeginOrder order({.programs = 6, .devices = 2, .at_once = 9});
  order.Begin(3);
  EXPECT_EQ(order.Next(), 3);
  order.Begin(6);
  EXPECT_TRUE(order.AllHaveBegun());
}

TEST(BeginOrder, NoProgramsAreNone) { EXPECT_TRUE(BeginOrder({.programs = 0, .devices = 3}).AllHaveBegun()); }

}  // namespace
}  // namespace palladion::threads
