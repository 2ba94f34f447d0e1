#include "memory_model/sync/credit_layers.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "memory_model/concurrency_model.h"

namespace palladion::memory_model {
namespace {

// Three agents, and two semaphores.
class CreditLayersTest : public testing::Test {
 protected:
  AgentId Agent(const char* name) { return model_.agents().Add(name, Place{}.With(PlaceLevel::kDevice, 0)); }
  void Signal(AgentId agent, SemaphoreId semaphore, std::int64_t amount = 1) {
    model_.Signal(agent, semaphore, {}, amount);
  }
  void Wait(AgentId agent, SemaphoreId semaphore, std::int64_t amount = 1) {
    ASSERT_TRUE(model_.CanWait(semaphore, amount));
    model_.Wait(agent, semaphore, amount);
  }
  void Look(AgentId agent, SemaphoreId semaphore, std::int64_t amount = 1) {
    model_.Wait(agent, semaphore, amount, {.decrement = false});
  }
  bool Race() const { return !model_.RacingWait().empty(); }

  ConcurrencyModel model_;
  AgentId a_ = Agent("a"), b_ = Agent("b"), c_ = Agent("c");
  SemaphoreId s_ = model_.MakeSemaphore({.name = "s"}), t_ = model_.MakeSemaphore({.name = "t"});
  SemaphoreId u_ = model_.MakeSemaphore({.name = "u"});
};

TEST_F(CreditLayersTest, AllThatCanComeIsTaken) {
  Signal(a_, s_);
  Signal(b_, s_);
  Wait(c_, s_, 2);
  EXPECT_FALSE(Race());
}

TEST_F(CreditLayersTest, OneOfTwoMayBeEither) {
  Signal(a_, s_);
  Signal(b_, s_);
  Wait(c_, s_);
  EXPECT_TRUE(Race());
  EXPECT_EQ("s", model_.RacingWait());
}

TEST_F(CreditLayersTest, ALaterSignalThatKnowsNothingMayHaveComeFirst) {
  Signal(a_, s_);
  Wait(c_, s_);
  EXPECT_FALSE(Race());
  Signal(b_, s_);
  EXPECT_TRUE(Race());
}

// It goes whether the semaphore has had its other credits or not, and no wait shows which.
TEST_F(CreditLayersTest, ASignalOfNothingIsNotJudged) {
  Signal(a_, s_);
  Wait(c_, s_);
  EXPECT_FALSE(Race());
  Signal(b_, s_, 0);
  EXPECT_TRUE(Race());
}

TEST_F(CreditLayersTest, OneThatKnowsOfTheFirstMayNot) {
  Signal(a_, s_);
  Signal(a_, t_);
  Wait(b_, t_);
  Signal(b_, s_);
  Wait(c_, s_);
  Signal(c_, u_);
  Wait(c_, s_);
  EXPECT_FALSE(Race());
}

TEST_F(CreditLayersTest, WaitsWithNothingBetweenAreOne) {
  Signal(a_, s_);
  Signal(b_, s_);
  Wait(c_, s_);
  Wait(c_, s_);
  EXPECT_FALSE(Race());
}

TEST_F(CreditLayersTest, WaitsForOthersBetweenAreNothing) {
  Signal(a_, s_);
  Signal(b_, s_);
  Signal(b_, t_);
  Wait(c_, s_);
  Wait(c_, t_);
  Wait(c_, s_);
  EXPECT_FALSE(Race());
}

TEST_F(CreditLayersTest, ASignalBetweenShowsWhichWasTaken) {
  Signal(a_, s_);
  Signal(b_, s_);
  Wait(c_, s_);
  Signal(c_, t_);
  Wait(c_, s_);
  EXPECT_TRUE(Race());
}

TEST_F(CreditLayersTest, AnAccessBetweenMayNeedWhatWasTaken) {
  model_.Adopt(BufferId{0}, {.name = "x", .shape = {1}});
  Signal(a_, s_);
  Signal(b_, s_);
  Wait(c_, s_);
  model_.Touch(c_, BufferId{0}, AccessKind::kRead, AccessSet::Of({ByteRange{0, 4}}), {});
  Wait(c_, s_);
  EXPECT_TRUE(Race());
}

TEST_F(CreditLayersTest, TheNextWaiterHasToKnowOfTheWaitBefore) {
  Signal(a_, s_, 2);
  Wait(b_, s_);
  Wait(c_, s_);
  EXPECT_TRUE(Race());
}

TEST_F(CreditLayersTest, FromBeforeItsOwnWait) {
  Signal(a_, s_);
  Wait(b_, s_);
  Signal(b_, s_);  // it alone orders c after b's wait, and comes only if b's wait went first
  Wait(c_, s_);
  EXPECT_TRUE(Race());
}

TEST_F(CreditLayersTest, SignalledBeforeItsWaitItFollows) {
  Signal(a_, s_, 2);
  Wait(b_, s_);
  Signal(b_, t_);
  Wait(c_, t_);
  Signal(c_, t_);
  Wait(c_, s_);
  EXPECT_FALSE(Race());
}

// c's first wait for s may take what another agent signals: then it knows nothing of b.
TEST_F(CreditLayersTest, ReleasesOfWaitsThatMayBeOneDoNotCount) {
  const AgentId d = Agent("d");
  Signal(a_, t_);
  Wait(b_, t_);
  Signal(b_, t_);
  Signal(b_, s_);
  Wait(c_, s_);
  Wait(c_, t_);
  Signal(d, s_);
  Wait(c_, s_);
  EXPECT_TRUE(Race());
}

TEST_F(CreditLayersTest, AGreatCreditMayStandForTheOthers) {
  Signal(a_, s_, 1);
  Signal(b_, s_, 3);
  Wait(c_, s_, 3);
  EXPECT_TRUE(Race());
}

TEST_F(CreditLayersTest, OneCreditMayServeTwoWaits) {
  Signal(a_, s_, 2);
  Wait(c_, s_);
  Signal(c_, t_);
  Wait(c_, s_);
  EXPECT_FALSE(Race());
}

TEST_F(CreditLayersTest, WhatIsLeftMustComeAfterAllThatWasTaken) {
  Signal(a_, s_, 2);
  Wait(c_, s_, 1);
  Signal(b_, s_);
  EXPECT_TRUE(Race());
}

TEST_F(CreditLayersTest, ManyMayLookAtTheSameCredits) {
  Signal(a_, s_);
  Signal(b_, s_);
  for (const AgentId agent : {a_, b_, c_}) Look(agent, s_, 2);
  Signal(a_, s_);
  Signal(b_, s_);
  for (const AgentId agent : {a_, b_, c_}) Look(agent, s_, 4);
  Look(c_, s_, 2);
  EXPECT_FALSE(Race());
  Look(c_, s_, 3);
  EXPECT_TRUE(Race());
}

TEST_F(CreditLayersTest, WhoLooksForLessMayComeLater) {
  Signal(a_, s_, 2);
  Signal(a_, s_, 1);
  Look(c_, s_, 3);
  Look(b_, s_, 2);
  Look(b_, s_, 1);
  EXPECT_FALSE(Race());
}

TEST_F(CreditLayersTest, ButNotForOneOfTwo) {
  Signal(a_, s_);
  Signal(b_, s_);
  Look(c_, s_, 2);
  EXPECT_FALSE(Race());
  Look(a_, s_, 1);
  EXPECT_TRUE(Race());
}

TEST_F(CreditLayersTest, AnArrivalOfTheNextPhaseMayStandForOneOfThis) {
  Signal(a_, s_);
  Signal(b_, s_);
  Look(a_, s_, 2);
  Signal(b_, s_);  // it has not looked
  EXPECT_TRUE(Race());
}

TEST_F(CreditLayersTest, LooksAndTakesOfOneSemaphoreAreNotJudged) {
  Signal(a_, s_);
  Look(b_, s_);
  Wait(b_, s_);
  EXPECT_TRUE(Race());
}

TEST_F(CreditLayersTest, ASemaphoreThatIsGoneIsRemembered) {
  Signal(a_, s_);
  Signal(b_, s_);
  Wait(c_, s_);
  Signal(c_, t_);
  Wait(c_, s_);
  model_.End(s_, {});
  model_.Retire(s_);
  EXPECT_TRUE(Race());
}

TEST_F(CreditLayersTest, NothingIsSaidWhereNothingIsJudged) {
  ConcurrencyModel plain;
  plain.TrackAccesses(false);
  const AgentId agent = plain.agents().Add("a", Place{});
  const SemaphoreId semaphore = plain.MakeSemaphore({.name = "s"});
  EXPECT_EQ("s", plain.RacingWait());
  plain.Signal(agent, semaphore, {});
  plain.Wait(agent, semaphore, 1);
  EXPECT_EQ("s", plain.RacingWait());
}

}  // namespace
}  // namespace palladion::memory_model
