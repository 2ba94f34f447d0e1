#include "emu/run/threads/async_operations.h"

#include <algorithm>
#include <variant>

#include "absl/container/inlined_vector.h"
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

// Nothing is computed on the way.
bool IsCopy(const AsyncRequest& request) {
  const auto reduces = [](const AsyncOperand& to) { return to.reduce != nullptr; };
  return request.function == nullptr && !request.sources.empty() &&
         std::none_of(request.destinations.begin(), request.destinations.end(), reduces);
}

}  // namespace

// The link that a copy goes over, where links keep the order of copies; none of a copy that stays on its device.
QueueId AsyncOperations::LinkOf(AgentId thread, const AsyncRequest& request) {
  if (!ordered_links_ || !base_.shape.several_devices() || request.destinations.empty()) return {};
  const std::int64_t from = base_.shape.DeviceOf(base_.residents.BlockOf(thread).index);
  const std::int64_t to = memory_.DeviceOf(request.destinations[0].buffer());
  return to < 0 || to == from ? QueueId{} : queues_.Link(from, to);
}

absl::Status AsyncOperations::Start(AgentId thread, AsyncRequest&& request, const agents::ArrivingCopy* resumed) {
  if (!request.queue.valid()) request.queue = LinkOf(thread, request);
  if (request.await.empty() && !request.completions.empty()) {
    request.await = base_.model.Of(std::get<BarrierId>(request.completions[0].object)).WaitCall();
  }
  const auto touched = BuffersOf(request);
  const AgentId issuer = resumed == nullptr ? thread : base_.residents.Before();
  const AgentId operation = base_.memory.NewOperation(request.parts());
  base_.memory.NotifyIssued({.agent = issuer, .operation = operation}, request);
  PALLADION_RETURN_IF_ERROR(base_.model.Start(issuer, std::move(request), operation).status());
  session_.Started(operation, resumed);
  const std::int64_t cluster = base_.residents.BlockOf(thread).cluster;
  cluster_of_[operation.value] = cluster;
  ++base_.residents.ClusterOf(cluster).in_flight;
  for (const BufferId buffer : touched) memory_.Use(buffer);
  spawn_(operation);
  return absl::OkStatus();
}

Who AsyncOperations::WhoDoes(AgentId operation, Half half) const {
  return {.agent = base_.model.agents().IssuerOf(operation), .operation = operation, .half = half};
}

void AsyncOperations::ReadAhead(BufferId buffer) {
  for (const AgentId operation : base_.model.ToRead(buffer)) {
    base_.memory.BeginHalf(WhoDoes(operation, Half::kRead), /*copies=*/false);
    base_.model.ReadAhead(operation, &base_.memory);
    base_.memory.EndHalf();
  }
}

std::optional<std::int64_t> AsyncOperations::Perform(AgentId operation, Half half) {
  absl::InlinedVector<BufferId, 8> done_with;
  if (half == Half::kWrite) done_with = BuffersOf(base_.model.RequestOf(operation));
  const Who who = WhoDoes(operation, half);
  const AsyncRequest& request = base_.model.RequestOf(operation);
  if (request.block != nullptr) {
    base_.memory.BeginHalf(who, request.sources[0].buffer());
  } else {
    base_.memory.BeginHalf(who, IsCopy(request));
  }
  base_.model.Perform({.operation = operation, .half = half}, &base_.memory);
  base_.memory.EndHalf();
  base_.memory.watchers().Each(memory_model::EventKind::kHalf,
                               [&](memory_model::MemoryWatcher& watcher) { watcher.HalfDone(who); });
  for (const BufferId buffer : done_with) memory_.EndUse(buffer);
  if (half == Half::kRead) return std::nullopt;
  const auto of = cluster_of_.find(operation.value);
  const std::int64_t cluster = of->second;
  cluster_of_.erase(of);
  if (--base_.residents.ClusterOf(cluster).in_flight > 0) return std::nullopt;
  return cluster;
}

}  // namespace palladion::threads
