#include "emu/run/threads/asking.h"

#include <algorithm>

#include "emu/run/threads/footprints.h"

namespace palladion::threads {

void ThreadWait::Ask(AgentId thread, const WaitTarget& target, scheduler::Operation* operation) {
  thread_ = thread;
  target_ = target;
  if (target.kind == WaitTarget::Kind::kNothing) return;
  operation->waits_for = this;
  operation->waits_on = machine_.ObjectOf(thread, target);
  operation->footprint = FootprintOf(machine_, thread, target);
}

std::optional<scheduler::Need> ThreadWait::Needs() const {
  if (target_.kind == WaitTarget::Kind::kSemaphore)
    return scheduler::Need{machine_.syncs().ObjectOf(target_.object), target_.value};
  if (target_.kind != WaitTarget::Kind::kBarrier) return std::nullopt;
  const memory_model::Barrier& barrier = machine_.model().Of(machine_.syncs().BarrierOf(target_.object));
  const std::optional<std::uint64_t> needed = barrier.NeededBy(thread_, machine_.model().agents());
  if (!needed.has_value()) return std::nullopt;
  return scheduler::Need{machine_.syncs().ObjectOf(target_.object), static_cast<std::int64_t>(*needed)};
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
      half_(request().sources.empty() ? Half::kWrite : Half::kRead),
      may_be_late_(request().block != nullptr && !request().block->flush) {}

bool EngineAgent::HalfReady::MaySignal(scheduler::AgentOrdinal other) const {
  const AsyncRequest* request = agent_.around_.RequestOf(other);
  if (request == nullptr) return false;
  return request->queue == agent_.request().queue ||
         (request->pipelined.has_value() && agent_.request().pipelined.has_value());
}

scheduler::Operation EngineAgent::Next() const {
  const AsyncRequest& asked = request();
  scheduler::Operation next{.footprint = FootprintOf(machine_, HalfRequest{operation_, half_}),
                            .loc = asked.site.loc,
                            .text_line = asked.site.text_line};
  if (!asked.queue.valid()) return next;
  next.waits_for = &ready_;
  if (!machine_.model().FollowsOutsideItsQueue(operation_)) next.waits_on = machine_.queues().ObjectOf(asked.queue);
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
