// The threads of a FunctionKernel, and the halves of what engines do for them, as agents of the scheduler. Blocks begin
// one after another, lowest first, about a thousand threads at a time.
#ifndef PALLADION_EMU_CPP_FUNCTION_AGENTS_H_
#define PALLADION_EMU_CPP_FUNCTION_AGENTS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "emu/cpp/function_machine.h"
#include "emu/cpp/function_thread.h"
#include "scheduler/agent.h"
#include "scheduler/coroutine_agent.h"

namespace palladion {

class FunctionAgents;

// One operation of an engine: its reading, then its writing.
class FunctionEngine final : public Agent {
 public:
  FunctionEngine(FunctionMachine& machine, RunningThread& running, FunctionAgents& all, ClockId operation);
  Operation Next() const;
  void SetId(AgentId id) { id_ = id; }
  const AsyncRequest& request() const { return machine_.gpu().model().RequestOf(operation_); }  // while under way

  absl::Status Resume(Gate& gate) override;
  bool done() const override { return done_; }
  std::string Name() const override { return machine_.gpu().model().agents().NameOf(operation_); }
  bool engine() const override { return true; }

 private:
  class HalfReady final : public Condition {
   public:
    explicit HalfReady(const FunctionEngine& agent) : agent_(agent) {}
    bool Ready() const override { return agent_.machine_.gpu().CanPerform(agent_.operation_, agent_.half_); }
    std::string Describe() const override { return "the operations before it in its queue"; }
    bool MaySignal(AgentId other) const override;

   private:
    const FunctionEngine& agent_;
  };

  FunctionMachine& machine_;
  RunningThread& running_;
  FunctionAgents& all_;
  ClockId operation_;
  AgentId id_;
  Half half_;
  HalfReady ready_{*this};
  bool done_ = false;
};

class FunctionAgents final : public AgentSource {
 public:
  explicit FunctionAgents(FunctionMachine& machine);
  FunctionAgents(const FunctionAgents&) = delete;
  FunctionAgents& operator=(const FunctionAgents&) = delete;

  absl::StatusOr<Agent*> Next() override;
  bool Ready() const override { return next_ % machine_.threads() != 0 || live_ + machine_.threads() <= kMaxThreads; }
  void Retire(Agent* agent) override;

  // May the agent, if it goes on, bring about what a thread waits for? What a function will do is not known, so any
  // that can reach the object may. Of one that is done: no.
  bool MaySignal(ThreadId waiter, const WaitTarget& target, AgentId other) const;
  const FunctionEngine* EngineOf(AgentId agent) const { return started_[agent.index()].engine; }
  void EngineEnds(AgentId engine) { started_[engine.index()].engine = nullptr; }
  const FunctionThread* FirstUnfinished() const { return threads_.empty() ? nullptr : &*threads_.begin()->second.body; }
  std::int64_t unfinished() const { return static_cast<std::int64_t>(threads_.size()) + threads_in_all_ - next_; }
  bool engines() const { return engines_; }

 private:
  static constexpr std::int64_t kMaxThreads = 1024;
  // Whoever the run loop started, by its number, while it is under way.
  struct Started {
    ThreadId thread;
    const FunctionEngine* engine = nullptr;
  };
  // The agent goes first: its function may still hold on to the body.
  struct Thread {
    std::unique_ptr<FunctionThread> body;
    std::unique_ptr<CoroutineAgent> agent;
    AgentId id;
  };
  void Spawn(ClockId operation);

  FunctionMachine& machine_;
  RunningThread running_;
  std::int64_t threads_in_all_ = 0, next_ = 0, live_ = 0;
  ThreadId first_;  // of the block that begins
  bool engines_ = false;
  std::vector<Started> started_;
  std::map<std::int64_t, Thread> threads_;  // that are under way, by number in the launch
  std::map<const Agent*, std::int64_t> numbers_;
};

}  // namespace palladion

#endif  // PALLADION_EMU_CPP_FUNCTION_AGENTS_H_
