// What a machine of memory alone answers.
#include "semantics/port/machine.h"

#include "semantics/base/cat.h"

namespace palladion {
namespace {

absl::Status Lacks(std::string_view what, int text_line) {
  return absl::UnimplementedError(ToAbsl(
      Cat("line ", text_line, " asks for ", what, ", and this launch has memory alone; expected one over threads")));
}

}  // namespace

void Machine::Leave(BufferId buffer, const Site&) { Free(buffer); }

BufferId Machine::PeerBuffer(BufferId buffer, absl::Span<const PeerCoordinate>, const Site& site) {
  Report({.code = FindingCode::kPeerLifetime,
          .message = "the kernel reaches for memory of another block, and this launch has none",
          .loc = site.loc,
          .text_line = site.text_line,
          .fix = "launch the kernel over a cluster of blocks"});
  return buffer;
}

absl::Status Machine::Start(AsyncRequest&& request) {
  return Lacks(Cat("an asynchronous ", request.name), request.site.text_line);
}
QueueId Machine::QueueOf(AsyncQueue) { return {}; }
absl::Status Machine::CommitGroup(AsyncQueue, const Site& site) { return Lacks("a group of copies", site.text_line); }
bool Machine::CompletesEarlier(AsyncQueue) const { return false; }
absl::Status Machine::Collective(const CollectiveStep& step, const Site& site) {
  return Lacks(step.kinds, site.text_line);
}

absl::Status Machine::Arrive(const Arrival&, const Site& site) {
  return Lacks("an arrival at what other agents wait for", site.text_line);
}
absl::Status Machine::Wait(const WaitTarget&, const Site& site) {
  return Lacks("a wait for another agent or an engine", site.text_line);
}
absl::StatusOr<std::int64_t> Machine::Poll(const WaitTarget&, const Site& site) {
  return Lacks("the state of a barrier or semaphore", site.text_line);
}

absl::StatusOr<SyncId> Machine::AllocSync(const SyncRequest& request) {
  return Lacks(Cat(request.kind == SyncKind::kSemaphore ? "the semaphore '" : "the barrier '", request.name, "'"),
               request.site.text_line);
}
void Machine::LeaveSync(SyncId, const Site&) {}
SyncElement Machine::PeerSync(SyncElement element, absl::Span<const PeerCoordinate>, const Site&) { return element; }
Completion Machine::CompletionAt(SyncElement) { return {}; }

absl::Status Machine::Make(Fence, const Site& site) { return Lacks("a fence", site.text_line); }
absl::Status Machine::Spawn(const SpawnRequest&, const Site& site) { return Lacks("warps", site.text_line); }

absl::Status Machine::TryCancel(const CancelRequest&, const Site& site) {
  return Lacks("the work of another cluster", site.text_line);
}
absl::StatusOr<CancelAnswer> Machine::ReadAnswer(const std::byte*, const Site& site) {
  return Lacks("an answer of cluster launch control", site.text_line);
}

}  // namespace palladion
