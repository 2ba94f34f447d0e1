// Three-line agents for tests: shared state, and operations on it that wait, touch and count as a kernel's do.
#ifndef PALLADION_SCHEDULER_SCENARIO_TEST_UTIL_H_
#define PALLADION_SCHEDULER_SCENARIO_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/coroutine_agent.h"
#include "scheduler/policy.h"
#include "scheduler/run_loop.h"
#include "semantics/base/cat.h"

namespace palladion::scheduler::test {

// A counting semaphore. `signallers`: the agents that may signal it.
class Semaphore {
 public:
  Semaphore(std::int64_t object, std::string name, std::int64_t value, std::set<std::int32_t> signallers = {})
      : object_(object), name_(std::move(name)), value_(value), signallers_(std::move(signallers)) {}

  // Waits for `amount`, takes it.
  void Wait(AgentContext& me, std::int64_t amount = 1) {
    const AtLeast condition(*this, amount);
    me.Go({.footprint = Footprint::Writes(object_), .waits_for = &condition});
    value_ -= amount;
  }
  void Signal(AgentContext& me, std::int64_t amount = 1) {
    me.Go({.footprint = Footprint::Writes(object_)});
    value_ += amount;
  }
  std::int64_t value() const { return value_; }

  class AtLeast final : public Condition {
   public:
    AtLeast(const Semaphore& semaphore, std::int64_t amount) : semaphore_(semaphore), amount_(amount) {}
    bool Ready() const override { return semaphore_.value_ >= amount_; }
    std::string Describe() const override {
      return Cat("semaphore '", semaphore_.name_, "' to hold ", amount_, " (it holds ", semaphore_.value_, ")");
    }
    bool MaySignal(AgentOrdinal agent) const override { return semaphore_.signallers_.contains(agent.value); }

   private:
    const Semaphore& semaphore_;
    std::int64_t amount_;
  };

 private:
  std::int64_t object_;
  std::string name_;
  std::int64_t value_;
  std::set<std::int32_t> signallers_;
};

// A word of shared memory.
class Cell {
 public:
  explicit Cell(std::int64_t object, std::int64_t value = 0) : object_(object), value_(value) {}
  std::int64_t Read(AgentContext& me) {
    me.Go({.footprint = Footprint::Reads(object_)});
    return value_;
  }
  void Write(AgentContext& me, std::int64_t value) {
    me.Go({.footprint = Footprint::Writes(object_)});
    value_ = value;
  }
  bool CompareAndSwap(AgentContext& me, std::int64_t expected, std::int64_t wanted) {
    me.Go({.footprint = Footprint::Writes(object_)});
    if (value_ != expected) return false;
    value_ = wanted;
    return true;
  }
  std::int64_t value() const { return value_; }

 private:
  std::int64_t object_, value_;
};

// Visible operations of no interest, on an object of the agent's own.
inline void Work(AgentContext& me, std::int64_t object, int times) {
  for (int i = 0; i < times; ++i) me.Go({.footprint = Footprint::Writes(object)});
}

// Agents and what they share; made anew for each run.
class Scenario : public AgentSource {
 public:
  absl::StatusOr<Agent*> Next() override { return next_ < agents_.size() ? agents_[next_++].get() : nullptr; }

 protected:
  void Add(CoroutineAgent::Body body, AgentRole role = AgentRole::kProgram) {
    agents_.push_back(std::make_unique<CoroutineAgent>(Cat("agent ", agents_.size()), std::move(body), role));
  }
  // Agents that are still blocked unwind while the state that they refer to is there.
  void StopAgents() { agents_.clear(); }

 private:
  std::vector<std::unique_ptr<Agent>> agents_;
  std::size_t next_ = 0;
};

// A run of them that comes to an end.
inline LoopResult RunWith(AgentSource& source, std::unique_ptr<Policy> policy, const LoopOptions& options = {}) {
  absl::StatusOr<LoopResult> result = RunLoop(source, options).Run(*policy);
  EXPECT_TRUE(result.ok()) << result.status();
  return *result;
}

}  // namespace palladion::scheduler::test

#endif  // PALLADION_SCHEDULER_SCENARIO_TEST_UTIL_H_
