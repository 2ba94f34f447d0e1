// What a launch finds of those before it, and leaves to those after it: semaphores that are operands, copies that are
// still under way on them, barrier semaphores of collective ids.
#include <utility>
#include <variant>

#include "emu/threads/thread_machine.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/gpu/gpu_scope.h"

namespace palladion::threads {

AgentId ThreadMachine::Before() {
  if (before_.valid()) return before_;
  before_ = model_.agents().Add("the kernel before this one", DevicePlace(), AgentRole::kLaunch);
  threads_.Skip();
  return before_;
}

void ThreadMachine::Restore(SemaphoreId semaphore, std::int64_t count) {
  if (count > 0) model_.Signal(Before(), semaphore, {}, count);
}

absl::Status ThreadMachine::Resume(SyncId id, std::size_t operand) {
  const agents::LaunchArrivals* const arrivals = options_.between.arrivals;
  if (arrivals == nullptr) return absl::OkStatus();
  const auto arriving = arrivals->semaphores.find({operand, DeviceOf(Of(Current().block).index)});
  if (arriving == arrivals->semaphores.end()) return absl::OkStatus();
  const std::vector<SemaphoreId> semaphores = syncs_[id].semaphores;
  for (std::size_t i = 0; i < semaphores.size(); ++i) Restore(semaphores[i], arriving->second.counts[i]);
  for (const agents::ArrivingCopy& copy : arriving->second.copies)
    PALLADION_RETURN_IF_ERROR(ResumeCopy({id, copy.credit.element}, copy));
  return absl::OkStatus();
}

// Its bytes were read before; it writes them some time from here on, and then tells the semaphore. Where none of the
// operands is the array that it writes, it tells the semaphore.
absl::Status ThreadMachine::ResumeCopy(SyncElement semaphore, const agents::ArrivingCopy& copy) {
  const std::shared_ptr<const agents::HeldCopy>& held = copy.credit.copy;
  const SyncRequest& asked = syncs_[semaphore.array].request;
  const bool counts_bytes = asked.kind == SyncKind::kDmaSemaphore;
  AsyncRequest request{.name = held->name, .await = "copy.wait()", .site = CodeSite::Of(asked.site)};
  request.completions.push_back(
      SignalAt(semaphore, copy.credit.amount, counts_bytes ? CompletionUnit::kBytes : CompletionUnit::kCount));
  if (copy.into.has_value()) {
    request.destinations.push_back(held->destination);
    const BufferId array = options_.between.array_of(*copy.into);
    std::visit([&](auto& where) { where.buffer = array; }, request.destinations[0].where);
    request.function = [held](const std::vector<AsyncValue>&, std::vector<AsyncValue>* results) {
      (*results)[0].bytes = held->bytes;
    };
  }
  model_.agents().Acquire(Before(), model_.agents().ClockOf(current_));  // that the device has entered
  resuming_ = &copy;
  const absl::Status status = Start(std::move(request));
  resuming_ = nullptr;
  return status;
}

void ThreadMachine::NoteOnOperand(AgentId operation, const AsyncRequest& request) {
  for (const Completion& completion : request.completions) {
    const auto* semaphore = std::get_if<SemaphoreId>(&completion.object);
    const bool here = semaphore != nullptr && operand_semaphores_.contains(*semaphore);
    if (!here || completion.after != Half::kWrite) continue;
    OnOperand& noted = on_operands_[operation];
    noted.told = *semaphore;
    noted.copy.site = request.site;
    if (!request.destinations.empty()) {
      noted.copy.destination = request.destinations[0];
      noted.into = memory_.NameOf(noted.copy.destination.buffer());
    }
    if (resuming_ != nullptr) noted.copy.again = resuming_->credit.copy;
  }
}

// What a copy has told a semaphore of its sender is a count and no more.
void ThreadMachine::HandOverCredits(SemaphoreId semaphore, std::int64_t element, agents::LaunchLeft::Semaphores* all) {
  model_.Of(semaphore).ForEachCredit([&](AgentId by, std::int64_t amount) {
    const auto at = on_operands_.find(by);
    agents::LeftCopy* const copy =
        at == on_operands_.end() || at->second.told != semaphore ? nullptr : &at->second.copy;
    if (copy != nullptr) {
      at->second.under_way = true;
      copy->name = model_.agents().OperationName(by);
      copy->element = element;
      copy->amount = amount;
      if (copy->destination.bytes > 0) copy->into = options_.between.output_of(copy->destination.buffer());
      if (copy->again != nullptr || copy->into.has_value()) {
        all->copies.push_back(*copy);
        return;
      }
    }
    all->counts[static_cast<std::size_t>(element)] += amount;
    if (copy == nullptr || copy->destination.bytes == 0) return;
    memory_.Report({.code = FindingCode::kNotAwaited,
                    .message = Cat("the kernel ends, and ", copy->name, " writes '", at->second.into,
                                   "', whose memory no later kernel is given"),
                    .loc = copy->site.loc,
                    .text_line = copy->site.text_line,
                    .fix = "wait for it in this kernel, or copy to an output"});
  });
}

void ThreadMachine::HandOver(SyncId id) {
  const SyncArray& array = syncs_[id];
  const std::int64_t device = array.block.valid() ? DeviceOf(Of(array.block).index) : 0;
  if (array.request.collective >= 0)
    left_.barriers[{array.request.collective, device}] = model_.Of(array.semaphores[0]).count();
  const std::optional<std::size_t> operand = OperandOfCollective(array.request.collective);
  if (!operand.has_value()) return;
  agents::LaunchLeft::Semaphores& all = left_.semaphores[{*operand, device}];
  all.counts.assign(array.semaphores.size(), 0);
  all.copies.clear();
  for (std::size_t i = 0; i < array.semaphores.size(); ++i) {
    HandOverCredits(array.semaphores[i], static_cast<std::int64_t>(i), &all);
    model_.HandOver(array.semaphores[i]);
  }
}

// Whoever waits for a copy has to hold the array that it writes: else its memory may be somebody else's by then.
void ThreadMachine::ReportLostCopies() {
  for (const auto& [operation, noted] : on_operands_) {
    if (noted.copy.again == nullptr || noted.copy.destination.bytes > 0 || noted.under_way) continue;
    memory_.Report(
        {.code = FindingCode::kUseAfterScope,
         .message = Cat("the kernel waits for ", noted.copy.again->name, ", and the array that the copy writes, ",
                        TypeString(noted.copy.again->dtype, noted.copy.again->shape),
                        ", is none of its operands: nobody holds its memory until the copy is complete"),
         .loc = noted.copy.site.loc,
         .text_line = noted.copy.site.text_line,
         .fix = "pass the array, as the kernel that started the copy gave it, to the kernel that waits, "
                "with input_output_aliases, and go on with what that one gives"});
  }
}

agents::LaunchLeft ThreadMachine::HandOver() {
  std::vector<SyncId> alive;
  syncs_.ForEach([&](SyncId id, const SyncArray&) { alive.push_back(id); });
  for (const SyncId id : alive) HandOver(id);
  ReportLostCopies();
  return left_;
}

}  // namespace palladion::threads
