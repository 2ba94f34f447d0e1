// The asynchronous half of ConcurrencyModel: what an operation knows when it starts, and what its halves tell.
#include <utility>

#include "memory_model/concurrency_model.h"
#include "semantics/base/cat.h"

namespace palladion::memory_model {

// Is every completion in the unit of its object?
absl::Status ConcurrencyModel::CheckUnits(const AsyncRequest& request) const {
  static constexpr std::string_view kUnits[] = {"arrivals", "counts", "bytes"};
  for (const Completion& completion : request.completions) {
    const auto* semaphore = std::get_if<SemaphoreId>(&completion.object);
    const CompletionUnit expected =
        semaphore == nullptr ? CompletionUnit::kArrivals : UnitOf(semaphores_[*semaphore].spec().kind);
    if (completion.unit == expected) continue;
    return absl::InvalidArgumentError(ToAbsl(Cat("asynchronous ", request.name, ": a completion of ", completion.amount,
                                                 " ", kUnits[static_cast<std::size_t>(completion.unit)],
                                                 " at what takes ", kUnits[static_cast<std::size_t>(expected)])));
  }
  return absl::OkStatus();
}

absl::StatusOr<AgentId> ConcurrencyModel::Start(AgentId agent, AsyncRequest request) {
  if (absl::Status status = AsyncEngine::Check(request); !status.ok()) return status;
  if (absl::Status status = CheckUnits(request); !status.ok()) return status;
  if (agents_.NoMoreOperations()) return absl::ResourceExhaustedError("too many asynchronous operations in one run");
  if (agents_.Crowded()) Sweep();
  const AgentId id = agents_.AddOperation(agent, Cat(request.name, " #", started_++), request.site);
  agents_.SayAwait(id, std::move(request.await));
  if (request.queue.valid()) {
    if (engine_.OrderOf(request.queue) == QueueOrder::kSerial || request.after_earlier)
      agents_.Fork(id).Join(queue_clocks_[request.queue]);
  }
  const ClockBundle& issued = agents_.Fork(id);
  TouchOperands(id, request.sources, Half::kRead, issued, request.site);
  if (request.queue.valid() && engine_.OrderOf(request.queue) == QueueOrder::kLanding) {
    ClockBundle landing = issued;
    landing.Join(queue_clocks_[request.queue]);
    TouchOperands(id, request.destinations, Half::kWrite, landing, request.site);
  } else {
    TouchOperands(id, request.destinations, Half::kWrite, issued, request.site);
  }
  if (request.queue.valid()) {
    ClockBundle& queue = queue_clocks_[request.queue];
    queue.Join(agents_.Fork(id));
    const Epoch done{id, 2};
    agents_.proxies() ? queue.Raise(done) : queue.RaiseGeneric(done);
  }
  engine_.Start(id, agent, std::move(request));
  return id;
}

AccessSet ConcurrencyModel::SetOfOperand(const AsyncOperand& operand, const Tracked& buffer) {
  if (const auto* box = std::get_if<BoxAccess>(&operand.where)) {
    return SetOf(buffer.info.shape, buffer.info.element_bytes, *box, ReachOf(buffer.info.shape, *box));
  }
  const auto& points = std::get<AsyncPoints>(operand.where);
  PointAccess access;
  access.offset = points.offset;
  access.piece_bytes = points.piece_bytes;
  access.pieces_per_element = points.pieces_per_element;
  return SetOf(access);
}

void ConcurrencyModel::TouchOperands(AgentId operation, const std::vector<AsyncOperand>& operands, Half half,
                                     const ClockBundle& known, const CodeSite& site) {
  if (!tracks_accesses_) return;
  for (const AsyncOperand& operand : operands) {
    const BufferId id = std::visit([](const auto& where) { return where.buffer; }, operand.where);
    Tracked* const buffer = Find(id);
    if (buffer == nullptr) continue;
    const AccessSet set = SetOfOperand(operand, *buffer);
    if (set.empty()) continue;
    const AccessKind kind = half == Half::kRead         ? AccessKind::kRead
                            : operand.reduce != nullptr ? AccessKind::kAtomic
                                                        : AccessKind::kWrite;
    const AccessEvent event{.who = operation,
                            .time = static_cast<std::uint32_t>(half),
                            .kind = kind,
                            .proxy = operand.proxy,
                            .loc = site.loc,
                            .text_line = site.text_line};
    const ClockPart part = FenceRule::PartFor(operand.proxy, buffer->info.space);
    Access(buffer, id, event, set, {known, part, operation});
  }
}

// What the end of a half tells.
ClockBundle ConcurrencyModel::Told(const PendingHalf& half, QueueId queue) {
  ClockBundle told = agents_.Completion(half.operation, static_cast<std::uint32_t>(half.half));
  if (half.half == Half::kRead || !queue.valid() || engine_.OrderOf(queue) != QueueOrder::kLanding) return told;
  told.Join(landed_clocks_[queue]);
  return landed_clocks_[queue] = told;
}

void ConcurrencyModel::Perform(const PendingHalf& half, Machine* memory) {
  const QueueId queue = RequestOf(half.operation).queue;
  const AsyncEngine::Performed performed = engine_.Perform(half, memory);
  if (performed.due.empty()) return;
  const ClockBundle told = Told(half, queue);
  for (const Completion& completion : performed.due) {
    if (const auto* barrier = std::get_if<BarrierId>(&completion.object)) {
      barriers_[*barrier].Arrive(half.operation, told, completion.amount, performed.site, agents_, &log_);
    } else {
      const SemaphoreId semaphore = std::get<SemaphoreId>(completion.object);
      semaphores_[semaphore].Signal(half.operation, told, completion.amount, performed.site);
    }
  }
}

void ConcurrencyModel::AwaitGroups(AgentId agent, QueueId queue, std::size_t may_remain, Half half) {
  for (const AgentId operation : engine_.GroupsBut(queue, may_remain)) {
    agents_.Acquire(agent, agents_.Completion(operation, static_cast<std::uint32_t>(half)));
  }
  if (half == Half::kWrite) engine_.DropGroupsBut(queue, may_remain);
}

}  // namespace palladion::memory_model
