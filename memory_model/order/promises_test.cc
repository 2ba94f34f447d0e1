#include "memory_model/order/promises.h"

#include <gtest/gtest.h>

namespace palladion::memory_model {
namespace {

constexpr AgentId kIssuer{0}, kOther{1}, kFirst{1 << 20}, kSecond{(1 << 20) + 1};
constexpr QueueId kQueue{0};

TEST(Promises, WhoKnowsOfTheWaitNeedsNone) {
  Promises promises;
  VectorClock before, after;
  before.Raise({kIssuer, 2});
  after.Raise({kIssuer, 3});
  promises.Make(kQueue, kFirst, {.loc = {}, .text_line = 7});
  EXPECT_TRUE(promises.Needs(kFirst, after)) << "there is no wait";
  EXPECT_FALSE(promises.Needs(kSecond, before)) << "it was not promised";
  EXPECT_EQ(7, promises.MadeAt(kFirst).text_line);
  promises.Keep(kQueue, 0, {kIssuer, 3});
  EXPECT_TRUE(promises.Needs(kFirst, before));
  EXPECT_FALSE(promises.Needs(kFirst, after));
}

TEST(Promises, AWaitLeavesTheNewest) {
  Promises promises;
  VectorClock clock;
  clock.Raise({kIssuer, 5});
  promises.Make(kQueue, kFirst, {});
  promises.Make(kQueue, kSecond, {});
  promises.Keep(kQueue, 1, {kIssuer, 4});
  EXPECT_FALSE(promises.Needs(kFirst, clock));
  EXPECT_TRUE(promises.Needs(kSecond, clock));
  promises.Keep(QueueId{1}, 0, {kOther, 1});
  EXPECT_TRUE(promises.Needs(kSecond, clock)) << "a wait for another queue";
}

TEST(Promises, WhatIsForgottenIsNoPromise) {
  Promises promises;
  promises.Make(kQueue, kFirst, {});
  promises.Forget({kFirst});
  EXPECT_TRUE(promises.empty());
  promises.Keep(kQueue, 0, {kIssuer, 1});
  EXPECT_FALSE(promises.Needs(kFirst, {}));
}

}  // namespace
}  // namespace palladion::memory_model
