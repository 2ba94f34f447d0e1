#include "emu/run/threads/asking.h"

#include "emu/run/threads/footprints.h"

namespace palladion::threads {

void ThreadWait::Ask(AgentId thread, const WaitTarget& target, scheduler::Operation* operation) {
  thread_ = thread;
  target_ = target;
  if (!Waitables::IsWait(target)) return;
  what_ = &machine_.waitables().Of(target);
  const scheduler::Touch touch = what_->TouchOf(thread, target);  // of Waitable::Object
  operation->waits_for = this;
  operation->waits_on = touch.object;
  operation->footprint = scheduler::Footprint().Add(touch);
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
  const AsyncRequest& async = request();
  scheduler::Operation next{.footprint = FootprintOf(machine_, HalfRequest{operation_, half_}),
                            .loc = async.site.loc,
                            .text_line = async.site.text_line};
  if (!async.queue.valid()) return next;
  next.waits_for = &ready_;
  if (!machine_.model().FollowsOutsideItsQueue(operation_)) next.waits_on = machine_.queues().ObjectOf(async.queue);
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
