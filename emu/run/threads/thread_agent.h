// A thread of a launch, or a warp of one, as an agent of the scheduler: a frame that is resumed, and that yields before
// each step whose effect other agents may see. Limits: asking.h has the conditions of its waits, emu/run/agents/spin.h
// loops that wait.
#ifndef PALLADION_EMU_RUN_THREADS_THREAD_AGENT_H_
#define PALLADION_EMU_RUN_THREADS_THREAD_AGENT_H_

#include <memory>
#include <string>
#include <vector>

#include "emu/run/agents/launch_state.h"
#include "emu/run/agents/spin.h"
#include "emu/run/threads/asking.h"
#include "emu/run/threads/started_agents.h"
#include "emu/run/threads/thread_machine.h"
#include "scheduler/agent.h"

namespace palladion::threads {

class ThreadAgent;

// The loop that resumes the running agent.
struct CurrentGate {
  scheduler::Gate* gate = nullptr;
  ThreadAgent* agent = nullptr;
  std::vector<ThreadAgent*> free_warps;  // warps that have ended: their frames serve others
};

class ThreadAgent final : public scheduler::Agent, private StepHooks {
 public:
  // All outlive it.
  ThreadAgent(agents::LaunchState& state, ThreadMachine& machine, std::unique_ptr<Frame> frame, CurrentGate& current,
              StartedAgents& all);

  // A warp that `parent` has forked: it begins with the values of its thread, at the step.
  void BeginWarp(AgentId warp, std::int64_t number, std::size_t first, const ThreadAgent& parent);
  bool is_warp() const { return is_warp_; }
  void SetOrdinal(scheduler::AgentOrdinal ordinal) { spin_.Start(ordinal); }  // once it has begun

  // Puts the agent at the start of that thread, which is one program of the launch; of a TPU's core, several.
  void Begin(AgentId thread, agents::AgentPrograms programs);
  const Frame& frame() const { return *frame_; }
  void PutOn(std::int64_t device);                                  // its operands are this device's
  void PutOnCore(std::int64_t device, std::int64_t first_program);  // what cores have copies of is this core's
  AgentId id() const { return id_; }
  agents::Spin& spin() { return spin_; }

  absl::Status Resume(scheduler::Gate& gate) override;
  bool done() const override { return frame_->done() && !ending_; }
  std::string Name() const override { return machine_.NameOf(id_); }
  AgentRole role() const override { return is_warp_ ? AgentRole::kWarp : AgentRole::kThread; }

 private:
  bool MayGo(const Step& step, Frame& frame) override;
  void Before(const Step& step, Frame& frame) override;
  void After(const Step& step, Frame& frame) override;
  bool MayBegin();
  void MayEnd();
  bool MayGoRound(const Step& step, Frame& frame);
  scheduler::Footprint Touches(const Step& step, Frame& frame) const;  // of a step that does not wait
  agents::Spin::Port PortOf();

  agents::LaunchState& state_;
  ThreadMachine& machine_;
  std::unique_ptr<Frame> frame_;
  StepHooks* watcher_;
  CurrentGate& current_;
  StartedAgents& all_;
  const agents::Spin::Port port_;
  agents::Spin spin_;
  agents::SpinCondition spinning_;
  scheduler::Gate* gate_ = nullptr;
  AgentId id_;
  ThreadWait wait_;
  bool started_ = false;
  bool is_warp_ = false;
  bool ending_ = false;  // it has asked to (MayEnd)
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_THREAD_AGENT_H_
