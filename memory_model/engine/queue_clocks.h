// Clocks of asynchronous operations in one queue, where the queue orders them: in a serial queue each operation happens
// after all before it; over an ordered link a write happens after those before it, and acquiring one acquires all
// before it. Plain data: a copy is a snapshot. What it does not know: which operations are in flight (AsyncEngine).
#ifndef PALLADION_MEMORY_MODEL_ENGINE_QUEUE_CLOCKS_H_
#define PALLADION_MEMORY_MODEL_ENGINE_QUEUE_CLOCKS_H_

#include <utility>

#include "memory_model/order/agents.h"
#include "memory_model/order/clock.h"
#include "semantics/base/ids.h"
#include "semantics/base/live_table.h"

namespace palladion::memory_model {

class QueueClocks {
 public:
  void Add() {
    issued_.Add();
    landed_.Add();
  }
  void Retire(QueueId queue) {
    issued_.Retire(queue);
    landed_.Retire(queue);
  }

  // All operations of the queue so far, as complete.
  const ClockBundle& Issued(QueueId queue) const { return issued_[queue]; }
  // `knows_all`: the operation's fork has all of them already.
  void Issue(AgentId operation, QueueId queue, const AgentTable& agents, bool knows_all) {
    ClockBundle& all = issued_[queue];
    knows_all ? void(all = agents.Fork(operation)) : all.Join(agents.Fork(operation));
    agents.AddCompletionOf(operation, static_cast<std::uint32_t>(Half::kWrite), &all);
  }

  // A write has come over the link and releases `told`: with what all before it released.
  ClockBundle Land(QueueId link, ClockBundle released) {
    released.Join(landed_[link]);
    return landed_[link] = std::move(released);
  }

  void Forget(Remaining& remaining) {
    for (auto* clocks : {&issued_, &landed_})
      clocks->ForEach([&](QueueId, ClockBundle& clock) { clock.Forget(remaining); });
  }

 private:
  LiveTable<QueueId, ClockBundle> issued_, landed_;
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_ENGINE_QUEUE_CLOCKS_H_
