#include "emu/threads/async_queues.h"

#include <algorithm>

#include "emu/threads/schedule_objects.h"

namespace palladion::threads {
namespace {

memory_model::QueueOrder OrderOf(AsyncQueue queue) {
  switch (queue) {
    case AsyncQueue::kMma:
      return memory_model::QueueOrder::kSerial;
    case AsyncQueue::kStores:
      return memory_model::QueueOrder::kHalves;
    case AsyncQueue::kTensorCore:
      return memory_model::QueueOrder::kIssued;
    default:
      return memory_model::QueueOrder::kNone;
  }
}

QueueId& OfLane(std::vector<QueueId>& lanes, std::size_t lane) {
  if (lanes.size() <= lane) lanes.resize(lane + 1);
  return lanes[lane];
}

// The thread's own queue; of those that each lane has for itself, the lane's.
QueueId& QueueOf(Thread& owner, std::size_t lane, AsyncQueue queue) {
  switch (queue) {
    case AsyncQueue::kMma:
      return owner.mma;
    case AsyncQueue::kTmemLoads:
      return owner.tmem_loads;
    case AsyncQueue::kTmemStores:
      return owner.tmem_stores;
    case AsyncQueue::kTensorCore:
      return OfLane(owner.tensor_core, lane);
    default:
      return OfLane(owner.stores, lane);
  }
}

}  // namespace

QueueId AsyncQueues::ForIssue(AgentId id, AsyncQueue queue) {
  if (queue == AsyncQueue::kNone) return {};
  Thread& thread = base_.residents.Of(id);
  Thread& owner = thread.is_warp() ? base_.residents.Of(thread.parent) : thread;
  QueueId& mine = QueueOf(owner, thread.lane(), queue);
  if (mine.valid()) return mine;
  mine = base_.model.MakeQueue(OrderOf(queue));
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
AsyncQueues::Queues AsyncQueues::Awaited(AgentId id, AsyncQueue queue) const {
  const Thread& thread = base_.residents.Of(id);
  const Thread& owner = base_.residents.OwnerOf(thread);
  Queues queues;
  const QueueId whole = queue == AsyncQueue::kMma          ? owner.mma
                        : queue == AsyncQueue::kTmemLoads  ? owner.tmem_loads
                        : queue == AsyncQueue::kTmemStores ? owner.tmem_stores
                                                           : QueueId{};
  if (whole.valid()) queues.push_back(whole);
  for (std::size_t lane = 0; queue == AsyncQueue::kStores && lane < owner.stores.size(); ++lane) {
    const bool asks = !thread.is_warp() || lane == thread.warp;
    if (asks && owner.stores[lane].valid()) queues.push_back(owner.stores[lane]);
  }
  return queues;
}

bool AsyncQueues::Awaits(AgentId thread, AsyncQueue kind, QueueId queue) const {
  const Queues queues = Awaited(thread, kind);
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
  const Queues queues = Awaited(id, target.queue);
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
  const auto retire = [this](QueueId queue) {
    if (!queue.valid()) return;
    objects_.erase(queue.value);
    base_.model.Retire(queue);
  };
  for (const QueueId queue : {thread.mma, thread.tmem_loads, thread.tmem_stores}) retire(queue);
  for (const QueueId queue : thread.stores) retire(queue);
  for (const QueueId queue : thread.tensor_core) retire(queue);
}

}  // namespace palladion::threads
