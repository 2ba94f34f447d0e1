// Whoever the run loop has started in a launch over threads, by its place in the schedule: threads, warps and
// operations of engines. It says which of them may still bring about what a thread waits for, and what each is called,
// also after it has ended. Based on: where signals may come from in the kernel's text (signal_reach.h). Limits: a
// signal under a condition that is never true counts as one that may come.
#ifndef PALLADION_EMU_THREADS_STARTED_AGENTS_H_
#define PALLADION_EMU_THREADS_STARTED_AGENTS_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "emu/agents/agent_ordinals.h"
#include "emu/agents/launch_state.h"
#include "emu/agents/spin.h"
#include "emu/threads/asking.h"
#include "emu/threads/signal_reach.h"
#include "emu/threads/thread_machine.h"

namespace palladion::threads {

class StartedAgents final : public AgentsAround {
 public:
  // All outlive it.
  StartedAgents(agents::LaunchState& state, const ThreadMachine& machine, const Kernel& kernel);
  StartedAgents(const StartedAgents&) = delete;
  StartedAgents& operator=(const StartedAgents&) = delete;

  // The frame and the operation stay until their agent ends.
  scheduler::AgentOrdinal AddThread(AgentId thread, std::int64_t program, const Frame& frame);
  scheduler::AgentOrdinal AddWarp(AgentId warp, std::int64_t number, const Frame& frame, AgentId parent);
  scheduler::AgentOrdinal AddOperation(AgentId operation, const EngineAgent& engine);
  void Ends(AgentId agent) { live_.erase(agent.value); }
  void AllHaveBegun() { more_begin_ = false; }  // all blocks of the grid

  agents::SpinWatch* spins() { return spins_.has_value() ? &*spins_ : nullptr; }  // nullptr: no loop may wait
  bool engines() const { return engines_; }  // has any asynchronous operation been started?

  bool MaySignal(AgentId waiter, const WaitTarget& target, scheduler::AgentOrdinal other) const override;
  std::string NameOf(scheduler::AgentOrdinal other) const override;
  const AsyncRequest* RequestOf(scheduler::AgentOrdinal engine) const override;
  void EngineResumes(scheduler::AgentOrdinal engine) override;
  void EngineEnds(scheduler::AgentOrdinal engine) override { Ends(ordinals_.Of(engine)); }

 private:
  // Who is under way: a thread or a warp, or an engine's operation.
  struct Live {
    const Frame* frame = nullptr;
    const EngineAgent* engine = nullptr;
  };
  // A thread or warp: what it is called when it has ended.
  struct Started {
    std::int32_t program = -1;  // of a thread; of a warp, its thread's
    std::int32_t warp = -1;
  };
  scheduler::AgentOrdinal Add(AgentId agent, const Live& live);
  void Remember(AgentId agent, const Started& started);
  const Started* StartedAs(AgentId agent) const;                    // nullptr: an engine's operation
  std::vector<std::int64_t> IndexOf(const Started& started) const;  // in the grid
  bool MayTell(const Frame* frame, const WaitTarget& target, absl::Span<const std::int64_t> index) const;

  agents::LaunchState& state_;
  const ThreadMachine& machine_;
  std::optional<agents::SpinWatch> spins_;
  agents::AgentOrdinals ordinals_;
  absl::flat_hash_map<std::int32_t, Live> live_;  // by AgentId
  std::deque<Started> started_;                   // the same; eight bytes are what a thread that has ended costs
  mutable SignalReach reach_;
  bool engines_ = false, more_begin_ = true;
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_THREADS_STARTED_AGENTS_H_
