// What a wait of a thread, or a phase of an engine's operation, is to the scheduler: what it touches, and when it may
// proceed. Shared by steps of kernel text and functions in C++. What it does not know: how the body of a thread is
// resumed, and what a thread may still do.
#ifndef PALLADION_EMU_RUN_THREADS_ASKING_H_
#define PALLADION_EMU_RUN_THREADS_ASKING_H_

#include <optional>
#include <string>

#include "emu/run/threads/thread_machine.h"
#include "scheduler/agent.h"

namespace palladion::threads {

// The starter of the agents of a launch over threads, which knows them by their place in the schedule.
class AgentsAround {
 public:
  virtual ~AgentsAround() = default;
  // May the agent, if it goes on, bring about what a thread waits for? Of one that is done: might it have?
  virtual bool MaySignal(AgentId waiter, const WaitTarget& target, scheduler::AgentOrdinal other) const = 0;
  virtual std::string NameOf(scheduler::AgentOrdinal other) const = 0;  // of one that is done too; "": not known
  virtual const AsyncRequest* RequestOf(
      scheduler::AgentOrdinal engine) const = 0;                   // in flight; nullptr: it is no engine's operation
  virtual void EngineResumes(scheduler::AgentOrdinal engine) = 0;  // from here on no thread runs
  virtual void EngineEnds(scheduler::AgentOrdinal engine) = 0;
};

// Until what a thread waits for is there.
class ThreadWait final : public scheduler::Condition {
 public:
  // Both outlive it.
  ThreadWait(const ThreadMachine& machine, const AgentsAround& around) : machine_(machine), around_(around) {}
  // From here on it is this wait; the operation touches and needs what the target says. A target of nothing: nothing.
  void Ask(AgentId thread, const WaitTarget& target, scheduler::Operation* operation);

  bool Ready() const override { return what_->CanWait(thread_, target_); }
  std::string Describe() const override { return what_->Describe(thread_, target_); }
  bool MaySignal(scheduler::AgentOrdinal other) const override { return around_.MaySignal(thread_, target_, other); }
  std::optional<scheduler::Need> Needs() const override { return what_->Needs(thread_, target_); }
  std::string NameOf(scheduler::AgentOrdinal other) const override { return around_.NameOf(other); }

 private:
  const ThreadMachine& machine_;
  const AgentsAround& around_;
  AgentId thread_;
  WaitTarget target_;
  const Waitable* what_ = nullptr;  // asked for last
};

// One operation of an engine: its reading, then its writing.
class EngineAgent final : public scheduler::Agent {
 public:
  // Both outlive it.
  EngineAgent(ThreadMachine& machine, AgentId operation, AgentsAround& around);
  scheduler::Operation Next() const;                                                      // what it does next
  const AsyncRequest& request() const { return machine_.model().RequestOf(operation_); }  // while it is in flight
  void SetOrdinal(scheduler::AgentOrdinal ordinal) { ordinal_ = ordinal; }

  absl::Status Resume(scheduler::Gate& gate) override;
  bool done() const override { return done_; }
  std::string Name() const override { return machine_.model().agents().NameOf(operation_); }
  // A block that comes for a later program is in no hurry: in program order it is there when its core waits for it.
  AgentRole role() const override { return may_be_late_ ? AgentRole::kThread : AgentRole::kOperation; }

 private:
  class HalfReady final : public scheduler::Condition {
   public:
    explicit HalfReady(const EngineAgent& agent) : agent_(agent) {}
    bool Ready() const override { return agent_.machine_.operations().CanPerform(agent_.operation_, agent_.half_); }
    std::string Describe() const override { return "the operations before it in its queue"; }
    bool MaySignal(scheduler::AgentOrdinal other) const override;

   private:
    const EngineAgent& agent_;
  };

  ThreadMachine& machine_;
  AgentId operation_;
  AgentsAround& around_;
  scheduler::AgentOrdinal ordinal_;
  Half half_;
  const bool may_be_late_;
  HalfReady ready_{*this};
  bool done_ = false;
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_ASKING_H_
