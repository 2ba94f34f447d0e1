// The threads of a launch, and the halves of what engines do for them, as agents of the scheduler: a thread is a frame
// that is resumed. Clusters begin one after another, as many at a time as the chip can hold.
#ifndef PALLADION_EMU_THREADS_THREAD_AGENTS_H_
#define PALLADION_EMU_THREADS_THREAD_AGENTS_H_

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "emu/agents/agent_ordinals.h"
#include "emu/agents/launch_state.h"
#include "emu/agents/spin.h"
#include "emu/threads/asking.h"
#include "emu/threads/residency.h"
#include "emu/threads/signal_reach.h"
#include "emu/threads/thread_machine.h"
#include "memory_model/bytes/access_observer.h"
#include "scheduler/agent.h"

namespace palladion::threads {

// What threads do to memory, told to the model. What engines do was judged when it was asked for.
class ThreadAccesses final : public memory_model::AccessObserver {
 public:
  ThreadAccesses(const memory_model::Memory& memory, ThreadMachine& machine) : memory_(memory), machine_(machine) {}
  void Box(AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
           const std::byte* value) override;
  void Points(AccessKind kind, const PointAccess& access, const std::byte* value) override;
  std::int64_t accesses() const { return accesses_; }

 private:
  const memory_model::Memory& memory_;
  ThreadMachine& machine_;
  std::int64_t accesses_ = 0;
};

// The loop that resumes whoever is running.
class ThreadAgent;
struct CurrentGate {
  scheduler::Gate* gate = nullptr;
  ThreadAgent* agent = nullptr;
  std::vector<ThreadAgent*> free_warps;  // warps that have ended: their frames serve others
};

class ThreadAgents;

class ThreadAgent final : public scheduler::Agent, private StepHooks {
 public:
  // All outlive it.
  ThreadAgent(agents::LaunchState& state, ThreadMachine& machine, std::unique_ptr<Frame> frame, StepHooks* watcher,
              CurrentGate& current, ThreadAgents& all);

  // A warp that `parent` has forked: it begins with the values of its thread, at the step.
  void BeginWarp(AgentId warp, std::int64_t number, std::size_t first, const ThreadAgent& parent);
  bool is_warp() const { return is_warp_; }
  void SetOrdinal(scheduler::AgentOrdinal ordinal) { spin_.Start(ordinal); }  // once it has begun

  // Puts the agent at the start of that thread, which is one program of the launch; of a TPU's core, several.
  void Begin(AgentId thread, agents::AgentPrograms programs);
  const Frame& frame() const { return *frame_; }
  void PutOn(std::int64_t device);  // its operands are this device's
  AgentId id() const { return id_; }
  agents::Spin& spin() { return spin_; }

  absl::Status Resume(scheduler::Gate& gate) override;
  bool done() const override { return frame_->done(); }
  std::string Name() const override { return machine_.NameOf(id_); }
  AgentRole role() const override { return is_warp_ ? AgentRole::kWarp : AgentRole::kThread; }

 private:
  bool MayGo(const Step& step, Frame& frame) override;
  void Before(const Step& step, Frame& frame) override;
  void After(const Step& step, Frame& frame) override;
  bool MayGoRound(const Step& step, Frame& frame);
  agents::Spin::Port PortOf();
  std::int64_t Look(const WaitTarget& target) const;
  const memory_model::Semaphore& CountOf(SyncElement semaphore) const {
    return machine_.model().Of(machine_.syncs().SemaphoreOf(semaphore));
  }

  agents::LaunchState& state_;
  ThreadMachine& machine_;
  std::unique_ptr<Frame> frame_;
  StepHooks* watcher_;
  CurrentGate& current_;
  ThreadAgents& all_;
  const agents::Spin::Port port_;
  agents::Spin spin_;
  agents::SpinCondition spinning_;
  scheduler::Gate* gate_ = nullptr;
  AgentId id_;
  ThreadWait wait_;
  bool started_ = false;
  bool is_warp_ = false;
};

class ThreadAgents final : public scheduler::AgentSource, public AgentsAround {
 public:
  // `residency`: how many clusters may be under way at once.
  ThreadAgents(agents::LaunchState& state, ThreadMachine& machine, StepHooks* watcher, const Kernel& kernel,
               Residency residency);
  ThreadAgents(const ThreadAgents&) = delete;
  ThreadAgents& operator=(const ThreadAgents&) = delete;

  absl::StatusOr<scheduler::Agent*> Next() override;
  bool Ready() const override;
  void Retire(scheduler::Agent* agent) override;

  std::vector<const ThreadAgent*> Unfinished() const;

  bool MaySignal(AgentId waiter, const WaitTarget& target, scheduler::AgentOrdinal other) const override;
  std::string NameOf(scheduler::AgentOrdinal other) const override;
  const AsyncRequest* RequestOf(scheduler::AgentOrdinal engine) const override;
  void EngineResumes(scheduler::AgentOrdinal engine) override;
  void EngineEnds(scheduler::AgentOrdinal engine) override { live_.erase(ordinals_.Of(engine).value); }
  void WarpEnds(AgentId warp) { live_.erase(warp.value); }
  agents::SpinWatch* spins() {
    return spins_.has_value() ? &*spins_ : nullptr;
  }                                          // nullptr: no loop of the kernel may wait
  bool engines() const { return engines_; }  // has any asynchronous operation been started?
  bool all_fit() const { return !residency_.Limits(state_.walk().programs()); }
  // Why the next block is not there yet; "" where all have begun.
  std::string WhyNotBegun() const;

 private:
  // Whoever the run loop started and is under way: a thread or a warp, or an engine's operation.
  struct Live {
    const ThreadAgent* agent = nullptr;
    const EngineAgent* engine = nullptr;
  };
  // A thread or warp: what it is called when it has ended.
  struct Started {
    std::int32_t program = -1;  // of a thread; of a warp, its thread's
    std::int32_t warp = -1;
  };
  scheduler::AgentOrdinal Add(AgentId agent, const Live& live) {
    live_[agent.value] = live;
    return ordinals_.Add(agent);
  }
  void EnterDevices(const Kernel& kernel);
  void Start(AgentId agent, const Started& started);
  const Started* StartedAs(AgentId agent) const;                    // nullptr: an engine's operation
  std::vector<std::int64_t> IndexOf(const Started& started) const;  // in the grid
  void Spawn(AgentId operation);
  agents::LaunchState& state_;
  ThreadMachine& machine_;
  StepHooks* watcher_;
  std::optional<agents::SpinWatch> spins_;
  std::int64_t threads_ = 1, blocks_ = 1;  // of a block, of a cluster
  Residency residency_;
  std::int64_t free_clusters_;
  bool engines_ = false;
  std::vector<std::unique_ptr<ThreadAgent>> agents_;
  std::vector<ThreadAgent*> free_;
  std::int64_t next_ = 0;  // program
  absl::Status Fork(AgentId warp, std::int64_t number, std::size_t first);

  AgentId first_;                     // of the block that begins
  std::deque<AgentId> blocks_added_;  // of several devices: the first thread of each, none of which has begun
  CurrentGate current_;
  std::vector<std::unique_ptr<ThreadAgent>> warps_;
  agents::AgentOrdinals ordinals_;
  absl::flat_hash_map<std::int32_t, Live> live_;  // by AgentId
  std::deque<Started> started_;                   // the same; eight bytes are what a thread that has ended costs
  mutable SignalReach reach_;
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_THREADS_THREAD_AGENTS_H_
