// The threads of a launch, and the phases of the operations that engines perform for them, as agents of the scheduler:
// clusters begin one after another, as many at a time as the chip can hold, and warps when a thread forks them. Limits:
// residency.h decides how many fit.
#ifndef PALLADION_EMU_RUN_THREADS_THREAD_AGENTS_H_
#define PALLADION_EMU_RUN_THREADS_THREAD_AGENTS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "emu/run/agents/launch_state.h"
#include "emu/run/threads/begin_order.h"
#include "emu/run/threads/residency.h"
#include "emu/run/threads/started_agents.h"
#include "emu/run/threads/thread_agent.h"
#include "emu/run/threads/thread_machine.h"
#include "scheduler/agent.h"

namespace palladion::threads {

class ThreadAgents final : public scheduler::AgentSource {
 public:
  // `residency`: how many clusters may be resident at once, on each device.
  ThreadAgents(agents::LaunchState& state, ThreadMachine& machine, const Kernel& kernel, Residency residency);
  ThreadAgents(const ThreadAgents&) = delete;
  ThreadAgents& operator=(const ThreadAgents&) = delete;

  absl::StatusOr<scheduler::Agent*> Next() override;
  bool Ready() const override;
  void Retire(scheduler::Agent* agent) override;
  scheduler::Changes* changes() override { return &machine_.changes(); }

  std::vector<const ThreadAgent*> Unfinished() const;
  bool engines() const { return started_.engines(); }  // has any asynchronous operation been started?
  bool all_fit() const { return !residency_.Limits(state_.walk().programs() / state_.program().devices); }
  // Why the next block is not there yet; "" where all have begun.
  std::string WhyNotBegun() const;

 private:
  void EnterDevices(const Kernel& kernel);
  AgentId FirstOfBlock(std::int64_t program, absl::Span<const std::int64_t> index);
  absl::StatusOr<ThreadAgent*> NewAgent(std::vector<std::unique_ptr<ThreadAgent>>* all);
  void Spawn(AgentId operation);
  void SpawnAnswers(AgentId operation);
  absl::Status Fork(AgentId warp, std::int64_t number, std::size_t first);
  std::vector<std::int64_t> IndexOf(std::int64_t program) const;  // in the grid

  agents::LaunchState& state_;
  ThreadMachine& machine_;
  StartedAgents started_;
  Residency residency_;
  const std::int64_t threads_;  // of a block
  const std::int64_t blocks_;   // of a cluster
  BeginOrder order_;
  CurrentGate current_;
  std::vector<std::unique_ptr<ThreadAgent>> agents_, warps_;
  std::vector<ThreadAgent*> free_;                           // of agents_: their threads have ended
  AgentId first_;                                            // of the block that begins
  absl::flat_hash_map<std::int64_t, AgentId> blocks_added_;  // of several devices, by program: the first thread of each
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_THREAD_AGENTS_H_
