// Times of toy agents, each by hand: what they spend, what they wait for, what they share, and that time changes
// only which agent goes next.
#include "scheduler/virtual_clock.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "scheduler/policies/policies.h"
#include "scheduler/scenario_test_util.h"

namespace palladion::scheduler::test {
namespace {

// A scenario with a clock, and a log of operations with their times.
class TimedScenario : public Scenario {
 public:
  ~TimedScenario() override { StopAgents(); }
  LoopResult Run(std::size_t resident = 1024) {
    const std::unique_ptr<Policy> policy = MakeTimed(clock);
    absl::StatusOr<LoopResult> result = RunLoop(*this, {.resident = resident, .clock = &clock}).Run(*policy);
    EXPECT_TRUE(result.ok()) << result.status();
    return *result;
  }
  void Note(std::string_view what) { Append(&log, what, "@", clock.operation_began().value, " "); }
  VirtualClock clock;
  std::string log;
};

class TwoSpeeds final : public TimedScenario {
 public:
  TwoSpeeds() {
    for (const std::int64_t pace : {5, 3}) {
      Add([this, pace](AgentContext& me) {
        for (int i = 0; i < 3; ++i) {
          me.Go({.footprint = Footprint::Writes(0)});
          Note(pace == 5 ? "slow" : "fast");
          clock.Spend({pace});
        }
      });
    }
  }
};

TEST(VirtualClock, TheEarliestAgentGoesNext) {
  TwoSpeeds scenario;
  scenario.Run();
  EXPECT_EQ(scenario.log, "slow@0 fast@0 fast@3 slow@5 fast@6 slow@10 ");
  EXPECT_EQ(scenario.clock.end(), Ticks{15});
}

TEST(VirtualClock, ItsMovesReplayWithoutAClock) {
  TwoSpeeds timed, replayed;
  const LoopResult result = timed.Run();
  ReplayPolicy policy(result.moves);
  absl::StatusOr<LoopResult> again = RunLoop(replayed, {.clock = &replayed.clock}).Run(policy);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(policy.not_made(), 0u);
  EXPECT_EQ(replayed.log, timed.log);
  EXPECT_EQ(again->moves, result.moves);
}

// One fills, in 10 ticks, what the other waits for and uses in 4.
class ProducerAndConsumer final : public TimedScenario {
 public:
  ProducerAndConsumer() {
    Add([this](AgentContext& me) {
      for (int i = 0; i < 3; ++i) {
        clock.Spend({10});
        full.Signal(me);
        clock.Spend({1});
      }
    });
    Add([this](AgentContext& me) {
      for (int i = 0; i < 3; ++i) {
        full.Wait(me);
        Note(Cat("waited ", clock.waited().value));
        clock.Spend({4});
      }
    });
  }
  Semaphore full{0, "full", 0, {0}};
};

TEST(VirtualClock, AWaitEndsWhenItsSignalIsGiven) {
  ProducerAndConsumer scenario;
  scenario.Run();
  EXPECT_EQ(scenario.log, "waited 10@10 waited 7@21 waited 7@32 ");
  EXPECT_EQ(scenario.clock.end(), Ticks{36});
}

class LateConsumer final : public TimedScenario {
 public:
  LateConsumer() {
    Add([this](AgentContext& me) { full.Signal(me); });
    Add([this](AgentContext& me) {
      clock.Spend({50});
      full.Wait(me);
      Note(Cat("waited ", clock.waited().value));
    });
  }
  Semaphore full{0, "full", 0, {0}};
};

TEST(VirtualClock, WhatIsThereAlreadyIsNotWaitedFor) {
  LateConsumer scenario;
  scenario.Run();
  EXPECT_EQ(scenario.log, "waited 0@50 ");
}

// The same wait, by an agent that names its operation.
class NamedSignal final : public TimedScenario {
 public:
  explicit NamedSignal(std::int64_t asks_at = 0) {
    Add([this](AgentContext& me) {
      clock.Spend({10});
      me.Go({});
      full.Signal(me);
      clock.CallRunning(7);
    });
    Add([this, asks_at](AgentContext& me) {
      clock.Spend({asks_at});
      full.Wait(me);
      Note(Cat("by ", clock.ended_by(), " after ", clock.TakeWaited().value));
      Note(Cat("then ", clock.TakeWaited().value));
      me.Go({});
      Note(Cat("by ", clock.ended_by()));
    });
  }
  Semaphore full{0, "full", 0, {0}};
};

TEST(VirtualClock, WhoEndedAWaitIsKnownByWhatItDid) {
  NamedSignal scenario;
  scenario.Run();
  EXPECT_EQ(scenario.log, "by 7 after 10@10 then 0@10 by -1@10 ");
}

TEST(VirtualClock, AWaitOfNoTimeHasNoEnder) {
  NamedSignal scenario(10);
  scenario.Run();
  EXPECT_EQ(scenario.log, "by -1 after 0@10 then 0@10 by -1@10 ");
}

// Its issuer goes on while the engine reads until 40 and writes until 100.
class Copy final : public TimedScenario {
 public:
  explicit Copy(bool ahead) {
    Add([this, ahead](AgentContext& me) {
      me.Go({});
      clock.Spend({7});
      auto engine = std::make_shared<CoroutineAgent>(
          "engine",
          [this](AgentContext& half) {
            half.Go({.footprint = Footprint::Writes(1)});
            Note("read");
            half.Go({.footprint = Footprint::Writes(0)});
            Note("written");
            done.Signal(half);
          },
          AgentRole::kOperation);
      if (ahead) clock.AppointNext({Ticks{40}, Ticks{100}}, 3);
      const AgentOrdinal spawned = me.Spawn(engine, {});
      if (!ahead) clock.Appoint(spawned, {Ticks{40}, Ticks{100}});
      me.Go({});
      Note("issuer");
      done.Wait(me);
      Note("done");
    });
  }
  Semaphore done{0, "done", 0, {1}};
};

TEST(VirtualClock, HalvesOfEnginesHaveAppointments) {
  for (const bool ahead : {false, true}) {
    Copy scenario(ahead);
    scenario.Run();
    EXPECT_EQ(scenario.log, "issuer@7 read@40 written@100 done@100 ");
    EXPECT_EQ(scenario.clock.ended_by(), ahead ? 3 : VirtualClock::kNone);
  }
}

// Two that may be there at once; the third begins when the first has ended.
class Waves final : public TimedScenario {
 public:
  Waves() {
    for (const std::int64_t length : {10, 25, 10}) {
      Add([this, length](AgentContext& me) {
        me.Go({});
        Note("begins");
        clock.Spend({length});
        clock.NextEnters(clock.now());
      });
    }
  }
};

TEST(VirtualClock, AnAgentWithoutRoomBeginsWhenAnotherEnds) {
  Waves scenario;
  scenario.Run(2);
  EXPECT_EQ(scenario.log, "begins@0 begins@0 begins@10 ");
  EXPECT_EQ(scenario.clock.end(), Ticks{25});
}

class Pipe final : public TimedScenario {
 public:
  Pipe() {
    for (const std::int64_t from : {0, 4}) {
      Add([this, from](AgentContext& me) {
        clock.Spend({from});
        for (int i = 0; i < 2; ++i) {
          me.Go({.footprint = Footprint::Writes(0)});
          clock.SpendUntil(pipe.Serve(clock.now(), {6}));
          Note(Cat(from, " until ", clock.now().value, ","));
        }
      });
    }
  }
  Server pipe;
};

TEST(VirtualClock, AServerServesOneAfterAnother) {
  Pipe scenario;
  scenario.Run();
  EXPECT_EQ(scenario.log, "0 until 6,@0 4 until 12,@4 0 until 18,@6 4 until 24,@12 ");
  EXPECT_EQ(scenario.pipe.busy(), Ticks{24});
}

// What waits keeps the time at which it came, and nothing holds back one that has left.
TEST(VirtualClock, SaysSinceWhenThePresentAgentsAsk) {
  VirtualClock clock;
  const AgentOrdinal first{0}, second{1};
  clock.Enter(first, /*spawned=*/false);
  clock.Enter(second, /*spawned=*/false);
  const auto goes = [&](AgentOrdinal agent, std::int64_t time) {
    clock.Resume(agent);
    clock.Spend({time});
    clock.Ask(agent);
  };
  goes(first, 5);
  EXPECT_EQ(clock.first_request(), Ticks{0});
  goes(second, 9);
  EXPECT_EQ(clock.first_request(), Ticks{5});
  clock.Begin(first);
  goes(first, 20);
  EXPECT_EQ(clock.first_request(), Ticks{9});
  clock.Begin(first);
  clock.EndWait(second);  // only at 25 can it go
  EXPECT_EQ(clock.first_request(), Ticks{9});
  clock.Leave(second);
  EXPECT_EQ(clock.first_request(), Ticks{25});
}

TEST(Server, GivesWhatIsFreeInBetween) {
  Server server;
  EXPECT_EQ(server.Serve({10}, {5}), Ticks{15});
  EXPECT_EQ(server.Serve({20}, {5}), Ticks{25});
  EXPECT_EQ(server.Serve({0}, {4}), Ticks{4});
  EXPECT_EQ(server.Serve({2}, {14}), Ticks{28});  // 4 to 10, 15 to 20, 25 to 28
  EXPECT_EQ(server.Serve({0}, {1}), Ticks{29});   // all before that is taken
  EXPECT_EQ(server.busy(), Ticks{29});
}

TEST(Server, NothingIsOverAtOnceAndTheIdleIsLeftIdle) {
  Server server;
  EXPECT_EQ(server.Serve({7}, {0}), Ticks{7});
  EXPECT_EQ(server.Serve({7}, {3}), Ticks{10});
  EXPECT_EQ(server.Serve({10}, {1}), Ticks{11});
  EXPECT_EQ(server.Serve({100}, {1}), Ticks{101});
  server.Forget({50});
  EXPECT_EQ(server.Serve({100}, {1}), Ticks{102});
  EXPECT_EQ(server.busy(), Ticks{6});
}

TEST(Server, ReportsHowLongAnAgentHadToWait) {
  Server server;
  server.Serve({0}, {4});
  EXPECT_EQ(server.TakeRecent().waited, Ticks{0});
  server.Serve({1}, {2});
  server.Serve({10}, {5});
  const Server::Recent requested = server.TakeRecent();
  EXPECT_EQ(requested.waited, Ticks{3});
  EXPECT_EQ(requested.served, Ticks{7});
  EXPECT_EQ(server.TakeRecent().served, Ticks{0}) << "it was told";
}

std::vector<std::int64_t> TicksOf(const std::vector<Server::Piece>& pieces) {
  std::vector<std::int64_t> ticks;
  for (const Server::Piece& piece : pieces) {
    for (std::int64_t t = piece.begin.value; t < piece.end.value; ++t) ticks.push_back(t);
  }
  return ticks;
}

// A server beside a plain array, each tick of which is free or taken.
class TickByTick {
 public:
  void Serve(std::int64_t at, std::int64_t time) {
    std::int64_t end = at;
    std::vector<std::int64_t> got;
    for (std::int64_t left = time; left > 0; ++end) {
      if (taken_[static_cast<std::size_t>(end)]) continue;
      taken_[static_cast<std::size_t>(end)] = true;
      got.push_back(end);
      --left;
    }
    std::vector<Server::Piece> pieces;
    ASSERT_EQ(server.Serve({at}, {time}, &pieces), Ticks{end}) << time << " at " << at;
    ASSERT_EQ(got, TicksOf(pieces)) << time << " at " << at;
  }
  // Below 2^18.
  std::uint32_t Random() {
    random_ = random_ * 1664525 + 1013904223;
    return random_ >> 14;
  }
  Server server;

 private:
  std::vector<bool> taken_ = std::vector<bool>(400000);
  std::uint32_t random_ = 1;
};

TEST(Server, IsTheSameAsTickByTick) {
  TickByTick both;
  for (int i = 0; i < 3000 && !HasFatalFailure(); ++i) {
    const std::int64_t at = both.Random() >> 4;
    both.Serve(at, both.Random() % 7);
  }
}

// All that is forgotten has ended before each later request.
TEST(Server, ForgetsWhatNoRequestCanMeet) {
  TickByTick both;
  std::int64_t past = 0;
  for (int i = 0; i < 20000 && !HasFatalFailure(); ++i) {
    past += both.Random() % 32;
    if (both.Random() % 3 == 0) both.server.Forget({past});
    both.Serve(past + both.Random() % 256, both.Random() % 24);
  }
}

}  // namespace
}  // namespace palladion::scheduler::test
