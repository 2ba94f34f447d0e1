// The queues of the asynchronous operations that threads start. Each thread has queues for its wgmma groups and for its
// reads and writes of tensor memory; each lane has queues for its groups of copies to global memory and for what it has
// issued to the tensor core; each link between devices has one, if links keep the order of copies. Based on: PTX, where
// the executing thread commits and awaits its own bulk async-groups. Limits: the engine (memory_model/engine) decides
// what the order of a queue means.
#ifndef PALLADION_EMU_RUN_THREADS_ASYNC_QUEUES_H_
#define PALLADION_EMU_RUN_THREADS_ASYNC_QUEUES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "emu/run/threads/machine_base.h"
#include "scheduler/operation.h"

namespace palladion::threads {

// Of blocks that are copied beside the bodies.
inline bool IsOfPipeline(AsyncQueue queue) { return queue == AsyncQueue::kFetches || queue == AsyncQueue::kFlushes; }

class AsyncQueues {
 public:
  explicit AsyncQueues(const MachineBase& base) : base_(base) {}

  // Where the thread's next operation goes; invalid: in no queue.
  QueueId ForIssue(AgentId thread, AsyncQueue queue);
  QueueId Link(std::int64_t from, std::int64_t to);  // by the devices' numbers

  void CommitGroup(AgentId thread, AsyncQueue queue);
  // A wait for the thread's groups: may it go on?
  bool CanAwait(AgentId thread, const WaitTarget& target) const;
  void Await(AgentId thread, const WaitTarget& target, const CodeSite& site);
  bool Awaits(AgentId thread, AsyncQueue kind, QueueId queue) const;  // does such a wait look there?

  std::int64_t ObjectOf(QueueId queue) const { return objects_.at(queue.value); }
  std::int64_t ObjectOf(AgentId thread, AsyncQueue queue) const;  // of all of these

  // What a wait for the thread's groups touches: of a TPU's pipeline, the copies that it waits for; those that may
  // still be in flight after it come before or after it, with no visible difference.
  scheduler::Touch TouchOf(AgentId thread, const WaitTarget& target) const;
  // Of a half of such a copy.
  scheduler::Touch TouchOf(QueueId queue, AgentId copy) const {
    return {.object = ObjectOf(queue), .first = copy.value, .last = copy.value};
  }

  void RetireThread(AgentId thread);

  std::size_t size() const { return objects_.size(); }

 private:
  using Queues = absl::InlinedVector<QueueId, 4>;  // a warpgroup stores in one for each of its warps
  Queues Awaited(AgentId thread, AsyncQueue queue) const;

  const MachineBase base_;
  absl::flat_hash_map<std::int32_t, std::int64_t> objects_;         // of schedules, by queue
  std::map<std::pair<std::int64_t, std::int64_t>, QueueId> links_;  // from, to
};

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_ASYNC_QUEUES_H_
