// Waits until at most so many groups of a queue of the thread's own are in flight: of copies, wgmma, accesses to tensor
// memory (async_queues.h).
#include <string_view>

#include "emu/run/threads/thread_touches.h"
#include "emu/run/threads/waitables.h"
#include "semantics/base/cat.h"

namespace palladion::threads {
namespace {

std::string_view WordFor(AsyncQueue queue) {
  switch (queue) {
    case AsyncQueue::kMma:
      return "wgmma";
    case AsyncQueue::kTmemLoads:
      return "reads of tensor memory";
    case AsyncQueue::kTmemStores:
      return "writes of tensor memory";
    case AsyncQueue::kFetches:
      return "copies of blocks from their arrays";
    case AsyncQueue::kFlushes:
      return "copies of blocks to their arrays";
    default:
      return "copies to global memory";
  }
}

class OfGroups final : public Waitable {
 public:
  OfGroups(const MachineBase& base, AsyncQueues& queues) : base_(base), queues_(queues) {}

  bool CanWait(AgentId thread, const WaitTarget& target) const override { return queues_.CanAwait(thread, target); }
  void Wait(AgentId thread, const WaitTarget& target, const Site& site) override {
    if (target.queue != AsyncQueue::kMma) base_.memory.NotifyLanesMet();
    queues_.Await(thread, target, CodeSite::Of(site));
  }
  ShownWait ShowWait(AgentId agent, const WaitTarget& target) const override {
    ShownWait shown = Waitable::ShowWait(agent, target);
    if (target.value > 0) Append(&shown.words, ", all but ", target.value);
    shown.acquires = ShownWait::Acquires::kQueued;
    return shown;
  }
  std::string Describe(AgentId, const WaitTarget& target) const override {
    return Cat("all but ", target.value, " of its groups of ", WordFor(target.queue));
  }
  std::string Name(AgentId, const WaitTarget& target) const override { return Cat("its ", WordFor(target.queue)); }
  std::int64_t Object(AgentId thread, const WaitTarget& target) const override {
    return queues_.ObjectOf(thread, target.queue);
  }
  scheduler::Touch TouchOf(AgentId thread, const WaitTarget& target) const override {
    return queues_.TouchOf(thread, target);
  }
  void ReportTouches(AgentId thread, const WaitTarget& target, ThreadTouches* touches) const override {
    touches->log().Add(scheduler::Touched{queues_.TouchOf(thread, target)});
  }
  bool EngineMaySignal(AgentId waiter, const WaitTarget& target, const AsyncRequest& request) const override {
    return queues_.Awaits(waiter, target.queue, request.queue);
  }
  std::optional<bool> ThreadMaySignal(AgentId, const Other&) const override { return false; }

 private:
  const MachineBase base_;
  AsyncQueues& queues_;
};

}  // namespace

std::unique_ptr<Waitable> GroupWaits(const WaitableParts& parts) {
  return std::make_unique<OfGroups>(parts.base, parts.queues);
}

}  // namespace palladion::threads
