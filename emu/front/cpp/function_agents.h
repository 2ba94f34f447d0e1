// The threads of a FunctionKernel, and the phases of their asynchronous operations, as agents of the scheduler. Blocks
// begin one after another, lowest first, about a thousand threads at a time.
#ifndef PALLADION_EMU_FRONT_CPP_FUNCTION_AGENTS_H_
#define PALLADION_EMU_FRONT_CPP_FUNCTION_AGENTS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "emu/front/cpp/function_machine.h"
#include "emu/front/cpp/function_thread.h"
#include "emu/run/threads/agents_in_flight.h"
#include "scheduler/agent.h"
#include "scheduler/coroutine_agent.h"

namespace palladion {

// A thread: its function on a stack of its own. Where the function has failed, what the machine says about it.
class FunctionAgent final : public scheduler::Agent {
 public:
  // Both outlive it.
  FunctionAgent(FunctionMachine& machine, FunctionThread& body)
      : machine_(machine),
        coroutine_(
            machine.gpu().NameOf(body.id()), [&body](scheduler::AgentContext& context) { body.Main(context); },
            AgentRole::kThread) {}

  absl::Status Resume(scheduler::Gate& gate) override;
  bool done() const override { return coroutine_.done(); }
  std::string Name() const override { return coroutine_.Name(); }
  AgentRole role() const override { return coroutine_.role(); }

 private:
  const FunctionMachine& machine_;
  scheduler::CoroutineAgent coroutine_;
};

class FunctionAgents final : public scheduler::AgentSource, public threads::AgentsInFlight {
 public:
  explicit FunctionAgents(FunctionMachine& machine);

  absl::StatusOr<scheduler::Agent*> Next() override;
  bool Ready() const override {
    return next_ % machine_.threads() != 0 ||
           static_cast<std::int64_t>(threads_.size()) + machine_.threads() <= kMaxThreads;
  }
  void Retire(scheduler::Agent* agent) override;

  std::string NameOf(scheduler::AgentOrdinal) const override { return ""; }
  void EngineResumes(scheduler::AgentOrdinal) override { running_ = {}; }
  const FunctionThread* FirstUnfinished() const { return threads_.empty() ? nullptr : &*threads_.begin()->second.body; }
  std::int64_t unfinished() const { return static_cast<std::int64_t>(threads_.size()) + threads_in_all_ - next_; }

 private:
  static constexpr std::int64_t kMaxThreads = 1024;
  // The agent goes first: its function may still hold on to the body.
  struct Thread {
    std::unique_ptr<FunctionThread> body;
    std::unique_ptr<FunctionAgent> agent;
  };
  // What a function will do is not known, so any that can reach the object may. Of one that is done: no.
  bool ThreadMaySignal(AgentId waiter, const WaitTarget& target, const Signaller& other) const override;
  void Spawn(AgentId operation);

  FunctionMachine& machine_;
  RunningThread running_;
  std::int64_t threads_in_all_ = 0, next_ = 0;
  AgentId first_;                           // of the block that begins
  std::map<std::int64_t, Thread> threads_;  // that have begun and not ended, by number in the launch
  std::map<const scheduler::Agent*, std::int64_t> numbers_;
};

}  // namespace palladion

#endif  // PALLADION_EMU_FRONT_CPP_FUNCTION_AGENTS_H_
