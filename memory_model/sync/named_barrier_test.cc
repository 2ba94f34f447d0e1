// Phases of named barriers: what each wait acquires, and arrivals that do not fit together.
#include "memory_model/sync/named_barrier.h"

#include <gtest/gtest.h>

#include <optional>

namespace palladion::memory_model {
namespace {

constexpr std::int64_t kThread = 128;
constexpr CodeSite Line(int line) { return {LocId{}, line}; }

class NamedBarrierTest : public testing::Test {
 protected:
  AgentId Thread(const std::string& name) { return agents_.Add(name, Place{}, AgentRole::kThread); }
  std::optional<Finding> Arrive(AgentId by, std::int64_t of, bool waits) {
    return barrier_.Arrive({.by = by, .lanes = kThread, .of = of, .waits = waits, .site = Line(++line_)}, &agents_);
  }
  bool Knows(AgentId who, AgentId whom, std::uint32_t time) const {
    return agents_.ClockOf(who)[ClockPart::kGeneric].TimeOf(whom) >= time;
  }

  AgentTable agents_{true};
  NamedBarrier barrier_{"named barrier 3"};
  int line_ = 0;
};

TEST_F(NamedBarrierTest, WhoWaitsKnowsWhatAllDidBefore) {
  const AgentId a = Thread("a"), b = Thread("b");
  const std::uint32_t before = agents_.NowOf(b);
  EXPECT_EQ(Arrive(a, 256, true), std::nullopt);
  EXPECT_FALSE(barrier_.CanWait(a));
  EXPECT_EQ(barrier_.Waiting(a, {}).has, "128");
  EXPECT_EQ(Arrive(b, 256, false), std::nullopt);
  ASSERT_TRUE(barrier_.CanWait(a));
  EXPECT_FALSE(Knows(a, b, before));
  barrier_.Wait(a, &agents_);
  EXPECT_TRUE(Knows(a, b, before));
  EXPECT_FALSE(Knows(b, a, 1)) << "b has not waited";
  EXPECT_EQ(barrier_.End(), std::nullopt);
}

TEST_F(NamedBarrierTest, AWaiterAcquiresItsOwnPhaseAlone) {
  const AgentId a = Thread("a"), b = Thread("b"), c = Thread("c"), d = Thread("d");
  const std::uint32_t first = agents_.NowOf(b), second = agents_.NowOf(c);
  EXPECT_EQ(Arrive(a, 256, true), std::nullopt);
  EXPECT_EQ(Arrive(b, 256, false), std::nullopt);
  EXPECT_EQ(Arrive(c, 256, false), std::nullopt);  // another phase, which a is not of
  EXPECT_EQ(Arrive(d, 256, true), std::nullopt);
  barrier_.Wait(a, &agents_);
  EXPECT_TRUE(Knows(a, b, first));
  EXPECT_FALSE(Knows(a, c, second));
  barrier_.Wait(d, &agents_);
  EXPECT_TRUE(Knows(d, c, second));
  EXPECT_FALSE(Knows(d, b, first));
}

TEST_F(NamedBarrierTest, LanesThatHaveEndedAreNotWaitedFor) {
  const AgentId a = Thread("a"), b = Thread("b"), warp_of_b = Thread("warp of b"), c = Thread("c");
  const auto arrive = [&](AgentId by, AgentId thread, std::int64_t lanes) {
    return barrier_.Arrive(
        {.by = by, .thread = thread, .lanes = lanes, .of = 3 * kThread, .waits = true, .site = Line(++line_)},
        &agents_);
  };
  EXPECT_EQ(arrive(warp_of_b, b, 32), std::nullopt);
  EXPECT_EQ(arrive(a, a, kThread), std::nullopt);
  barrier_.Leave(b, kThread);
  EXPECT_EQ(barrier_.Waiting(a, {}).has, "256") << "b's lanes count once";
  EXPECT_FALSE(barrier_.CanWait(a));
  EXPECT_EQ(arrive(c, c, kThread), std::nullopt);
  ASSERT_TRUE(barrier_.CanWait(a));
  barrier_.Wait(a, &agents_);
  EXPECT_FALSE(Knows(a, b, agents_.NowOf(b))) << "an end tells nothing";

  EXPECT_EQ(arrive(a, a, kThread), std::nullopt);  // the next phase: b is still gone
  EXPECT_FALSE(barrier_.CanWait(a));
  barrier_.Leave(c, kThread);
  EXPECT_TRUE(barrier_.CanWait(a));
  EXPECT_EQ(barrier_.End(), std::nullopt);
}

TEST_F(NamedBarrierTest, ArrivalsThatDoNotFitTogether) {
  const AgentId a = Thread("a"), b = Thread("b");
  EXPECT_EQ(Arrive(a, 384, false), std::nullopt);
  const std::optional<Finding> other = Arrive(b, 256, false);
  ASSERT_TRUE(other.has_value());
  EXPECT_EQ(other->code, FindingCode::kCollectiveMismatch);
  EXPECT_EQ(other->message, "b arrives at named barrier 3 for 256 lanes, where a arrived for 384");
  const std::optional<Finding> again = Arrive(a, 384, false);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->message,
            "a arrives at named barrier 3 a second time before the first phase is over: 256 of 384 lanes have arrived");
  EXPECT_EQ(barrier_.End(), std::nullopt) << "that was the third arrival";
  EXPECT_EQ(Arrive(a, 64, false)->message, "128 lanes have arrived at named barrier 3, which is for 64");
  EXPECT_EQ(Arrive(a, 256, false), std::nullopt);
  ASSERT_TRUE(barrier_.End().has_value());
  EXPECT_EQ(barrier_.End()->code, FindingCode::kBarrierPending);
  EXPECT_EQ(barrier_.End()->message, "named barrier 3 ends with 128 of 256 lanes arrived");
}

}  // namespace
}  // namespace palladion::memory_model
