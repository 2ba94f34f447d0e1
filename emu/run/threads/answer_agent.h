// One answer that a request for work may get, as an agent of the scheduler. A request has several of them; which one a
// policy lets go first is the answer, so that replay strings and searches have that choice like any other. The others
// do nothing when their turn comes. Limits: launch_control.h decides which answers there are.
#ifndef PALLADION_EMU_RUN_THREADS_ANSWER_AGENT_H_
#define PALLADION_EMU_RUN_THREADS_ANSWER_AGENT_H_

#include <memory>
#include <string>

#include "emu/run/threads/asking.h"
#include "emu/run/threads/thread_machine.h"
#include "scheduler/agent.h"

namespace palladion::threads {

class AnswerAgent final : public scheduler::Agent {
 public:
  // What the answers of one request share.
  struct Request {
    AgentId operation;
    bool answered = false;
  };

  // Machine and `around` outlive it.
  AnswerAgent(ThreadMachine& machine, std::shared_ptr<Request> request, WorkChoice choice, AgentsAround& around);
  const scheduler::Operation& Next() const { return next_; }
  void SetOrdinal(scheduler::AgentOrdinal ordinal) { ordinal_ = ordinal; }

  absl::Status Resume(scheduler::Gate& gate) override;
  bool done() const override { return done_; }
  std::string Name() const override { return name_; }
  AgentRole role() const override { return AgentRole::kOperation; }

 private:
  ThreadMachine& machine_;
  std::shared_ptr<Request> request_;
  const WorkChoice choice_;
  AgentsAround& around_;
  scheduler::AgentOrdinal ordinal_;
  scheduler::Operation next_;
  std::string name_;
  bool done_ = false;
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_ANSWER_AGENT_H_
