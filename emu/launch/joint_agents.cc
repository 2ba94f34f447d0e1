#include "emu/launch/joint_agents.h"

#include <algorithm>
#include <string>
#include <utility>

#include "semantics/base/cat.h"

namespace palladion::launch {

// An agent of a launch, as the loop sees it.
class JointAgent final : public scheduler::Agent {
 public:
  JointAgent(JointAgents& all, std::size_t launch, scheduler::Agent& agent, std::shared_ptr<scheduler::Agent> owned)
      : all_(all), launch_(launch), agent_(&agent), owned_(std::move(owned)), condition_(*this) {}

  void Become(std::size_t launch, scheduler::Agent& agent) { launch_ = launch, agent_ = &agent; }
  std::size_t launch() const { return launch_; }
  scheduler::Agent* agent() const { return agent_; }
  // As the loop is told of it: with a condition that knows the loop's numbers.
  scheduler::Operation Told(scheduler::Operation operation) {
    condition_.inner = operation.waits_for;
    if (operation.waits_for != nullptr) operation.waits_for = &condition_;
    return operation;
  }

  absl::Status Resume(scheduler::Gate& gate) override {
    GateOfLaunch of(*this, gate);
    const absl::Status status = agent_->Resume(of);
    if (agent_->done()) ++all_.states_[launch_].ended;
    return status;
  }
  bool done() const override { return agent_->done(); }
  std::string Name() const override { return Cat(agent_->Name(), " on device ", all_.states_[launch_].launch.device); }
  AgentRole role() const override { return agent_->role(); }

 private:
  class GateOfLaunch final : public scheduler::Gate {
   public:
    GateOfLaunch(JointAgent& agent, scheduler::Gate& gate) : agent_(agent), gate_(gate) {}
    bool MayGo(const scheduler::Operation& operation) override { return gate_.MayGo(agent_.Told(operation)); }
    bool TakeGrant() override { return gate_.TakeGrant(); }
    scheduler::AgentOrdinal Spawn(std::shared_ptr<scheduler::Agent> agent, const scheduler::Operation& first) override {
      scheduler::Agent& plain = *agent;
      auto joint = std::make_shared<JointAgent>(agent_.all_, agent_.launch_, plain, std::move(agent));
      const scheduler::Operation told = joint->Told(first);
      const scheduler::AgentOrdinal own = agent_.all_.Number(agent_.launch_);
      gate_.Spawn(std::move(joint), told);
      return own;
    }

   private:
    JointAgent& agent_;
    scheduler::Gate& gate_;
  };

  class ConditionOfLaunch final : public scheduler::Condition {
   public:
    explicit ConditionOfLaunch(const JointAgent& agent) : agent_(agent) {}
    bool Ready() const override { return inner->Ready(); }
    std::string Describe() const override { return inner->Describe(); }
    bool MaySignal(scheduler::AgentOrdinal other) const override {
      const std::optional<scheduler::AgentOrdinal> own = agent_.all_.OwnOf(agent_.launch_, other);
      return own.has_value() && inner->MaySignal(*own);
    }
    std::optional<scheduler::AgentOrdinal> Holder() const override {
      const std::optional<scheduler::AgentOrdinal> holder = inner->Holder();
      return holder.has_value() && holder->valid() ? agent_.all_.JointOf(agent_.launch_, *holder) : holder;
    }
    std::string NameOf(scheduler::AgentOrdinal other) const override {
      const std::optional<scheduler::AgentOrdinal> own = agent_.all_.OwnOf(agent_.launch_, other);
      return own.has_value() ? inner->NameOf(*own) : "";
    }
    const scheduler::Condition* inner = nullptr;

   private:
    const JointAgent& agent_;
  };

  JointAgents& all_;
  std::size_t launch_;
  scheduler::Agent* agent_;
  const std::shared_ptr<scheduler::Agent> owned_;  // a spawned one
  ConditionOfLaunch condition_;
};

JointAgents::JointAgents(std::vector<Launch> launches) {
  for (const Launch& launch : launches) states_.push_back({.launch = launch});
}

JointAgents::~JointAgents() = default;

std::optional<scheduler::AgentOrdinal> JointAgents::OwnOf(std::size_t launch, scheduler::AgentOrdinal joint) const {
  const Numbered& numbered = numbered_[joint.index()];
  return numbered.launch == launch ? std::optional<scheduler::AgentOrdinal>(numbered.own) : std::nullopt;
}

scheduler::AgentOrdinal JointAgents::JointOf(std::size_t launch, scheduler::AgentOrdinal own) const {
  const auto is = [&](const Numbered& numbered) { return numbered.launch == launch && numbered.own == own; };
  return {static_cast<std::int32_t>(std::find_if(numbered_.begin(), numbered_.end(), is) - numbered_.begin())};
}

scheduler::AgentOrdinal JointAgents::Number(std::size_t launch) {
  const scheduler::AgentOrdinal own{static_cast<std::int32_t>(states_[launch].started++)};
  numbered_.push_back({launch, own});
  return own;
}

// Is there an agent that may begin, or an error? One is taken from its launch then: only asking for it tells.
bool JointAgents::Look() {
  for (std::size_t i = 0; i < states_.size() && failed_.ok(); ++i) {
    const std::size_t launch = (turn_ + i) % states_.size();
    State& state = states_[launch];
    if (state.exhausted || state.under_way >= state.launch.resident || !state.launch.source->Ready()) continue;
    absl::StatusOr<scheduler::Agent*> agent = state.launch.source->Next();
    if (!agent.ok()) {
      failed_ = agent.status();
    } else if (*agent == nullptr) {
      state.exhausted = true;
    } else {
      waiting_ = Waiting{launch, *agent};
      turn_ = launch + 1;
      return true;
    }
  }
  return !failed_.ok();
}

// To look changes nothing that anybody sees but Next.
bool JointAgents::Ready() const {
  if (waiting_.has_value() || const_cast<JointAgents*>(this)->Look()) return true;
  return std::all_of(states_.begin(), states_.end(), [](const State& state) { return state.exhausted; });
}

absl::StatusOr<scheduler::Agent*> JointAgents::Next() {
  if (!waiting_.has_value() && failed_.ok()) Look();
  if (!failed_.ok()) return failed_;
  if (!waiting_.has_value()) return nullptr;
  const Waiting next = *std::exchange(waiting_, std::nullopt);
  ++states_[next.launch].under_way;
  Number(next.launch);
  if (free_.empty()) {
    agents_.push_back(std::make_unique<JointAgent>(*this, next.launch, *next.agent, nullptr));
    return agents_.back().get();
  }
  JointAgent* const agent = free_.back();
  free_.pop_back();
  agent->Become(next.launch, *next.agent);
  return agent;
}

void JointAgents::Retire(scheduler::Agent* agent) {
  auto* const joint = static_cast<JointAgent*>(agent);
  State& state = states_[joint->launch()];
  --state.under_way;
  state.launch.source->Retire(joint->agent());
  free_.push_back(joint);
}

scheduler::LoopResult JointAgents::ResultOf(std::size_t launch, const scheduler::LoopResult& run) const {
  const State& state = states_[launch];
  scheduler::LoopResult result = run;
  if (state.exhausted && state.ended == state.started) result.outcome = scheduler::Outcome::kFinished;
  scheduler::Deadlock& deadlock = result.deadlock;
  if (result.outcome != scheduler::Outcome::kDeadlock) {
    deadlock = {};
    return result;
  }
  const auto is_other = [&](scheduler::AgentOrdinal agent) { return !OwnOf(launch, agent).has_value(); };
  const auto keep_own = [&](std::vector<scheduler::AgentOrdinal>& agents) {
    agents.erase(std::remove_if(agents.begin(), agents.end(), is_other), agents.end());
  };
  std::vector<scheduler::Wait>& waits = deadlock.waits;
  waits.erase(
      std::remove_if(waits.begin(), waits.end(), [&](const scheduler::Wait& wait) { return is_other(wait.agent); }),
      waits.end());
  keep_own(deadlock.cycle);
  keep_own(deadlock.orphans);
  return result;
}

}  // namespace palladion::launch
