#include "emu/front/cpp/function_requests.h"

#include <exception>
#include <utility>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion {

FunctionRequests::FunctionRequests(FunctionMachine& machine, RunningThread& running,
                                   const threads::AgentsAround& around, AgentId id, std::vector<std::int64_t> index)
    : machine_(machine), running_(running), id_(id), index_(std::move(index)), wait_(machine.gpu(), around) {
  for (std::size_t d = 0; d + 1 < index_.size(); ++d) block_ = block_ * machine_.kernel().grid[d] + index_[d];
  site_.program = index_;
}

void FunctionRequests::Begin(scheduler::AgentContext& agent) {
  agent_ = &agent;
  running_ = {this, &agent};
  gpu().SetCurrent(id_);
  machine_.memory().Running({.id = id_, .index = index_, .begins = true});
}

// A thread that is given up leaves its function by AgentStopped; requests of its destructors meanwhile are not carried
// out. A destructor must not throw while a scope unwinds, so requests without an answer are ignored, for a while.
bool FunctionRequests::GivenUp(Answer answer) {
  constexpr int kMaxSilent = 1000;
  stopped_ = true;
  if (std::uncaught_exceptions() == 0 && (answer == Answer::kMatters || ++silent_ > kMaxSilent))
    throw scheduler::AgentStopped();
  return false;
}

bool FunctionRequests::Request(const scheduler::Operation& operation, Answer answer) {
  if (stopped_) return GivenUp(answer);
  bool stopped = false;
  try {
    agent_->Go(operation);
  } catch (const scheduler::AgentStopped&) {
    stopped = true;
  }
  if (stopped) return GivenUp(answer);
  if (running_.requests != this) machine_.memory().Running({.id = id_, .index = index_});
  running_ = {this, agent_};
  gpu().SetCurrent(id_);
  return true;
}

void FunctionRequests::Refuse(const absl::Status& status) {
  const std::string text =
      Cat(machine_.places().TextOf(site_.loc), ": ", ToStd(status.message()), " (", gpu().NameOf(id_), ")");
  machine_.Fail(absl::Status(status.code(), ToAbsl(text)));
  throw KernelError(text);
}

void FunctionRequests::Refuse(const std::string& what) { Refuse(absl::InvalidArgumentError(what)); }

void FunctionRequests::WaitFor(const WaitTarget& target) {
  scheduler::Operation waiting{.loc = site_.loc};
  wait_.Ask(id_, target, &waiting);
  if (Request(waiting, Answer::kMatters)) Expect(gpu().Wait(target, site_));
}

}  // namespace palladion
