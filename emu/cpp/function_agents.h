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
#include "emu/gpu/asking.h"
#include "scheduler/agent.h"
#include "scheduler/coroutine_agent.h"

namespace palladion {

class FunctionAgents final : public AgentSource, public AgentsAround {
 public:
  explicit FunctionAgents(FunctionMachine& machine);
  FunctionAgents(const FunctionAgents&) = delete;
  FunctionAgents& operator=(const FunctionAgents&) = delete;

  absl::StatusOr<Agent*> Next() override;
  bool Ready() const override { return next_ % machine_.threads() != 0 || live_ + machine_.threads() <= kMaxThreads; }
  void Retire(Agent* agent) override;

  // What a function will do is not known, so any that can reach the object may. Of one that is done: no.
  bool MaySignal(ThreadId waiter, const WaitTarget& target, AgentId other) const override;
  std::string NameOf(AgentId) const override { return ""; }
  const AsyncRequest* RequestOf(AgentId engine) const override;
  void EngineResumes(AgentId) override { running_ = {}; }
  void EngineEnds(AgentId engine) override { started_[engine.index()].engine = nullptr; }
  const FunctionThread* FirstUnfinished() const { return threads_.empty() ? nullptr : &*threads_.begin()->second.body; }
  std::int64_t unfinished() const { return static_cast<std::int64_t>(threads_.size()) + threads_in_all_ - next_; }
  bool engines() const { return engines_; }

 private:
  static constexpr std::int64_t kMaxThreads = 1024;
  // Whoever the run loop started, by its number, while it is under way.
  struct Started {
    ThreadId thread;
    const EngineAgent* engine = nullptr;
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
