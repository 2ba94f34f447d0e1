// Operations that engines perform for threads.
#include <algorithm>
#include <utility>

#include "emu/gpu/gpu_machine.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion {

QueueId GpuMachine::MakeQueueOf(ThreadId id, AsyncQueue queue) {
  if (queue == AsyncQueue::kNone) return {};
  const std::size_t lane = LaneOf(Of(id));
  Thread& owner = Of(id).parent.valid() ? Of(Of(id).parent) : Of(id);
  if (owner.stores.size() <= lane) owner.stores.resize(lane + 1);
  QueueId& mine = queue == AsyncQueue::kMma ? owner.mma : owner.stores[lane];
  if (mine.valid()) return mine;
  mine = model_.MakeQueue(queue == AsyncQueue::kMma ? QueueOrder::kSerial : QueueOrder::kHalves);
  queue_objects_.resize(mine.index() + 1);
  queue_objects_[mine.index()] = QueueObject(id, queue);
  return mine;
}

// A warpgroup commits and waits in all of its lanes, each for what it has issued itself (PTX: the executing thread's
// bulk async-groups); a warp in its own. A lane that has issued nothing yet has only empty groups, which no wait tells
// from none.
std::vector<QueueId> GpuMachine::QueuesOf(ThreadId id, AsyncQueue queue) const {
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

bool GpuMachine::Awaits(ThreadId thread, AsyncQueue kind, QueueId queue) const {
  const std::vector<QueueId> queues = QueuesOf(thread, kind);
  return std::find(queues.begin(), queues.end(), queue) != queues.end();
}

AsyncOperand GpuMachine::OperandOf(AsyncPart part) const {
  return {.where = std::move(part.where),
          .bytes = part.bytes,
          .proxy = part.in_registers ? Proxy::kGeneric : Proxy::kAsync,
          .reduce = part.reduce,
          .elements = part.elements};
}

absl::Status GpuMachine::Start(AsyncStart start) {
  AsyncRequest request{.name = std::string(start.name), .site = CodeSite::Of(start.site)};
  request.function = std::move(start.function);
  request.queue = MakeQueueOf(current_, start.queue);
  request.must_await = start.await_read ? Half::kRead : Half::kWrite;
  request.program.assign(start.site.program.begin(), start.site.program.end());
  EngineOperation operation{.name = request.name, .queue = request.queue, .site = request.site};
  const auto buffer_of = [](const AsyncPart& part) {
    return std::visit([](const auto& where) { return where.buffer; }, part.where);
  };
  request.sources.reserve(start.sources.size());
  request.destinations.reserve(start.destinations.size());
  for (AsyncPart& part : start.sources) {
    operation.sources.push_back(buffer_of(part));
    request.sources.push_back(OperandOf(std::move(part)));
  }
  for (AsyncPart& part : start.destinations) {
    operation.destinations.push_back(buffer_of(part));
    request.destinations.push_back(OperandOf(std::move(part)));
  }
  if (start.queue == AsyncQueue::kStores) request.await = "plgpu.wait_smem_to_gmem(0)";
  if (start.queue == AsyncQueue::kMma) request.await = "plgpu.wgmma_wait(0)";
  for (const AsyncArrival& arrival : start.arrivals) {
    const BarrierId barrier = BarrierOf(arrival.barrier);
    if (request.await.empty()) request.await = model_.Of(barrier).WaitCall();
    request.completions.push_back({.object = barrier, .amount = units_ / arrival.parts});
  }
  operation.reads = !request.sources.empty();
  operation.completions = request.completions;
  PALLADION_ASSIGN_OR_RETURN(operation.id, model_.Start(Current().clock, std::move(request)));
  for (const BufferId buffer : operation.sources) ++pending_[buffer.value];
  for (const BufferId buffer : operation.destinations) ++pending_[buffer.value];
  spawn_(std::move(operation));
  return absl::OkStatus();
}

void GpuMachine::CommitGroup(AsyncQueue queue, const Site&) {
  for (const QueueId mine : QueuesOf(current_, queue)) model_.CommitGroup(mine);
}

bool GpuMachine::CanPerform(ClockId operation, Half half) const {
  return model_.CanPerform({.operation = operation, .half = half});
}

void GpuMachine::Perform(ClockId operation, Half half) {
  performing_ = true;
  model_.Perform({.operation = operation, .half = half}, &memory_);
  performing_ = false;
}

void GpuMachine::Done(const EngineOperation& operation) {
  for (const auto* buffers : {&operation.sources, &operation.destinations}) {
    for (const BufferId buffer : *buffers) {
      if (--pending_[buffer.value] > 0) continue;
      pending_.erase(buffer.value);
      const auto waiting = std::find(to_free_.begin(), to_free_.end(), buffer);
      if (waiting == to_free_.end()) continue;
      to_free_.erase(waiting);
      FreeMemory(buffer);
    }
  }
}

}  // namespace palladion
