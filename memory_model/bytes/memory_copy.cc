// Copies between boxes that a memory carries out immediately, as the fastest possible engine.
#include <utility>
#include <vector>

#include "memory_model/bytes/memory.h"

namespace palladion::memory_model {

absl::Status Memory::Start(AsyncRequest&& request) {
  const auto box = [](const std::vector<AsyncOperand>& operands) {
    return operands.size() == 1 ? std::get_if<BoxAccess>(&operands[0].where) : nullptr;
  };
  const BoxAccess *source = box(request.sources), *destination = box(request.destinations);
  const bool plain = source != nullptr && destination != nullptr && request.destinations[0].reduce == nullptr;
  if (!plain || request.function != nullptr || !request.completions.empty()) {
    return Machine::Start(std::move(request));
  }
  const Who issue{.agent = who_.agent, .operation = NewOperation(), .at_once = true};
  watchers_.Each(EventKind::kIssue, [&](MemoryWatcher& watcher) { watcher.Issued(issue, request); });
  if (tracker_ == nullptr) {
    Copy(issue, *source, *destination);
    return absl::OkStatus();
  }
  BoxAccess from = *source, to = *destination;
  Definedness defined;
  from.defined = to.defined = &defined;
  tracker_->CarriesFrom(&buffers_[from.buffer]);
  Copy(issue, from, to);
  tracker_->CarriesFrom(nullptr);
  return absl::OkStatus();
}

// Of a block the destination or the source is its own memory, whole: it serves as the value of the other side's access.
void Memory::Copy(const Who& issue, const BoxAccess& source, const BoxAccess& destination) {
  const Who turn = std::exchange(who_, issue);
  const auto half_done = [this] {
    watchers_.Each(EventKind::kHalf, [this](MemoryWatcher& watcher) { watcher.HalfDone(who_); });
    who_.half = Half::kWrite;
  };
  if (const std::byte* whole = Borrow(source)) {
    half_done();
    Store(destination, whole);
    half_done();
    who_ = turn;
    return;
  }
  const BoxReach reach = ReachOf(buffers_.Touched(destination.buffer).shape, destination);
  if (const std::byte* target = WhereDense(destination, reach); target != nullptr) {
    buffers_.SettleAll(buffers_[destination.buffer]);
    Load(source, const_cast<std::byte*>(target));
    half_done();
    Announce(AccessKind::kWrite, destination, reach, target);
    if (tracker_ != nullptr) tracker_->Store(buffers_[destination.buffer], destination, reach);
  } else {
    const ElementSize element_size = buffers_[source.buffer].element_size;
    std::vector<std::byte> value(LayoutOf(source, element_size).elements * element_size.size());
    Load(source, value.data());
    half_done();
    Store(destination, value.data());
  }
  half_done();
  who_ = turn;
}

}  // namespace palladion::memory_model
