// Exhaustive search: exactly the interleavings that there are, the same final states with sleep sets as without, and
// one schedule for each way of ordering the operations that conflict.
#include "scheduler/search/explore.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "scheduler/policies/policies.h"
#include "scheduler/policies/random.h"
#include "scheduler/scenario_test_util.h"

namespace palladion::scheduler::test {
namespace {

struct Access {
  std::int64_t cell;
  bool writes;
  bool Conflicts(const Access& other) const { return cell == other.cell && (writes || other.writes); }
};
using Script = std::vector<std::vector<Access>>;  // of each agent

struct Memory {
  std::array<std::int64_t, 4> cells{};
  std::string log;  // "agent operation;" in the order of this schedule
};

// An agent that is plain data: a place in its script and what it read last.
class ScriptAgent final : public Agent {
 public:
  ScriptAgent(const std::vector<Access>& script, int number, Memory& memory)
      : script_(script), number_(number), memory_(memory) {}

  absl::Status Resume(Gate& gate) override {
    for (; at_ < script_.size(); ++at_) {
      const Access& access = script_[at_];
      Footprint footprint;
      footprint.Add({.object = access.cell, .writes = access.writes});
      if (!gate.MayGo({.footprint = footprint})) return absl::OkStatus();
      std::int64_t& cell = memory_.cells[static_cast<std::size_t>(access.cell)];
      if (access.writes) {
        cell = 100 * read_ + 10 * number_ + static_cast<std::int64_t>(at_);
      } else {
        read_ = cell % 97;
      }
      Append(&memory_.log, number_, " ", at_, ";");
    }
    return absl::OkStatus();
  }
  bool done() const override { return at_ == script_.size(); }
  std::string Name() const override { return Cat("agent ", number_); }
  absl::StatusOr<std::shared_ptr<const void>> Save() const override {
    return std::shared_ptr<const void>(std::make_shared<Saved>(Saved{at_, read_}));
  }
  void Restore(const void* saved) override {
    at_ = static_cast<const Saved*>(saved)->at;
    read_ = static_cast<const Saved*>(saved)->read;
  }

 private:
  struct Saved {
    std::size_t at;
    std::int64_t read;
  };
  const std::vector<Access>& script_;
  int number_;
  Memory& memory_;
  std::size_t at_ = 0;
  std::int64_t read_ = 0;
};

class Scripted final : public Explorable, private AgentSource {
 public:
  explicit Scripted(const Script& script) {
    for (std::size_t a = 0; a < script.size(); ++a)
      agents_.push_back(std::make_unique<ScriptAgent>(script[a], static_cast<int>(a), memory));
  }
  AgentSource& agents() override { return *this; }
  absl::StatusOr<std::shared_ptr<const void>> Save() const override {
    return std::shared_ptr<const void>(std::make_shared<Memory>(memory));
  }
  void Restore(const void* saved) override { memory = *static_cast<const Memory*>(saved); }
  Memory memory;

 private:
  absl::StatusOr<Agent*> Next() override { return next_ < agents_.size() ? agents_[next_++].get() : nullptr; }
  std::vector<std::unique_ptr<ScriptAgent>> agents_;
  std::size_t next_ = 0;
};

struct Seen {
  Explored explored;
  std::multiset<std::string> logs;
  std::set<std::string> states;
};

Seen ExploreScript(const Script& script, const ExploreOptions& options = {}) {
  Seen seen;
  const auto make = [&]() -> absl::StatusOr<std::unique_ptr<Explorable>> { return std::make_unique<Scripted>(script); };
  const auto visit = [&](Explorable& system, const LoopResult& result) -> absl::StatusOr<bool> {
    EXPECT_EQ(result.outcome, Outcome::kFinished);
    const Memory& memory = static_cast<Scripted&>(system).memory;
    std::string state;
    for (std::int64_t cell : memory.cells) Append(&state, cell, " ");
    seen.logs.insert(memory.log);
    seen.states.insert(state);
    return true;
  };
  const absl::StatusOr<Explored> explored = Explore(make, options, visit);
  EXPECT_TRUE(explored.ok()) << explored.status();
  if (explored.ok()) seen.explored = *explored;
  return seen;
}

Script SameCell(std::initializer_list<int> operations) {
  Script script;
  for (int n : operations) script.emplace_back(static_cast<std::size_t>(n), Access{0, true});
  return script;
}

TEST(Explore, CountsEveryInterleavingOnce) {
  const std::pair<Script, std::int64_t> cases[] = {
      {SameCell({}), 1},
      {SameCell({5}), 1},
      {SameCell({1, 1}), 2},
      {SameCell({3, 3}), 20},
      {SameCell({2, 2, 2}), 90},
      {SameCell({1, 2, 3}), 60},
      {SameCell({1, 1, 1, 1, 1}), 120},
  };
  for (const auto& [script, count] : cases) {
    for (bool reduce : {false, true}) {
      for (bool snapshots : {false, true}) {
        const Seen seen = ExploreScript(script, {.reduce = reduce, .snapshots = snapshots});
        EXPECT_EQ(seen.explored.schedules, count);
        EXPECT_EQ(seen.explored.pruned, 0);  // all conflict: nothing to leave out
        EXPECT_TRUE(seen.explored.complete);
        EXPECT_EQ(std::set(seen.logs.begin(), seen.logs.end()).size(), static_cast<std::size_t>(count));
      }
    }
  }
}

TEST(Explore, WithoutConflictsOneScheduleIsEnough) {
  const Script script = {{{0, true}, {0, true}}, {{1, true}, {1, false}}, {{2, false}, {3, false}}, {{3, false}}};
  EXPECT_EQ(ExploreScript(script).explored.schedules, 1);
  EXPECT_EQ(ExploreScript(script, {.reduce = false}).explored.schedules, 630);  // 7! / (2! 2! 2! 1!)
}

// The class of a schedule under swaps of neighbours that do not conflict: the least of its orders, built greedily.
std::string ClassOf(const std::string& log, const Script& script) {
  struct Event {
    std::size_t agent, at;
  };
  std::vector<Event> events;
  for (std::size_t from = 0; from < log.size(); from = log.find(';', from) + 1) {
    const std::size_t space = log.find(' ', from);
    events.push_back({std::stoul(log.substr(from)), std::stoul(log.substr(space + 1))});
  }
  const auto conflict = [&](const Event& a, const Event& b) {
    return a.agent == b.agent || script[a.agent][a.at].Conflicts(script[b.agent][b.at]);
  };
  std::string least;
  while (!events.empty()) {
    std::size_t best = events.size();
    for (std::size_t i = 0; i < events.size(); ++i) {
      const bool first = std::none_of(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(i),
                                      [&](const Event& before) { return conflict(before, events[i]); });
      if (first && (best == events.size() || events[i].agent < events[best].agent)) best = i;
    }
    Append(&least, events[best].agent, " ", events[best].at, ";");
    events.erase(events.begin() + static_cast<std::ptrdiff_t>(best));
  }
  return least;
}

TEST(Explore, SleepSetsSeeEveryClassOnceAndLoseNoState) {
  Random random(1);
  std::int64_t pruned = 0;
  for (int round = 0; round < 60; ++round) {
    Script script(2 + random.Below(2));
    for (std::vector<Access>& agent : script) {
      for (std::uint64_t n = 1 + random.Below(3); n > 0; --n)
        agent.push_back({static_cast<std::int64_t>(random.Below(3)), random.Below(2) == 0});
    }
    const Seen all = ExploreScript(script, {.reduce = false});
    const Seen fewer = ExploreScript(script);
    const Seen again = ExploreScript(script, {.snapshots = false});
    std::set<std::string> classes;
    for (const std::string& log : all.logs) classes.insert(ClassOf(log, script));
    EXPECT_EQ(fewer.states, all.states) << "round " << round;
    EXPECT_EQ(fewer.logs.size(), classes.size()) << "round " << round;
    EXPECT_EQ(again.logs, fewer.logs) << "round " << round;
    pruned += fewer.explored.pruned;
  }
  EXPECT_GT(pruned, 0);
}

TEST(Explore, ACutSearchIsNotComplete) {
  const Seen seen = ExploreScript(SameCell({3, 3}), {.max_schedules = 7});
  EXPECT_EQ(seen.explored.schedules, 7);
  EXPECT_FALSE(seen.explored.complete);
  const Seen exact = ExploreScript(SameCell({3, 3}), {.max_schedules = 20});
  EXPECT_TRUE(exact.explored.complete);
}

// A schedule may have as many operations as its budget says, and no more.
TEST(Explore, ASchedulesBudgetIsSpentToItsLastOperation) {
  const Script script = SameCell({3});
  const auto make = [&]() -> absl::StatusOr<std::unique_ptr<Explorable>> { return std::make_unique<Scripted>(script); };
  for (const std::int64_t budget : {2, 3}) {
    const auto visit = [&](Explorable& system, const LoopResult& result) -> absl::StatusOr<bool> {
      EXPECT_EQ(result.outcome, budget == 3 ? Outcome::kFinished : Outcome::kBudget);
      EXPECT_EQ(static_cast<Scripted&>(system).memory.log, budget == 3 ? "0 0;0 1;0 2;" : "0 0;0 1;");
      return true;
    };
    const absl::StatusOr<Explored> explored = Explore(make, {.loop = {.budget = budget}}, visit);
    ASSERT_TRUE(explored.ok()) << explored.status();
    EXPECT_EQ(explored->complete, budget == 3);
  }
}

TEST(Explore, TooManyAgentsAreRefused) {
  const Script script = SameCell({1, 1, 1});
  const auto make = [&]() -> absl::StatusOr<std::unique_ptr<Explorable>> { return std::make_unique<Scripted>(script); };
  const auto visit = [](Explorable&, const LoopResult&) -> absl::StatusOr<bool> { return true; };
  EXPECT_EQ(Explore(make, {.loop = {.resident = 2}}, visit).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(Explore(make, {.loop = {.resident = 3}}, visit).ok());
}

// Coroutines cannot be copied; they run again from the start. Two locks in opposite orders.
class Locks final : public Explorable, public Scenario {
 public:
  Locks() {
    Add([this](AgentContext& me) { a.Wait(me), b.Wait(me), b.Signal(me), a.Signal(me); });
    Add([this](AgentContext& me) { b.Wait(me), a.Wait(me), a.Signal(me), b.Signal(me); });
  }
  ~Locks() override { StopAgents(); }
  AgentSource& agents() override { return *this; }
  Semaphore a{0, "a", 1, {0, 1}}, b{1, "b", 1, {0, 1}};
};

TEST(Explore, FindsTheDeadlockAndItsMovesReplay) {
  const auto make = []() -> absl::StatusOr<std::unique_ptr<Explorable>> { return std::make_unique<Locks>(); };
  int deadlocks = 0;
  const auto visit = [&](Explorable&, const LoopResult& result) -> absl::StatusOr<bool> {
    if (result.outcome != Outcome::kDeadlock) return true;
    ++deadlocks;
    EXPECT_EQ(result.deadlock.cycle.size(), 2u);
    Locks again;
    ReplayPolicy replay(result.moves);
    EXPECT_EQ(RunLoop(again).Run(replay)->outcome, Outcome::kDeadlock);
    return true;
  };
  const absl::StatusOr<Explored> explored = Explore(make, {.snapshots = false}, visit);
  ASSERT_TRUE(explored.ok()) << explored.status();
  EXPECT_TRUE(explored->complete);
  EXPECT_EQ(explored->schedules, 3);  // one agent before the other, twice, and the cycle
  EXPECT_EQ(deadlocks, 1);
  EXPECT_EQ(Explore(make, {}, visit).status().code(), absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace palladion::scheduler::test
