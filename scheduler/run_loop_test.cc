// Which agent runs when, which one has to wait, and what is reported when none can run.
#include "scheduler/run_loop.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "scheduler/policies/policies.h"
#include "scheduler/policies/portfolio.h"
#include "scheduler/scenario_test_util.h"

namespace palladion::scheduler::test {
namespace {

// `agents` agents of `operations` operations each, which log their operations.
class Writers final : public Scenario {
 public:
  Writers(int agents, int operations) {
    for (int a = 0; a < agents; ++a) {
      Add([this, a, operations](AgentContext& me) {
        for (int i = 0; i < operations; ++i) {
          me.Go({.footprint = Footprint::Writes(0)});
          log += static_cast<char>('a' + a);
        }
      });
    }
  }
  std::string log;
};

TEST(RunLoop, ProgramOrderRunsOneAfterAnother) {
  Writers writers(3, 2);
  const LoopResult result = RunWith(writers, MakeProgramOrder());
  EXPECT_EQ(writers.log, "aabbcc");
  EXPECT_EQ(result.outcome, Outcome::kFinished);
  EXPECT_EQ(result.steps, 6);
  EXPECT_EQ(result.switches, 2);
  EXPECT_EQ(result.agents, 3);
  EXPECT_TRUE(result.moves.empty());
  EXPECT_EQ(result.operations, (std::vector<std::int64_t>{2, 2, 2}));
}

TEST(RunLoop, ReverseStartsWithTheLast) {
  Writers writers(3, 2);
  const LoopResult result = RunWith(writers, MakeReverse());
  EXPECT_EQ(writers.log, "ccbbaa");
  EXPECT_EQ(result.moves.size(), 2u);  // the last of two that are left is not chosen
}

TEST(RunLoop, NoMoreAgentsThanMayBeResident) {
  Writers writers(4, 2);
  RunWith(writers, MakeReverse(), {.resident = 2});
  EXPECT_EQ(writers.log, "bbccddaa");
}

TEST(RunLoop, ASourceWithoutAgentsIsDoneAtOnce) {
  Writers writers(0, 0);
  EXPECT_EQ(RunWith(writers, MakeProgramOrder()).steps, 0);
}

TEST(RunLoop, AgentsWithoutVisibleOperationsAreDoneToo) {
  Writers writers(3, 0);
  const LoopResult result = RunWith(writers, MakeRandomWalk(1), {.resident = 1});
  EXPECT_EQ(result.agents, 3);
  EXPECT_EQ(result.outcome, Outcome::kFinished);
}

TEST(RunLoop, TheBudgetEndsARun) {
  Writers writers(2, 100);
  const LoopResult result = RunWith(writers, MakeRandomWalk(1), {.budget = 50});
  EXPECT_EQ(result.outcome, Outcome::kBudget);
  EXPECT_EQ(result.steps, 50);
  EXPECT_EQ(writers.log.size(), 50u);
}

TEST(RunLoop, AnAgentThatEndsBeginsTheBudgetAnew) {
  Writers writers(10, 40);
  const LoopResult result = RunWith(writers, MakeProgramOrder(), {.budget = 50});
  EXPECT_EQ(result.outcome, Outcome::kFinished);
  EXPECT_EQ(result.steps, 400);
  EXPECT_EQ(result.work, 400);
}

TEST(RunLoop, AnInterruptedRunSaysSo) {
  std::atomic<std::int64_t> interrupts = 0;
  RunControl control(interrupts);
  interrupts = 1;
  Writers writers(2, 100);
  const std::unique_ptr<Policy> policy = MakeProgramOrder();
  const absl::StatusOr<LoopResult> result = RunLoop(writers, {.control = &control}).Run(*policy);
  EXPECT_TRUE(IsInterrupted(result.status())) << result.status();
}

class PingPong final : public Scenario {
 public:
  explicit PingPong(int rounds) {
    Add([this, rounds](AgentContext& me) {
      for (int i = 0; i < rounds; ++i) ping.Signal(me), pong.Wait(me), log += 'a';
    });
    Add([this, rounds](AgentContext& me) {
      for (int i = 0; i < rounds; ++i) ping.Wait(me), log += 'b', pong.Signal(me);
    });
  }
  ~PingPong() override { StopAgents(); }
  Semaphore ping{0, "ping", 0}, pong{1, "pong", 0};
  std::string log;
};

TEST(RunLoop, WaitersWakeWhenTheirConditionHolds) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    PingPong game(5);
    EXPECT_EQ(RunWith(game, MakeRandomWalk(seed)).outcome, Outcome::kFinished);
    EXPECT_EQ(game.log, "bababababa");
  }
}

// One credit, two agents that wait for it: the one that does not get it must wait again.
class OneCredit final : public Scenario {
 public:
  OneCredit() {
    for (int i = 0; i < 2; ++i) Add([this](AgentContext& me) { credit.Wait(me), ++taken; });
    Add([this](AgentContext& me) { credit.Signal(me); });
  }
  ~OneCredit() override { StopAgents(); }
  Semaphore credit{0, "credit", 0, {2}};
  int taken = 0;
};

TEST(RunLoop, ACreditIsTakenOnce) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    OneCredit credit;
    const LoopResult result = RunWith(credit, MakeRandomWalk(seed));
    EXPECT_EQ(result.outcome, Outcome::kDeadlock);
    EXPECT_EQ(credit.taken, 1);
    ASSERT_EQ(result.deadlock.waits.size(), 1u);
    EXPECT_EQ(result.deadlock.orphans.size(), 1u);
    EXPECT_NE(Describe(result.deadlock)
                  .find("waits for semaphore 'credit' to hold 1 (it holds 0), which no agent that "
                        "is left can signal (done without it: agent 2)"),
              std::string::npos)
        << Describe(result.deadlock);
  }
}

// Two that take two locks in opposite orders, and one that takes no lock.
class AbBa final : public Scenario {
 public:
  explicit AbBa(int others_work = 0, bool forever = false) {
    Add([this](AgentContext& me) { a.Wait(me), b.Wait(me), b.Signal(me), a.Signal(me); });
    Add([this](AgentContext& me) { b.Wait(me), a.Wait(me), a.Signal(me), b.Signal(me); });
    if (others_work > 0 || forever)
      Add([others_work, forever](AgentContext& me) {
        do Work(me, 7, others_work);
        while (forever);
      });
  }
  ~AbBa() override { StopAgents(); }
  Semaphore a{0, "a", 1, {0, 1}}, b{1, "b", 1, {0, 1}};
};

LoopResult AlternatingAbBa(AbBa& locks, const LoopOptions& options = {}) {
  return RunWith(locks, std::make_unique<ReplayPolicy>(std::vector<Move>{{AgentOrdinal{0}, 1, AgentOrdinal{1}}}),
                 options);
}

TEST(RunLoop, ADeadlockNamesItsCycle) {
  AbBa locks;
  const LoopResult result = AlternatingAbBa(locks);
  ASSERT_EQ(result.outcome, Outcome::kDeadlock);
  EXPECT_FALSE(result.deadlock.partial);
  EXPECT_EQ(result.deadlock.cycle, (std::vector<AgentOrdinal>{AgentOrdinal{0}, AgentOrdinal{1}}));
  EXPECT_TRUE(result.deadlock.orphans.empty());
  EXPECT_EQ(Describe(result.deadlock),
            "agent 0 waits for semaphore 'b' to hold 1 (it holds 0); agent 1 waits for semaphore 'a' to hold 1 (it "
            "holds 0); each can only be woken by the next, and the last by the first");
}

TEST(RunLoop, APartialDeadlockIsSeenWhileOthersGoOn) {
  AbBa locks(100, true);
  const LoopResult result = AlternatingAbBa(locks);
  ASSERT_EQ(result.outcome, Outcome::kDeadlock);
  EXPECT_TRUE(result.deadlock.partial);
  EXPECT_EQ(result.deadlock.waits.size(), 2u);
  EXPECT_LT(result.steps, 20000);
}

class LongWait final : public Scenario {
 public:
  LongWait() {
    Add([this](AgentContext& me) { done.Wait(me); });
    Add([this](AgentContext& me) { Work(me, 7, 20000), done.Signal(me); });
  }
  ~LongWait() override { StopAgents(); }
  Semaphore done{0, "done", 0, {1}};
};

TEST(RunLoop, WhoWaitsForAWorkerIsNotStuck) {
  LongWait wait;
  EXPECT_EQ(RunWith(wait, MakeProgramOrder()).outcome, Outcome::kFinished);
}

TEST(RunLoop, ADeadlockIsReportedWhenTheOthersAreDone) {
  AbBa locks(10);
  const LoopResult result = AlternatingAbBa(locks);
  ASSERT_EQ(result.outcome, Outcome::kDeadlock);
  EXPECT_EQ(result.steps, 12);
}

// A wait with a known agent that has to act: a cycle is only among those.
class Held final : public Scenario {
 public:
  class By final : public Condition {
   public:
    explicit By(AgentOrdinal holder) : holder_(holder) {}
    bool Ready() const override { return false; }
    std::string Describe() const override { return "a word to change"; }
    bool MaySignal(AgentOrdinal) const override { return true; }
    std::optional<AgentOrdinal> Holder() const override { return holder_; }

   private:
    AgentOrdinal holder_;
  };
  explicit Held(const std::vector<std::int32_t>& holders) {
    for (const std::int32_t holder : holders) {
      Add([holder](AgentContext& me) {
        const By condition(AgentOrdinal{holder});
        me.Go({.footprint = Footprint::Reads(0), .waits_for = &condition});
      });
    }
  }
  ~Held() override { StopAgents(); }
};

TEST(RunLoop, ACycleIsOfThoseWhoHoldWhatOthersWaitFor) {
  Held held({2, 0, 3, 2});
  const Deadlock deadlock = RunWith(held, MakeProgramOrder()).deadlock;
  EXPECT_EQ(deadlock.cycle, (std::vector<AgentOrdinal>{AgentOrdinal{2}, AgentOrdinal{3}}));
  EXPECT_EQ(deadlock.waits.size(), 4u);
  EXPECT_TRUE(deadlock.orphans.empty());
  EXPECT_EQ(FirstToReport(deadlock).agent, AgentOrdinal{2});
}

TEST(RunLoop, WhatNoAgentHoldsIsNoCycle) {
  Held held({-1, 0, 1});
  const Deadlock deadlock = RunWith(held, MakeProgramOrder()).deadlock;
  EXPECT_TRUE(deadlock.cycle.empty());
  EXPECT_EQ(deadlock.orphans, (std::vector<AgentOrdinal>{AgentOrdinal{0}}));
  EXPECT_EQ(Describe(deadlock), "agent 0 waits for a word to change; 3 are stuck in all");
}

TEST(RunLoop, WhoWaitsForItselfIsACycleOfOne) {
  Held held({0});
  EXPECT_EQ(Describe(RunWith(held, MakeProgramOrder()).deadlock),
            "agent 0 waits for a word to change; no other agent can go on to change that");
}

// A spin lock: an agent that spins must not keep the holder from going on, under any policy.
class SpinLock final : public Scenario {
 public:
  explicit SpinLock(int agents) {
    for (int i = 0; i < agents; ++i) {
      Add([this](AgentContext& me) {
        while (!lock.CompareAndSwap(me, 0, 1)) continue;
        const std::int64_t value = counter.Read(me);
        counter.Write(me, value + 1);
        lock.Write(me, 0);
      });
    }
  }
  Cell lock{0}, counter{1};
};

TEST(RunLoop, NoPolicyLetsASpinLoopStarveTheHolder) {
  using Make = std::function<std::unique_ptr<Policy>()>;
  const std::vector<Make> policies = {
      [] { return MakeProgramOrder(); },
      [] { return MakeReverse(); },
      [] { return MakeSticky(3, 0); },
      [] { return MakePct(3, 3, 20); },
      [] { return MakePos(3); },
      [] {
        return MakeUrw(3, {.steps = 20, .operations = {4, 4, 4, 4, 4}});
      },
      [] { return MakeStarveOne(3); },
      [] { return MakeEnginesLate(MakeSticky(3, 0)); },
      // The first takes the lock, and then the others spin.
      [] {
        return std::make_unique<ReplayPolicy>(std::vector<Move>{{AgentOrdinal{0}, 1, AgentOrdinal{1}}});
      },
      [] {
        return std::make_unique<ReplayPolicy>(std::vector<Move>{{AgentOrdinal{0}, 1, AgentOrdinal{3}}});
      },
  };
  for (std::size_t i = 0; i < policies.size(); ++i) {
    SpinLock spin(5);
    const LoopResult result = RunWith(spin, policies[i](), {.budget = 100000});
    EXPECT_EQ(result.outcome, Outcome::kFinished) << "policy " << i;
    EXPECT_EQ(spin.counter.value(), 5) << "policy " << i;
  }
}

// Every attempt to take the lock conflicts with the other attempts. A policy that redraws after a conflict must not
// forget the holder, whose next operation conflicts with none of them.
TEST(RunLoop, NoSeedLetsSpinningAgentsStarveTheHolder) {
  for (const PolicyRow& row : AllPolicies()) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      SpinLock spin(5);
      const LoopResult result =
          RunWith(spin, MakePolicy(row.kind, seed, {.steps = 20, .operations = {4, 4, 4, 4, 4}, .work = 20}),
                  {.budget = std::int64_t{1} << 21});
      ASSERT_EQ(result.outcome, Outcome::kFinished) << row.name << " " << seed;
    }
  }
}

class WrongFootprint final : public Scenario {
 public:
  WrongFootprint() {
    Add([this](AgentContext& me) {
      const Semaphore::AtLeast condition(semaphore, 1);
      me.Go({.footprint = Footprint::Writes(99), .waits_for = &condition});
    });
    Add([this](AgentContext& me) { semaphore.Signal(me); });
  }
  ~WrongFootprint() override { StopAgents(); }
  Semaphore semaphore{0, "s", 0};
};

TEST(RunLoop, AConditionOutsideItsFootprintIsAnError) {
  WrongFootprint wrong;
  const std::unique_ptr<Policy> policy = MakeProgramOrder();
  EXPECT_EQ(RunLoop(wrong).Run(*policy).status().code(), absl::StatusCode::kInternal);
}

class Failing final : public Scenario {
 public:
  Failing() {
    Add([](AgentContext& me) {
      me.Go({});
      throw std::runtime_error("the body's own");
    });
  }
};

TEST(CoroutineAgent, WhatABodyThrowsReachesTheCaller) {
  Failing failing;
  const std::unique_ptr<Policy> policy = MakeProgramOrder();
  EXPECT_THROW((void)RunLoop(failing).Run(*policy), std::runtime_error);
}

// An engine that is started by an agent, as a copy is.
class Copy final : public Scenario {
 public:
  explicit Copy(bool waits) {
    Add([this, waits](AgentContext& me) {
      me.Go({.footprint = Footprint::Writes(0)});
      auto engine = [this](AgentContext& self) {
        destination.Write(self, source.value());
        done.Signal(self);
      };
      me.Spawn(std::make_shared<CoroutineAgent>("copy", engine, AgentRole::kOperation),
               {.footprint = Footprint::Writes(1)});
      if (waits) done.Wait(me);
      seen = destination.Read(me);
    });
  }
  ~Copy() override { StopAgents(); }
  Cell source{3, 42}, destination{1};
  Semaphore done{2, "done", 0, {1}};
  std::int64_t seen = -1;
};

TEST(Engines, LateOnesShowAMissingWaitAndPromptOnesDoNot) {
  Copy prompt(false), late(false), correct(true);
  RunWith(prompt, MakeProgramOrder());
  EXPECT_EQ(prompt.seen, 42);
  RunWith(late, MakeEnginesLate(MakeSticky(1, 0)));
  EXPECT_EQ(late.seen, 0);
  const LoopResult result = RunWith(correct, MakeEnginesLate(MakeSticky(1, 0)));
  EXPECT_EQ(correct.seen, 42);
  EXPECT_EQ(result.agents, 2);
}

}  // namespace
}  // namespace palladion::scheduler::test
