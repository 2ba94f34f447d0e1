// An agent whose body is a plain C++ function on a stack of its own: for unit tests of the scheduler and the memory
// model, and for kernels written in C++. Built on Boost.Coroutine2; no other file includes it. A body that is still
// blocked when its agent is destroyed is unwound first, so its destructors run; it must let AgentStopped pass, and its
// destructors must not ask the gate.
#ifndef PALLADION_SCHEDULER_COROUTINE_AGENT_H_
#define PALLADION_SCHEDULER_COROUTINE_AGENT_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/agent.h"

namespace palladion::scheduler {

// What a body sees.
class AgentContext {
 public:
  virtual ~AgentContext() = default;
  // Returns when the operation may be done: other agents may have run before, and none runs until the next call.
  virtual void Go(const Operation& operation) = 0;
  virtual AgentOrdinal Spawn(std::shared_ptr<Agent> agent, const Operation& first) = 0;
};

// Thrown through the body of an agent that is destroyed before it is done.
class AgentStopped {};

class CoroutineAgent final : public Agent {
 public:
  using Body = std::function<void(AgentContext&)>;
  CoroutineAgent(std::string name, Body body, AgentRole role = AgentRole::kProgram);
  ~CoroutineAgent() override;
  CoroutineAgent(const CoroutineAgent&) = delete;
  CoroutineAgent& operator=(const CoroutineAgent&) = delete;

  absl::Status Resume(Gate& gate) override;
  bool done() const override;
  std::string Name() const override { return name_; }
  AgentRole role() const override { return role_; }

 private:
  class Stack;
  std::string name_;
  AgentRole role_;
  std::unique_ptr<Stack> stack_;
};

// The agents of a list, in its order.
class AgentList final : public AgentSource {
 public:
  explicit AgentList(std::vector<std::unique_ptr<Agent>> agents) : agents_(std::move(agents)) {}
  absl::StatusOr<Agent*> Next() override { return next_ < agents_.size() ? agents_[next_++].get() : nullptr; }

 private:
  std::vector<std::unique_ptr<Agent>> agents_;
  std::size_t next_ = 0;
};

}  // namespace palladion::scheduler

#endif  // PALLADION_SCHEDULER_COROUTINE_AGENT_H_
