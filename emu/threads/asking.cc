#include "emu/threads/asking.h"

#include <algorithm>

namespace palladion::threads {

void ThreadWait::Ask(AgentId thread, const WaitTarget& target, scheduler::Operation* operation) {
  thread_ = thread;
  target_ = target;
  if (target.kind == WaitTarget::Kind::kNothing) return;
  operation->waits_for = this;
  operation->footprint = scheduler::Footprint::Writes(machine_.ObjectOf(thread, target));
}

bool Tells(const ThreadMachine& machine, const AsyncRequest& request, AgentId waiter, const WaitTarget& target) {
  if (target.kind == WaitTarget::Kind::kGroups) return machine.queues().Awaits(waiter, target.queue, request.queue);
  if (target.kind == WaitTarget::Kind::kMeeting || target.kind == WaitTarget::Kind::kSpawned) return false;
  return std::any_of(request.completions.begin(), request.completions.end(), [&](const Completion& completion) {
    return ObjectOf(completion) == machine.syncs().ObjectOf(target.object);
  });
}

EngineAgent::EngineAgent(ThreadMachine& machine, AgentId operation, AgentsAround& around)
    : machine_(machine),
      operation_(operation),
      around_(around),
      half_(request().sources.empty() ? Half::kWrite : Half::kRead) {}

bool EngineAgent::HalfReady::MaySignal(scheduler::AgentOrdinal other) const {
  const AsyncRequest* request = agent_.around_.RequestOf(other);
  return request != nullptr && request->queue == agent_.request().queue;
}

scheduler::Operation EngineAgent::Next() const {
  const AsyncRequest& asked = request();
  scheduler::Operation next{.loc = asked.site.loc, .text_line = asked.site.text_line};
  if (asked.queue.valid()) {
    next.waits_for = &ready_;
    next.footprint.Add({.object = machine_.queues().ObjectOf(asked.queue)});
  }
  if (half_ == Half::kRead) {
    for (const AsyncOperand& from : asked.sources) next.footprint.Add({.object = from.buffer().value, .writes = false});
    return next;
  }
  for (const AsyncOperand& to : asked.destinations) next.footprint.Add({.object = to.buffer().value});
  for (const Completion& completion : asked.completions) {
    next.footprint.Add({.object = ObjectOf(completion)});
  }
  return next;
}

absl::Status EngineAgent::Resume(scheduler::Gate& gate) {
  around_.EngineResumes(ordinal_);
  while (gate.TakeGrant() || gate.MayGo(Next())) {
    machine_.Perform(operation_, half_);
    if (half_ == Half::kWrite) {
      around_.EngineEnds(ordinal_);
      done_ = true;
      break;
    }
    half_ = Half::kWrite;
  }
  return absl::OkStatus();
}

}  // namespace palladion::threads
