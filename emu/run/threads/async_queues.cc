#include "emu/run/threads/async_queues.h"

#include <algorithm>

#include "emu/run/threads/schedule_objects.h"

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

// Of tensor memory: what a warpgroup does there all its warps do, each its part.
std::size_t PlaceInTmem(const Thread& thread) { return thread.is_warp() ? thread.warp + 1 : 0; }

// The thread's own queue; of those that each lane has for itself, the lane's.
QueueId& QueueOf(Thread& owner, const Thread& thread, AsyncQueue queue) {
  switch (queue) {
    case AsyncQueue::kMma:
      return owner.mma;
    case AsyncQueue::kTmemLoads:
      return OfLane(owner.tmem_loads, PlaceInTmem(thread));
    case AsyncQueue::kTmemStores:
      return OfLane(owner.tmem_stores, PlaceInTmem(thread));
    case AsyncQueue::kTensorCore:
      return OfLane(owner.tensor_core, thread.lane());
    case AsyncQueue::kFetches:
      return owner.fetches;
    case AsyncQueue::kFlushes:
      return owner.flushes;
    default:
      return OfLane(owner.stores, thread.lane());
  }
}

}  // namespace

QueueId AsyncQueues::ForIssue(AgentId id, AsyncQueue queue) {
  if (queue == AsyncQueue::kNone) return {};
  Thread& thread = base_.residents.Of(id);
  Thread& owner = thread.is_warp() ? base_.residents.Of(thread.parent) : thread;
  QueueId& mine = QueueOf(owner, thread, queue);
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
// bulk async-groups, and its tcgen05.ld and .st); a warp in its own. A lane that has issued nothing yet has only empty
// groups, for which no wait has to wait.
AsyncQueues::Queues AsyncQueues::Awaited(AgentId id, AsyncQueue queue) const {
  const Thread& thread = base_.residents.Of(id);
  const Thread& owner = base_.residents.OwnerOf(thread);
  Queues queues;
  const QueueId one = queue == AsyncQueue::kMma       ? owner.mma
                      : queue == AsyncQueue::kFetches ? owner.fetches
                      : queue == AsyncQueue::kFlushes ? owner.flushes
                                                      : QueueId();
  if (one.valid()) queues.push_back(one);
  const std::vector<QueueId>* const lanes = queue == AsyncQueue::kStores       ? &owner.stores
                                            : queue == AsyncQueue::kTmemLoads  ? &owner.tmem_loads
                                            : queue == AsyncQueue::kTmemStores ? &owner.tmem_stores
                                                                               : nullptr;
  const std::size_t own = queue == AsyncQueue::kStores ? thread.lane() : PlaceInTmem(thread);
  for (std::size_t lane = 0; lanes != nullptr && lane < lanes->size(); ++lane) {
    const bool asks = !thread.is_warp() || lane == own;
    if (asks && (*lanes)[lane].valid()) queues.push_back((*lanes)[lane]);
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

void AsyncQueues::Await(AgentId thread, const WaitTarget& target, const CodeSite& site) {
  for (const QueueId queue : Awaited(thread, target.queue)) {
    base_.model.AwaitGroups(thread, queue,
                            {.may_remain = static_cast<std::size_t>(target.value),
                             .half = target.reads_only ? Half::kRead : Half::kWrite,
                             .promised = target.promised,
                             .site = site});
  }
}

std::int64_t AsyncQueues::ObjectOf(AgentId id, AsyncQueue queue) const {
  const Thread& thread = base_.residents.Of(id);
  return QueueObjectOf(thread.is_warp() ? thread.parent : id, queue);
}

scheduler::Touch AsyncQueues::TouchOf(AgentId thread, const WaitTarget& target) const {
  scheduler::Touch touch{.object = ObjectOf(thread, target.queue)};
  if (!IsOfPipeline(target.queue)) return touch;
  touch.last = -1;
  for (const QueueId queue : Awaited(thread, target.queue)) {
    for (const AgentId copy : base_.model.GroupsBut(queue, static_cast<std::size_t>(target.value)))
      touch.last = std::max<std::int64_t>(touch.last, copy.value);
  }
  return touch;
}

void AsyncQueues::RetireThread(AgentId id) {
  Thread& thread = base_.residents.Of(id);
  const auto retire = [this](QueueId queue) {
    if (!queue.valid()) return;
    objects_.erase(queue.value);
    base_.model.Retire(queue);
  };
  for (const QueueId queue : {thread.mma, thread.fetches, thread.flushes}) retire(queue);
  for (const auto* lanes : {&thread.stores, &thread.tensor_core, &thread.tmem_loads, &thread.tmem_stores}) {
    for (const QueueId queue : *lanes) retire(queue);
  }
}

}  // namespace palladion::threads
