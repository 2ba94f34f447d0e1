// The memory of one launch, through which every access to its buffers (launch_buffers.h) goes: first its bounds
// (bounds_findings.h), then the bytes. An element outside is never clamped and never lands in a neighbour: it is a
// finding, a load gives poison there and a store is dropped. It tracks undefined bytes on request (TrackDefinedness).
// It does not know races, nor engines that are slower than their request.
#ifndef PALLADION_MEMORY_MODEL_BYTES_MEMORY_H_
#define PALLADION_MEMORY_MODEL_BYTES_MEMORY_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "memory_model/bytes/bounds_findings.h"
#include "memory_model/bytes/definedness_tracker.h"
#include "memory_model/bytes/events.h"
#include "memory_model/bytes/launch_buffers.h"
#include "memory_model/bytes/printed_lines.h"
#include "memory_model/sets/box.h"
#include "semantics/base/finding_log.h"
#include "semantics/base/units.h"
#include "semantics/port/machine.h"
#include "semantics/tensor/fill.h"

namespace palladion::memory_model {

class Memory final : public Machine {
 public:
  // Alloc fails once the allocations that live together would hold more bytes than the limit.
  explicit Memory(std::size_t limit_bytes = ~std::size_t{0}) : buffers_(limit_bytes) {}

  // An array that the caller owns and keeps alive; it is read, and written by stores.
  BufferId Adopt(const AllocRequest& request, std::byte* data) { return buffers_.Adopt(request, data); }

  // It is notified from now on, and outlives the memory. Watchers are notified in the order of this call, those of
  // masks alone last.
  void Observe(MemoryWatcher* watcher) {
    if (watcher->wants().Has(EventKind::kAccess)) most_values_ = std::max(most_values_, watcher->most_values());
    watchers_.Add(watcher);
  }
  // For the machine over this memory, which notifies them of what it alone knows.
  const MemoryWatchers& watchers() const { return watchers_; }

  // Loads, stores, atomics and the two halves of copies so far: each had its bounds checked.
  std::int64_t accesses() const { return accesses_; }

  // The running agent, for messages. Before the first request.
  void NameAgents(const AgentNaming& naming) {
    bounds_.NameAgents(naming);
    if (tracker_ != nullptr) tracker_->NameAgents(naming);
  }

  // For watchers' messages.
  std::string_view NameOf(BufferId id) const { return buffers_[id].name; }
  absl::Span<const std::int64_t> ShapeOf(BufferId id) const { return buffers_[id].shape; }
  ElementSize ElementSizeOf(BufferId id) const { return buffers_[id].element_size; }
  ByteCount BytesOf(BufferId id) const { return buffers_[id].bytes; }
  DType DTypeOf(BufferId id) const { return buffers_[id].dtype; }  // of a word: keys have several
  std::byte* DataOf(BufferId id) { return buffers_.Touched(id).data; }
  const std::byte* DataOf(BufferId id) const { return const_cast<Memory*>(this)->DataOf(id); }

  // What new memory, padding and masked-off lanes hold. Before the first request.
  void SetFill(Fill fill) { buffers_.SetFill(fill); }
  Filler& filler() { return buffers_.filler(); }

  // Accesses that stay in an array's tiles are no findings. Before the first request.
  void SetPaddedBounds(PaddedBounds bounds) { bounds_.SetPaddedBounds(std::move(bounds)); }

  // From here on accesses say which elements are undefined (their `defined`). Before the first request. `values_only`:
  // what memory gives counts as defined; results for which hardware promises nothing are followed.
  void TrackDefinedness(bool values_only = false);
  void SetUndefined(BufferId buffer);                                    // an adopted output, before its first write
  void SetDefined(BufferId id, ElementCount first, ElementCount last) {  // [first, last) has been written
    MemoryBuffer& buffer = buffers_[id];
    buffer.defined.StorePiece(first * buffer.element_size, (last - first) * buffer.element_size, 0);
  }
  DefinedMark MarkOf(BufferId buffer, ElementCount element) const { return buffers_[buffer].defined.At(element); }
  // What of an output is undefined at the end, as findings; the number of elements that were looked at. `device`: whose
  // the output is, in words; "" where there is one. `site` is where it is declared.
  std::int64_t ReportUndefinedOutput(BufferId id, std::string_view device, const Site& site);
  // Has anything undefined got to where that matters, reported or not? Not results that a note speaks of.
  bool undefined_arrived() const { return undefined_arrived_; }

  const std::vector<std::string>& printed() const { return printed_.lines(); }
  const std::vector<Finding>& findings() const { return log_.findings(); }

  // All bytes, allocations, findings and prints, and back to them: for searches that return to a choice. Not what
  // watchers know or copy-on-write reads hold, and not while definedness is tracked. Every allocation is at the place
  // where it was, so borrowed values stay valid; from the first Save on, freed memory is kept.
  struct Saved;
  std::shared_ptr<const Saved> Save();
  void Restore(const Saved& saved);

  // From here on no byte moves, but of single numbers in a thread's own memory: bounds and watchers are as before, and
  // other values and memory hold anything. For schedules whose values are known from another one
  // (docs/explanation/checks.md#schedules-without-values), not where definedness is tracked. Memory that was there
  // before moves, and what is added between MoveNothing(false) and the next MoveNothing().
  void MoveNothing(bool nothing = true) { buffers_.MoveNothing(nothing); }

  // From now on loads copy: another agent may write between a load and the use of its value.
  void NeverBorrow() { borrows_ = false; }

  // The agent of all requests from here on, as watchers get it. A machine over this memory says so of an agent that
  // has not had its first turn (Running) and of halves of operations.
  const Who& who() const { return who_; }
  void Acts(AgentId agent) { who_ = {.agent = agent}; }
  // A half of an engine's operation, until EndHalf. `copies`: nothing is computed, so nothing is read, and what was
  // never written stays so.
  void BeginHalf(const Who& half, bool copies) {
    resumes_ = std::exchange(who_, half);
    if (tracker_ != nullptr) tracker_->Carries(copies);
  }
  // Of a copy of a block, out of that memory.
  void BeginHalf(const Who& half, BufferId source) {
    resumes_ = std::exchange(who_, half);
    if (tracker_ != nullptr) tracker_->BeginHalf(half.operation, half.half, &buffers_[source]);
    of_block_ = true;
  }
  void EndHalf() {
    const Who half = std::exchange(who_, resumes_);
    const bool of_block = std::exchange(of_block_, false);
    if (tracker_ != nullptr) of_block ? tracker_->EndHalf(half.operation, half.half) : tracker_->Carries(false);
  }

  // The id of an operation that is about to be issued; several parts have ids that follow each other. Those of a run of
  // more than 2^30 begin anew, where no machine remembers them.
  AgentId NewOperation(std::size_t parts = 1);
  // For watchers: engines of another machine over this memory carry the request out later.
  void NotifyIssued(const Who& who, const AsyncRequest& request) {
    for (Finding& finding : bounds_.OfCopy(buffers_, request)) Report(std::move(finding));
    watchers_.Each(EventKind::kIssue, [&](MemoryWatcher& watcher) { watcher.Issued(who, request); });
  }

  // For watchers: what brings the lanes of an agent together is known to the machine over this memory.
  void NotifyLanesMet() {
    watchers_.Each(EventKind::kLanes, [&](MemoryWatcher& watcher) { watcher.LanesMet(who_); });
  }
  void NotifyLanesMetUntil(std::uint32_t time) {
    watchers_.Each(EventKind::kLanes, [&](MemoryWatcher& watcher) { watcher.LanesMetUntil(who_, time); });
  }

  void Running(const RunningAgent& now) override;
  absl::StatusOr<BufferId> Alloc(const AllocRequest& request) override;
  void Free(BufferId buffer) override;
  void Poison(BufferId buffer) override;
  void Load(const BoxAccess& access, std::byte* value) override;
  void Load(const PointAccess& access, std::byte* value) override;
  void Store(const BoxAccess& access, const std::byte* value) override;
  void Store(const PointAccess& access, const std::byte* value) override;
  void Atomic(const PointAccess& access, AtomicFn fn, const std::byte* operand, const std::byte* compare,
              std::byte* old) override;
  const std::byte* Borrow(const BoxAccess& access) override;
  CowReadId BeginCowRead(const BoxAccess& access) override;
  ValueView Take(CowReadId read, std::vector<std::byte>* bytes) override { return buffers_.Take(read, bytes); }
  ValueView Room(const BoxAccess& access) override;
  void Wrote(const BoxAccess& access) override;
  // The promptest engine: a copy between boxes is complete when its request returns, and is left to its issuer. There
  // are no engines for anything else.
  QueueId QueueOf(AsyncQueue queue) override { return queue == AsyncQueue::kBlocks ? kPromptQueue : QueueId{}; }
  absl::Status Start(AsyncRequest&& request) override;
  absl::Status Wait(const WaitTarget& target, const Site& site) override;
  absl::Status Make(Fence fence, const Site& site) override {
    if (fence != Fence::kLanes) return Machine::Make(fence, site);
    NotifyLanesMet();
    return absl::OkStatus();
  }
  void Print(std::string line) override;
  void Report(Finding finding) override;
  std::uint8_t MarkOfValue(const Finding& finding, const Site& site) override;
  void ReportUndefined(std::uint8_t mark, std::string_view use, const Site& site) override;

 private:
  static constexpr QueueId kPromptQueue{std::numeric_limits<std::int32_t>::max()};

  void PoisonOutside(const MemoryBuffer& buffer, const BoxAccess& access, const BoxReach& reach,
                     const BoxLayout& layout, std::byte* value);
  void FillMasked(const MemoryBuffer& buffer, const Mask& mask, std::size_t elements, std::byte* value);
  void ReportOutside(const MemoryBuffer& buffer, const BoxAccess& access, const BoxReach& reach, Direction direction);
  const std::byte* WhereDense(const BoxAccess& access, const BoxReach& reach) const;
  void Copy(const Who& issue, const BoxAccess& source, const BoxAccess& destination);
  void Announce(AccessKind kind, const BoxAccess& access, const BoxReach& reach, const std::byte* value) {
    ++accesses_;
    const auto notify = [&](MemoryWatcher& watcher) { watcher.Box(who_, kind, access, reach, value); };
    watchers_.Each(EventKind::kAccess, notify);
    if (access.mask.lanes != nullptr) watchers_.Each(EventKind::kMasked, notify);
  }
  void Announce(AccessKind kind, const PointAccess& access, const std::byte* value) {
    ++accesses_;
    const auto notify = [&](MemoryWatcher& watcher) { watcher.Points(who_, kind, access, value); };
    watchers_.Each(EventKind::kAccess, notify);
    if (access.mask.lanes != nullptr) watchers_.Each(EventKind::kMasked, notify);
  }

  LaunchBuffers buffers_;
  MemoryWatchers watchers_;
  bool of_block_ = false;  // the half that is done is of a copy of a block
  Who who_, resumes_;      // the agent that acts; and the one that runs while a phase of an operation is done
  std::int32_t next_operation_ = kFirstOperation;
  std::int64_t accesses_ = 0;
  BoundsFindings bounds_;
  FindingLog log_;
  PrintedLines printed_;
  std::unique_ptr<DefinednessTracker> tracker_;  // nullptr: not requested
  bool borrows_ = true;
  bool undefined_arrived_ = false;
  std::int64_t most_values_ = 0;  // of a store, for observers
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_BYTES_MEMORY_H_
