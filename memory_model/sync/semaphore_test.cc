#include "memory_model/sync/semaphore.h"

#include <gtest/gtest.h>

#include <vector>

#include "memory_model/concurrency_model.h"

namespace palladion::memory_model {
namespace {

Place Device(std::int32_t number) { return Place{}.With(PlaceLevel::kDevice, number); }

// Agents on two devices, one semaphore, and what the wait acquires of the signals.
class SemaphoreTest : public testing::Test {
 protected:
  bool Knows(AgentId waiter, AgentId signaller) const {
    return model_.agents().ClockOf(waiter)[ClockPart::kGeneric].TimeOf(signaller) > 0;
  }
  std::vector<FindingCode> Left() {
    model_.End({});
    std::vector<FindingCode> codes;
    for (const Finding& finding : model_.findings()) codes.push_back(finding.code);
    return codes;
  }

  ConcurrencyModel model_;
  AgentId here_ = model_.agents().Add("here", Device(0)), beside_ = model_.agents().Add("beside", Device(0));
  AgentId there_ = model_.agents().Add("there", Device(1));
  SemaphoreId semaphore_ = model_.MakeSemaphore({.name = "s"});
};

TEST_F(SemaphoreTest, AWaitLearnsFromSignalsOfAllDevices) {
  model_.Signal(there_, semaphore_, {});
  model_.Wait(here_, semaphore_, 1);
  EXPECT_TRUE(Knows(here_, there_));
}

TEST_F(SemaphoreTest, InTheScopeOfItsDeviceItTakesWhatOthersSignalAndLearnsNothing) {
  model_.Signal(there_, semaphore_, {});
  model_.Signal(beside_, semaphore_, {});
  model_.Wait(here_, semaphore_, 2, {.scope = MemoryScope::kDevice});
  EXPECT_FALSE(Knows(here_, there_));
  EXPECT_TRUE(Knows(here_, beside_));
  EXPECT_TRUE(Left().empty()) << "both credits are taken";
}

TEST_F(SemaphoreTest, WaitsWithoutDecrementLearnFromTheSameCredits) {
  model_.Signal(there_, semaphore_, {});
  model_.Signal(beside_, semaphore_, {});
  model_.Wait(here_, semaphore_, 2, {.decrement = false});
  EXPECT_TRUE(Knows(here_, there_) && Knows(here_, beside_));
  const AgentId late = model_.agents().Add("late", Device(0));
  model_.Wait(late, semaphore_, 1, {.decrement = false});
  EXPECT_TRUE(Knows(late, there_));
  EXPECT_FALSE(Knows(late, beside_)) << "the first credit is enough";
}

TEST_F(SemaphoreTest, AWaitThatNeedsAPartOfACreditLearnsFromIt) {
  model_.Signal(there_, semaphore_, {}, 2);
  model_.Signal(beside_, semaphore_, {}, 2);
  for (const std::int64_t value : {3, 4, 2, 1, 3}) {
    const AgentId late = model_.agents().Add("late", Device(0));
    model_.Wait(late, semaphore_, value, {.decrement = false});
    EXPECT_TRUE(Knows(late, there_)) << value;
    EXPECT_EQ(Knows(late, beside_), value > 2) << value;
  }
}

TEST_F(SemaphoreTest, CreditsThatAreTakenReleaseNothingAnyMore) {
  model_.Signal(there_, semaphore_, {});
  model_.Wait(here_, semaphore_, 1, {.decrement = false});
  model_.Wait(here_, semaphore_, 1);
  model_.Signal(beside_, semaphore_, {});
  const AgentId late = model_.agents().Add("late", Device(0));
  model_.Wait(late, semaphore_, 1, {.decrement = false});
  EXPECT_TRUE(Knows(late, beside_));
  EXPECT_FALSE(Knows(late, there_));
}

TEST_F(SemaphoreTest, WhatAWaitWithoutDecrementHasSeenIsNoLeak) {
  model_.Signal(there_, semaphore_, {}, 2);
  model_.Wait(here_, semaphore_, 2, {.decrement = false});
  EXPECT_TRUE(Left().empty());
}

TEST_F(SemaphoreTest, OneMoreThanItHasSeenIs) {
  model_.Signal(there_, semaphore_, {}, 3);
  model_.Wait(here_, semaphore_, 2, {.decrement = false});
  EXPECT_EQ(Left(), std::vector<FindingCode>{FindingCode::kSemaphoreLeak});
}

TEST_F(SemaphoreTest, ASignalAfterTheEndOfItsScopeIsLeftOver) {
  model_.End(semaphore_, {});
  model_.Signal(there_, semaphore_, {});
  EXPECT_EQ(Left(), std::vector<FindingCode>{FindingCode::kSemaphoreLeak});
}

}  // namespace
}  // namespace palladion::memory_model
