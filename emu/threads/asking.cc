#include "emu/threads/asking.h"

#include <algorithm>

namespace palladion::threads {

void ThreadWait::Ask(AgentId thread, const WaitTarget& target, scheduler::Operation* operation) {
  thread_ = thread;
  target_ = target;
  if (target.kind == WaitTarget::Kind::kNothing) return;
  operation->waits_for = this;
  operation->waits_on = machine_.ObjectOf(thread, target);
  operation->footprint = scheduler::Footprint::Writes(operation->waits_on);
}

bool Tells(const ThreadMachine& machine, const AsyncRequest& request, AgentId waiter, const WaitTarget& target) {
  if (target.kind == WaitTarget::Kind::kGroups) return machine.queues().Awaits(waiter, target.queue, request.queue);
  const bool of_threads = target.kind == WaitTarget::Kind::kMeeting || target.kind == WaitTarget::Kind::kSpawned ||
                          target.kind == WaitTarget::Kind::kNamedBarrier;
  if (of_threads) return false;
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
  if (request == nullptr) return false;
  return request->queue == agent_.request().queue ||
         (request->pipelined.has_value() && agent_.request().pipelined.has_value());
}

scheduler::Operation EngineAgent::Next() const {
  const AsyncRequest& asked = request();
  scheduler::Operation next{.loc = asked.site.loc, .text_line = asked.site.text_line};
  if (asked.queue.valid()) {
    const std::int64_t queue = machine_.queues().ObjectOf(asked.queue);
    next.waits_for = &ready_;
    if (!machine_.model().FollowsOutsideItsQueue(operation_)) next.waits_on = queue;
    next.footprint.Add({.object = queue});
  }
  if (asked.pipelined.has_value()) {  // it begins where those that it follows have ended
    const std::int64_t block = machine_.model().agents().PlaceOf(operation_).at(PlaceLevel::kBlock);
    next.footprint.Add({.object = TensorCoreObjectOf(block), .writes = half_ == Half::kWrite});
  }
  for (const Completion& completion : asked.completions) {
    if (completion.after == half_) next.footprint.Add({.object = ObjectOf(completion)});
  }
  const bool reads = half_ == Half::kRead;
  for (const AsyncOperand& operand : reads ? asked.sources : asked.destinations)
    next.footprint.Add({.object = operand.buffer().value, .writes = !reads});
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
