// Where the threads of a launch come from, and the halves of what engines do for them, as agents of the scheduler:
// clusters begin one after another, as many at a time as the chip can hold, and warps when a thread forks them.
// Limits: how many fit is residency.h's to say.
#ifndef PALLADION_EMU_THREADS_THREAD_AGENTS_H_
#define PALLADION_EMU_THREADS_THREAD_AGENTS_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "emu/agents/launch_state.h"
#include "emu/threads/residency.h"
#include "emu/threads/started_agents.h"
#include "emu/threads/thread_agent.h"
#include "emu/threads/thread_machine.h"
#include "scheduler/agent.h"

namespace palladion::threads {

class ThreadAgents final : public scheduler::AgentSource {
 public:
  // `residency`: how many clusters may be under way at once.
  ThreadAgents(agents::LaunchState& state, ThreadMachine& machine, const Kernel& kernel, Residency residency);
  ThreadAgents(const ThreadAgents&) = delete;
  ThreadAgents& operator=(const ThreadAgents&) = delete;

  absl::StatusOr<scheduler::Agent*> Next() override;
  bool Ready() const override;
  void Retire(scheduler::Agent* agent) override;

  std::vector<const ThreadAgent*> Unfinished() const;
  bool engines() const { return started_.engines(); }  // has any asynchronous operation been started?
  bool all_fit() const { return !residency_.Limits(state_.walk().programs()); }
  // Why the next block is not there yet; "" where all have begun.
  std::string WhyNotBegun() const;

 private:
  void EnterDevices(const Kernel& kernel);
  AgentId FirstOfBlock(absl::Span<const std::int64_t> index);
  absl::StatusOr<ThreadAgent*> NewAgent(std::vector<std::unique_ptr<ThreadAgent>>* all);
  void Spawn(AgentId operation);
  absl::Status Fork(AgentId warp, std::int64_t number, std::size_t first);
  std::vector<std::int64_t> NextIndex() const;  // in the grid, of the thread that begins next

  agents::LaunchState& state_;
  ThreadMachine& machine_;
  StartedAgents started_;
  std::int64_t threads_ = 1, blocks_ = 1;  // of a block, of a cluster
  Residency residency_;
  std::int64_t free_clusters_;
  CurrentGate current_;
  std::vector<std::unique_ptr<ThreadAgent>> agents_, warps_;
  std::vector<ThreadAgent*> free_;    // of agents_: their threads have ended
  std::int64_t next_ = 0;             // program
  AgentId first_;                     // of the block that begins
  std::deque<AgentId> blocks_added_;  // of several devices: the first thread of each, none of which has begun
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_THREADS_THREAD_AGENTS_H_
