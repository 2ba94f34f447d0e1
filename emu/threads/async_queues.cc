#include "emu/threads/async_queues.h"

#include <algorithm>

#include "emu/threads/schedule_objects.h"

namespace palladion::threads {

QueueId AsyncQueues::ForIssue(AgentId id, AsyncQueue queue) {
  if (queue == AsyncQueue::kNone) return {};
  Thread& thread = base_.residents.Of(id);
  Thread& owner = thread.is_warp() ? base_.residents.Of(thread.parent) : thread;
  const std::size_t lane = thread.lane();
  if (owner.stores.size() <= lane) owner.stores.resize(lane + 1);
  QueueId& mine = queue == AsyncQueue::kMma ? owner.mma : owner.stores[lane];
  if (mine.valid()) return mine;
  mine = base_.model.MakeQueue(queue == AsyncQueue::kMma ? memory_model::QueueOrder::kSerial
                                                         : memory_model::QueueOrder::kHalves);
  objects_[mine.value] = ObjectOf(id, queue);
  return mine;
}

QueueId AsyncQueues::Link(std::int64_t from, std::int64_t to) {
  QueueId& link = links_[{from, to}];
  if (link.valid()) return link;
  link = base_.model.MakeQueue(memory_model::QueueOrder::kLanding);
  objects_[link.value] = LinkObjectOf(link);
  return link;
}

// A warpgroup commits and waits in all of its lanes, each for what it has issued itself (PTX: the executing thread's
// bulk async-groups); a warp in its own. A lane that has issued nothing yet has only empty groups, which no wait tells
// from none.
std::vector<QueueId> AsyncQueues::Awaited(AgentId id, AsyncQueue queue) const {
  const Thread& thread = base_.residents.Of(id);
  const Thread& owner = base_.residents.OwnerOf(thread);
  std::vector<QueueId> queues;
  if (queue == AsyncQueue::kMma && owner.mma.valid()) queues.push_back(owner.mma);
  for (std::size_t lane = 0; queue == AsyncQueue::kStores && lane < owner.stores.size(); ++lane) {
    const bool asks = !thread.is_warp() || lane == thread.warp;
    if (asks && owner.stores[lane].valid()) queues.push_back(owner.stores[lane]);
  }
  return queues;
}

bool AsyncQueues::Awaits(AgentId thread, AsyncQueue kind, QueueId queue) const {
  const std::vector<QueueId> queues = Awaited(thread, kind);
  return std::find(queues.begin(), queues.end(), queue) != queues.end();
}

void AsyncQueues::CommitGroup(AgentId thread, AsyncQueue queue) {
  for (const QueueId mine : Awaited(thread, queue)) base_.model.CommitGroup(mine);
}

bool AsyncQueues::CanAwait(AgentId id, const WaitTarget& target) const {
  const auto may_go = [&](QueueId queue) {
    return base_.model.CanAwaitGroups(queue, static_cast<std::size_t>(target.value),
                                      target.reads_only ? Half::kRead : Half::kWrite);
  };
  if (target.queue == AsyncQueue::kMma) {  // asked often: no list
    const QueueId mma = base_.residents.OwnerOf(base_.residents.Of(id)).mma;
    return !mma.valid() || may_go(mma);
  }
  const std::vector<QueueId> queues = Awaited(id, target.queue);
  return std::all_of(queues.begin(), queues.end(), may_go);
}

void AsyncQueues::Await(AgentId thread, const WaitTarget& target) {
  for (const QueueId queue : Awaited(thread, target.queue)) {
    base_.model.AwaitGroups(thread, queue, static_cast<std::size_t>(target.value),
                            target.reads_only ? Half::kRead : Half::kWrite);
  }
}

std::int64_t AsyncQueues::ObjectOf(AgentId id, AsyncQueue queue) const {
  const Thread& thread = base_.residents.Of(id);
  return QueueObjectOf(thread.is_warp() ? thread.parent : id, queue);
}

void AsyncQueues::RetireThread(AgentId id) {
  Thread& thread = base_.residents.Of(id);
  thread.stores.push_back(thread.mma);
  for (const QueueId queue : thread.stores) {
    if (!queue.valid()) continue;
    objects_.erase(queue.value);
    base_.model.Retire(queue);
  }
}

}  // namespace palladion::threads
