// The agents that the run loop has started in a launch of kernel text over threads: which threads and warps may still
// satisfy another one's wait, and the name of each, also after it has ended. Based on: where signals may come from in
// the kernel's text (signal_reach.h). Limits: a signal under a condition that is never true counts as one that may
// come.
#ifndef PALLADION_EMU_RUN_THREADS_STARTED_AGENTS_H_
#define PALLADION_EMU_RUN_THREADS_STARTED_AGENTS_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "emu/run/agents/launch_state.h"
#include "emu/run/agents/spin.h"
#include "emu/run/threads/agents_in_flight.h"
#include "emu/run/threads/signal_reach.h"
#include "emu/run/threads/thread_machine.h"

namespace palladion::threads {

class StartedAgents final : public AgentsInFlight {
 public:
  // All outlive it.
  StartedAgents(agents::LaunchState& state, ThreadMachine& machine, const Kernel& kernel);

  // The frame stays until its agent ends.
  scheduler::AgentOrdinal AddThread(AgentId thread, std::int64_t program, const Frame& frame);
  scheduler::AgentOrdinal AddWarp(AgentId warp, std::int64_t number, const Frame& frame, AgentId parent);
  void AllHaveBegun() { more_begin_ = false; }  // all blocks of the grid

  agents::SpinWatch* spins() { return spins_.has_value() ? &*spins_ : nullptr; }  // nullptr: no loop may wait

  std::string NameOf(scheduler::AgentOrdinal other) const override;
  void EngineResumes(scheduler::AgentOrdinal engine) override;

 private:
  // A thread or warp: what it is called when it has ended.
  struct Started {
    std::int32_t program = -1;  // of a thread; of a warp, its thread's
    std::int32_t warp = -1;
  };
  bool ThreadMaySignal(AgentId waiter, const WaitTarget& target, const Signaller& other) const override;
  void Remember(AgentId agent, const Started& started);
  const Started* StartedAs(AgentId agent) const;                    // nullptr: an engine's operation
  std::vector<std::int64_t> IndexOf(const Started& started) const;  // in the grid
  bool MaySignalByText(const Frame* frame, const WaitTarget& target, absl::Span<const std::int64_t> index) const;

  agents::LaunchState& state_;
  std::optional<agents::SpinWatch> spins_;
  std::deque<Started> started_;  // by AgentId; eight bytes are what a thread that has ended costs
  mutable SignalReach reach_;
  bool more_begin_ = true;
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_STARTED_AGENTS_H_
