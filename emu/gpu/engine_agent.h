// The halves of what engines do for the threads of a launch, as agents of the scheduler.
#ifndef PALLADION_EMU_GPU_ENGINE_AGENT_H_
#define PALLADION_EMU_GPU_ENGINE_AGENT_H_

#include <string>

#include "emu/gpu/gpu_machine.h"
#include "scheduler/agent.h"

namespace palladion {

class EngineAgent;

// Who knows all agents of a launch.
class EngineHost {
 public:
  virtual void Runs(AgentOrdinal engine) = 0;  // it is resumed, until another is
  virtual void Ends(AgentId engine) = 0;
  virtual const EngineAgent* EngineOf(AgentOrdinal agent) const = 0;  // nullptr: a thread, or one that has ended

 protected:
  ~EngineHost() = default;
};

// One operation of an engine: its reading, then its writing.
class EngineAgent final : public Agent {
 public:
  // Both outlive it.
  EngineAgent(GpuMachine& machine, AgentId operation, EngineHost& all);
  Operation Next() const;
  const AsyncRequest& request() const { return machine_.model().RequestOf(operation_); }  // while it is under way
  void SetOrdinal(AgentOrdinal ordinal) { ordinal_ = ordinal; }

  absl::Status Resume(Gate& gate) override;
  bool done() const override { return done_; }
  std::string Name() const override { return machine_.model().agents().NameOf(operation_); }
  AgentRole role() const override { return AgentRole::kOperation; }

 private:
  class HalfCondition final : public Condition {
   public:
    explicit HalfCondition(const EngineAgent& agent) : agent_(agent) {}
    bool Ready() const override { return agent_.machine_.CanPerform(agent_.operation_, agent_.half_); }
    std::string Describe() const override { return "the operations before it in its queue"; }
    bool MaySignal(AgentOrdinal other) const override;

   private:
    const EngineAgent& agent_;
  };

  GpuMachine& machine_;
  AgentId operation_;
  EngineHost& all_;
  AgentOrdinal ordinal_;
  Half half_;
  HalfCondition condition_;
  bool done_ = false;
};

}  // namespace palladion

#endif  // PALLADION_EMU_GPU_ENGINE_AGENT_H_
