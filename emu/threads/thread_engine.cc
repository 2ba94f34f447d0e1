// Operations that engines perform for threads.
#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "emu/threads/thread_machine.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::threads {
namespace {

absl::InlinedVector<BufferId, 8> BuffersOf(const AsyncRequest& request) {
  absl::InlinedVector<BufferId, 8> buffers;
  for (const auto* operands : {&request.sources, &request.destinations}) {
    for (const AsyncOperand& operand : *operands) buffers.push_back(operand.buffer());
  }
  return buffers;
}

}  // namespace

QueueId ThreadMachine::MakeQueueOf(AgentId id, AsyncQueue queue) {
  if (queue == AsyncQueue::kNone) return {};
  const std::size_t lane = LaneOf(Of(id));
  Thread& owner = Of(id).parent.valid() ? Of(Of(id).parent) : Of(id);
  if (owner.stores.size() <= lane) owner.stores.resize(lane + 1);
  QueueId& mine = queue == AsyncQueue::kMma ? owner.mma : owner.stores[lane];
  if (mine.valid()) return mine;
  mine = model_.MakeQueue(queue == AsyncQueue::kMma ? memory_model::QueueOrder::kSerial
                                                    : memory_model::QueueOrder::kHalves);
  queue_objects_[mine.value] = QueueObject(id, queue);
  return mine;
}

// A warpgroup commits and waits in all of its lanes, each for what it has issued itself (PTX: the executing thread's
// bulk async-groups); a warp in its own. A lane that has issued nothing yet has only empty groups, which no wait tells
// from none.
std::vector<QueueId> ThreadMachine::QueuesOf(AgentId id, AsyncQueue queue) const {
  const Thread& thread = Of(id);
  const Thread& owner = thread.parent.valid() ? Of(thread.parent) : thread;
  std::vector<QueueId> queues;
  if (queue == AsyncQueue::kMma && owner.mma.valid()) queues.push_back(owner.mma);
  for (std::size_t lane = 0; queue == AsyncQueue::kStores && lane < owner.stores.size(); ++lane) {
    const bool asks = !thread.parent.valid() || lane == thread.warp;
    if (asks && owner.stores[lane].valid()) queues.push_back(owner.stores[lane]);
  }
  return queues;
}

bool ThreadMachine::Awaits(AgentId thread, AsyncQueue kind, QueueId queue) const {
  const std::vector<QueueId> queues = QueuesOf(thread, kind);
  return std::find(queues.begin(), queues.end(), queue) != queues.end();
}

Completion ThreadMachine::ArrivalAt(SyncElement barrier, std::int64_t shares) {
  return {.object = BarrierOf(barrier), .amount = units_ / shares};
}

Completion ThreadMachine::SignalAt(SyncElement semaphore, std::int64_t amount, CompletionUnit unit) {
  return {.object = SemaphoreOf(semaphore), .amount = amount, .unit = unit};
}

QueueId ThreadMachine::QueueOf(AsyncQueue queue) {
  return queue == AsyncQueue::kBlocks ? memory_.QueueOf(queue) : MakeQueueOf(current_, queue);
}

absl::Status ThreadMachine::Start(AsyncRequest&& request) {
  if (request.queue.valid() && request.queue == memory_.QueueOf(AsyncQueue::kBlocks))
    return memory_.Start(std::move(request));
  if (!request.queue.valid()) request.queue = LinkOf(request);
  if (request.await.empty() && !request.completions.empty()) {
    request.await = model_.Of(std::get<BarrierId>(request.completions[0].object)).WaitCall();
  }
  const auto touched = BuffersOf(request);
  memory_.TellIssued(request);
  const AgentId issuer = resuming_ == nullptr ? current_ : Before();
  PALLADION_ASSIGN_OR_RETURN(const AgentId operation, model_.Start(issuer, std::move(request)));
  if (!operand_semaphores_.empty()) NoteOnOperand(operation, model_.RequestOf(operation));
  cluster_of_[operation.value] = Of(Current().block).cluster;
  ++clusters_.at(Of(Current().block).cluster).under_way;
  for (const BufferId buffer : touched) ++pending_[buffer.value];
  spawn_(operation);
  return absl::OkStatus();
}

absl::Status ThreadMachine::CommitGroup(AsyncQueue queue, const Site&) {
  for (const QueueId mine : QueuesOf(current_, queue)) model_.CommitGroup(mine);
  return absl::OkStatus();
}

bool ThreadMachine::CanPerform(AgentId operation, Half half) const {
  return model_.CanPerform({.operation = operation, .half = half});
}

void ThreadMachine::Perform(AgentId operation, Half half) {
  absl::InlinedVector<BufferId, 8> done_with;
  if (half == Half::kWrite) done_with = BuffersOf(model_.RequestOf(operation));
  performing_ = true;
  performer_ = operation;
  model_.Perform({.operation = operation, .half = half}, &memory_);
  performing_ = false;
  for (const BufferId buffer : done_with) {
    if (--pending_[buffer.value] > 0) continue;
    pending_.erase(buffer.value);
    const auto waiting = std::find(to_free_.begin(), to_free_.end(), buffer);
    if (waiting == to_free_.end()) continue;
    to_free_.erase(waiting);
    FreeMemory(buffer);
  }
  if (half == Half::kRead) return;
  const auto of = cluster_of_.find(operation.value);
  const std::int64_t cluster = of->second;
  cluster_of_.erase(of);
  if (--clusters_.at(cluster).under_way == 0) RetireIfIdle(cluster);
}

}  // namespace palladion::threads
