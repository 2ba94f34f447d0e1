#include "emu/run/threads/session_semaphores.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include "semantics/base/cat.h"
#include "semantics/program/scratch_scope.h"

namespace palladion::threads {

void SessionSemaphores::Restore(SemaphoreId semaphore, std::int64_t count) {
  if (count > 0) base_.model.Signal(base_.residents.Before(), semaphore, {}, count);
}

void SessionSemaphores::Made(const SyncArray& array, std::int64_t device) {
  const std::int64_t collective = array.request.collective;
  if (OperandOfCollective(collective).has_value()) operands_.insert(array.semaphores.begin(), array.semaphores.end());
  if (between_.arrivals == nullptr || collective < 0) return;
  const auto left = between_.arrivals->barriers.find({collective, device});
  if (left != between_.arrivals->barriers.end()) Restore(array.semaphores[0], left->second);
}

std::int64_t SessionSemaphores::FirstElement(const SyncArray& array) const {
  return std::max<std::int64_t>(array.number, 0) % cores() * static_cast<std::int64_t>(array.semaphores.size());
}

std::optional<std::vector<const agents::ArrivingCopy*>> SessionSemaphores::Restore(const SyncArray& array,
                                                                                   std::int64_t device) {
  const std::optional<std::size_t> operand = OperandOfCollective(array.request.collective);
  if (!operand.has_value() || between_.arrivals == nullptr) return std::nullopt;
  const auto found = between_.arrivals->semaphores.find({*operand, device});
  if (found == between_.arrivals->semaphores.end()) return std::nullopt;
  const agents::LaunchArrivals::Semaphores& arriving = found->second;
  const auto first = static_cast<std::size_t>(FirstElement(array)), size = array.semaphores.size();
  for (std::size_t i = 0; i < size && first + i < arriving.counts.size(); ++i)
    Restore(array.semaphores[i], arriving.counts[first + i]);
  std::vector<const agents::ArrivingCopy*> copies;
  for (const agents::ArrivingCopy& copy : arriving.copies) {
    const auto element = static_cast<std::size_t>(copy.credit.element);
    if (element >= first && element < first + size) copies.push_back(&copy);
  }
  return copies;
}

AsyncRequest SessionSemaphores::RequestFor(const SyncArray& array, const agents::ArrivingCopy& copy) const {
  const std::shared_ptr<const agents::HeldCopy>& held = copy.credit.copy;
  const SyncRequest& made = array.request;
  const bool counts_bytes = made.kind == SyncKind::kDmaSemaphore;
  AsyncRequest request{.name = held->name, .await = "copy.wait()", .site = CodeSite::Of(made.site)};
  request.completions.push_back({.object = array.semaphore(copy.credit.element - FirstElement(array)),
                                 .amount = copy.credit.amount,
                                 .unit = counts_bytes ? CompletionUnit::kBytes : CompletionUnit::kCount});
  if (copy.into.has_value()) {
    request.destinations.push_back(held->destination);
    const BufferId array_of_operand = between_.array_of(*copy.into);
    std::visit([&](auto& where) { where.buffer = array_of_operand; }, request.destinations[0].where);
    request.function = [held](const std::vector<AsyncValue>&, std::vector<AsyncValue>* results) {
      (*results)[0].bytes = held->bytes;
    };
  }
  return request;
}

void SessionSemaphores::Note(AgentId operation, const agents::ArrivingCopy* resumed) {
  const AsyncRequest& request = base_.model.RequestOf(operation);
  for (const Completion& completion : request.completions) {
    const auto* semaphore = std::get_if<SemaphoreId>(&completion.object);
    const bool here = semaphore != nullptr && operands_.contains(*semaphore);
    if (!here || completion.after != Half::kWrite) continue;
    OnOperand& noted = on_operands_[operation];
    noted.semaphore = *semaphore;
    noted.copy.site = request.site;
    if (!request.destinations.empty()) {
      noted.copy.destination = request.destinations[0];
      noted.into = base_.memory.NameOf(noted.copy.destination.buffer());
    }
    if (resumed != nullptr) noted.copy.again = resumed->credit.copy;
  }
}

// What a copy has signalled a semaphore of its sender is a count and no more.
void SessionSemaphores::HandOverCredits(SemaphoreId semaphore, std::int64_t element,
                                        agents::LaunchLeft::Semaphores* all) {
  base_.model.Of(semaphore).ForEachCredit([&](AgentId by, std::int64_t amount) {
    const auto at = on_operands_.find(by);
    agents::LeftCopy* const copy =
        at == on_operands_.end() || at->second.semaphore != semaphore ? nullptr : &at->second.copy;
    if (copy != nullptr) {
      at->second.in_flight = true;
      copy->name = base_.model.agents().OperationName(by);
      copy->element = element;
      copy->amount = amount;
      if (copy->destination.bytes > ByteCount(0)) copy->into = between_.output_of(copy->destination.buffer());
      if (copy->again != nullptr || copy->into.has_value()) {
        all->copies.push_back(*copy);
        return;
      }
    }
    all->counts[static_cast<std::size_t>(element)] += amount;
    if (copy == nullptr || copy->destination.bytes == ByteCount(0)) return;
    base_.memory.Report({.code = FindingCode::kNotAwaited,
                         .message = Cat("the kernel ends, and ", copy->name, " writes '", at->second.into,
                                        "', whose memory is passed to no later kernel"),
                         .loc = copy->site.loc,
                         .text_line = copy->site.text_line,
                         .fix = "wait for it in this kernel, or copy to an output"});
  });
}

void SessionSemaphores::HandOver(const SyncArray& array, std::int64_t device) {
  if (array.request.collective >= 0)
    left_.barriers[{array.request.collective, device}] = base_.model.Of(array.semaphores[0]).count();
  const std::optional<std::size_t> operand = OperandOfCollective(array.request.collective);
  if (!operand.has_value()) return;
  agents::LaunchLeft::Semaphores& all = left_.semaphores[{*operand, device}];
  const std::int64_t first = FirstElement(array), size = static_cast<std::int64_t>(array.semaphores.size());
  all.counts.resize(static_cast<std::size_t>(cores() * size), 0);
  std::fill_n(all.counts.begin() + first, size, 0);
  std::erase_if(all.copies,
                [&](const agents::LeftCopy& copy) { return copy.element >= first && copy.element < first + size; });
  for (std::size_t i = 0; i < array.semaphores.size(); ++i) {
    HandOverCredits(array.semaphores[i], first + static_cast<std::int64_t>(i), &all);
    base_.model.HandOver(array.semaphores[i]);
  }
}

void SessionSemaphores::ReportLostCopies() const {
  for (const auto& [operation, noted] : on_operands_) {
    if (noted.copy.again == nullptr || noted.copy.destination.bytes > ByteCount(0) || noted.in_flight) continue;
    base_.memory.Report(
        {.code = FindingCode::kUseAfterScope,
         .message = Cat("the kernel waits for ", noted.copy.again->name, ", and the array that the copy writes, ",
                        TypeString(noted.copy.again->dtype, noted.copy.again->shape),
                        ", is not one of its operands: its memory may be reused before the copy is complete"),
         .loc = noted.copy.site.loc,
         .text_line = noted.copy.site.text_line,
         .fix = "pass the array that the kernel which started the copy returned to the kernel that waits, "
                "with input_output_aliases, and use the array that this one returns"});
  }
}

}  // namespace palladion::threads
