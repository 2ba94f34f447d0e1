// Agents that wait on an object, and an agent that reports changes of objects.
#include <gtest/gtest.h>

#include <string>

#include "scheduler/policies/policies.h"
#include "scheduler/run_loop.h"
#include "scheduler/scenario_test_util.h"

namespace palladion::scheduler::test {
namespace {

// Agent 0 waits on an object, and agent 1 does operations that might touch anything and report what they have changed.
class Reporting final : public Scenario {
 public:
  static constexpr std::int64_t kObject = 7;
  class Counted final : public Condition {
   public:
    bool Ready() const override { return ++polls, true_now; }
    std::string Describe() const override { return "to be told"; }
    bool MaySignal(AgentOrdinal) const override { return true; }
    bool true_now = false;
    mutable int polls = 0;
  };
  explicit Reporting(std::vector<std::int64_t> reported) {  // kUnknown: anything
    Add([this](AgentContext& me) {
      me.Go({.footprint = Footprint::Writes(kObject), .waits_for = &condition, .waits_on = kObject});
    });
    Add([this, reported](AgentContext& me) {
      for (const std::int64_t object : reported) {
        me.Go({.footprint = Footprint::Everything()});
        object == Operation::kUnknown ? changed.AddAnything() : changed.Add(object);
        condition.true_now |= object == Operation::kUnknown || object == kObject;
      }
    });
  }
  ~Reporting() override { StopAgents(); }
  Changes* changes() override { return reports ? &changed : nullptr; }

  Changes changed;
  Counted condition;
  bool reports = true;
};

TEST(RunLoop, AWaiterOnAnObjectIsQueriedWhenThatHasChanged) {
  const auto polls = [](std::vector<std::int64_t> reported, Outcome outcome, bool reports = true) {
    Reporting reporting(std::move(reported));
    reporting.reports = reports;
    EXPECT_EQ(RunWith(reporting, MakeProgramOrder()).outcome, outcome);
    return reporting.condition.polls;
  };
  EXPECT_EQ(2, polls({8, 9, 8, Reporting::kObject}, Outcome::kFinished));  // when it begins to wait, and at the last
  EXPECT_EQ(2, polls({8, Operation::kUnknown}, Outcome::kFinished));
  EXPECT_EQ(5, polls({8, 9, 8, Reporting::kObject}, Outcome::kFinished, /*reports=*/false));  // each might have done it
  EXPECT_EQ(2, polls({8, 9, 8}, Outcome::kDeadlock));  // the second time by what looks for errors at the end
}

// One waits; the other makes its condition true in an operation that does not conflict with the wait, and then does one
// that does. Both are plain data.
class Owed final : public AgentSource {
 public:
  Changes* changes() override { return &changed_; }
  bool reported = false;

 private:
  class Waiter final : public Agent, private Condition {
   public:
    explicit Waiter(const Owed& all) : all_(all) {}
    absl::Status Resume(Gate& gate) override {
      done_ = gate.MayGo({.footprint = Footprint::Writes(1), .waits_for = this, .waits_on = 1});
      return absl::OkStatus();
    }
    bool done() const override { return done_; }
    std::string Name() const override { return "waiter"; }
    absl::StatusOr<std::shared_ptr<const void>> Save() const override { return std::make_shared<const bool>(done_); }
    void Restore(const void* saved) override { done_ = *static_cast<const bool*>(saved); }

   private:
    bool Ready() const override { return all_.reported; }
    std::string Describe() const override { return "to be told"; }
    bool MaySignal(AgentOrdinal) const override { return true; }
    const Owed& all_;
    bool done_ = false;
  };
  class Reporter final : public Agent {
   public:
    explicit Reporter(Owed& all) : all_(all) {}
    absl::Status Resume(Gate& gate) override {
      for (; at_ < 2 && gate.MayGo({.footprint = at_ == 0 ? Footprint::Writes(2) : Footprint::Everything()}); ++at_) {
        if (at_ > 0) continue;
        all_.reported = true;
        all_.changed_.Add(1);
      }
      return absl::OkStatus();
    }
    bool done() const override { return at_ == 2; }
    std::string Name() const override { return "teller"; }
    absl::StatusOr<std::shared_ptr<const void>> Save() const override { return std::make_shared<const int>(at_); }
    void Restore(const void* saved) override { at_ = *static_cast<const int*>(saved); }

   private:
    Owed& all_;
    int at_ = 0;
  };
  absl::StatusOr<Agent*> Next() override {
    Agent* const agents[] = {&waiter_, &reporter_, nullptr};
    return agents[next_ < 2 ? next_++ : 2];
  }

  Changes changed_;
  Waiter waiter_{*this};
  Reporter reporter_{*this};
  std::size_t next_ = 0;
};

TEST(RunLoop, ALoopThatGoesBackAsksAboutWhatWasChangedBefore) {
  Owed owed;
  RunLoop loop(owed);
  ASSERT_TRUE(loop.Start(RunLoop::Search::kSnapshots).ok());
  ASSERT_TRUE(loop.Step(loop.candidates().front()).ok());
  const absl::StatusOr<std::shared_ptr<const RunLoop::Saved>> saved = loop.Save();
  ASSERT_TRUE(saved.ok());
  for (int time = 0; time < 2; ++time) {
    ASSERT_EQ(1u, loop.candidates().size());
    ASSERT_TRUE(loop.Step(loop.candidates().front()).ok());
    ASSERT_EQ(1u, loop.candidates().size()) << "the waiter, time " << time;
    ASSERT_TRUE(loop.Step(loop.candidates().front()).ok());
    EXPECT_EQ(Outcome::kFinished, loop.Finish()->outcome);
    loop.Restore(**saved);
  }
}

}  // namespace
}  // namespace palladion::scheduler::test
