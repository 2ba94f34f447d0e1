// The machine port: everything a step may ask of its machine, one virtual call for each request. Requests are structs
// of the headers beside this one; the implementation of Machine checks them in a stated order (bounds first) and moves
// the bytes. There is one entry point, so each rule exists once. Every machine has memory. For features that it lacks
// (barriers, engines, agents that share) it returns an error that says so: the definitions of machine.cc. The
// implementation knows the requesting agent; a step knows neither schedules nor clocks, and never blocks: a step that
// waits declares for what (WaitTarget), the scheduler lets it begin when that is ready, and then Wait takes it.
#ifndef PALLADION_SEMANTICS_PORT_MACHINE_H_
#define PALLADION_SEMANTICS_PORT_MACHINE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "semantics/base/finding.h"
#include "semantics/base/ids.h"
#include "semantics/base/running_agent.h"
#include "semantics/port/access.h"
#include "semantics/port/async.h"
#include "semantics/port/launch_control.h"
#include "semantics/port/places.h"
#include "semantics/port/sync.h"

namespace palladion {

class Machine {
 public:
  virtual ~Machine() = default;

  // What follows, until the next call, is this agent's.
  virtual void Running(const RunningAgent& now) = 0;

  // New memory, poisoned; of what is shared, the first owner makes it and the others find it. ResourceExhausted when
  // there is not enough.
  virtual absl::StatusOr<BufferId> Alloc(const AllocRequest& request) = 0;
  virtual void Free(BufferId buffer) = 0;
  virtual void Poison(BufferId buffer) = 0;  // its contents are undefined from here on

  virtual void Load(const BoxAccess& access, std::byte* value) = 0;
  virtual void Load(const PointAccess& access, std::byte* value) = 0;
  virtual void Store(const BoxAccess& access, const std::byte* value) = 0;
  virtual void Store(const PointAccess& access, const std::byte* value) = 0;

  // Lanes one after another, in row-major order. `compare` and `old` may be null.
  virtual void Atomic(const PointAccess& access, AtomicFn fn, const std::byte* operand, const std::byte* compare,
                      std::byte* old) = 0;

  // The elements where they lie, when they are dense, inside all bounds and unmasked; else nullptr, and the caller
  // loads. Valid until the next store, atomic or free.
  virtual const std::byte* Borrow(const BoxAccess& access) = 0;

  // For engines, whose read half comes before their write half. A load whose bytes stay where they are: until Take the
  // machine keeps what they were, despite later writes. Invalid: that cannot be, and the caller loads.
  virtual CowReadId BeginCowRead(const BoxAccess&) { return {}; }
  // Ends the read. Where its elements lie, until a store there; no data: they have changed there, and what they
  // were is in `bytes`.
  virtual ValueView Take(CowReadId, std::vector<std::byte>* /*bytes*/) { return {}; }
  // A store whose elements the caller writes where they lie, all of them and at once; then Wrote, with their marks. No
  // data: the caller stores.
  virtual ValueView Room(const BoxAccess&) { return {}; }
  virtual void Wrote(const BoxAccess&) {}

  // The agent leaves the scope in which it came by the memory, which ends when the last owner has left.
  virtual void Leave(BufferId buffer, const Site& site);
  // A block of the agent's operands, left for another one, is in that memory now. One buffer for both is allowed too,
  // and there the fetch of an input overwrites what was left, and whatever a body stores from here on into an output
  // does.
  struct BlockTurn {
    BufferId from, to;
    bool input = false;
  };
  virtual void Turn(const BlockTurn& /*turn*/, const Site& /*site*/) {}
  // The same allocation of a peer of the agent's place. A finding, and the agent's own, where there is none.
  virtual BufferId PeerBuffer(BufferId buffer, absl::Span<const PeerCoordinate> where, const Site& site);

  // An empty request, maybe with the room of one that is done: kernels start thousands of the same kind.
  virtual AsyncRequest NewRequest() { return {}; }
  // Something that engines carry out. A machine that is done with the request when this returns leaves it as it is; one
  // that keeps it takes it.
  virtual absl::Status Start(AsyncRequest&& request);
  // The agent's own queue of that kind; an invalid id where there is none.
  virtual QueueId QueueOf(AsyncQueue queue);
  virtual absl::Status CommitGroup(AsyncQueue queue, const Site& site);
  // Does an operation of the queue wait for all earlier ones before it is issued? As the fence policy says.
  virtual bool CompletesEarlier(AsyncQueue queue) const;
  // What every place along grid dimensions must do the same, in the same order; without a wait.
  virtual absl::Status Collective(const CollectiveStep& step, const Site& site);

  // Agents and engines wait for each other by objects of several kinds. What each kind does is its own class behind
  // these three (emu/run/threads/waitable.h), so that a new kind needs no request of its own.
  virtual absl::Status Arrive(const Arrival& arrival, const Site& site);
  virtual absl::Status Wait(const WaitTarget& target, const Site& site);  // whatever the target says is there
  // Without a wait, what a barrier or semaphore has: its count; of a barrier 1 where its next phase has come, which
  // counts as waited for then, else 0.
  virtual absl::StatusOr<std::int64_t> Poll(const WaitTarget& target, const Site& site);

  // Barriers or semaphores; of what is shared, the first owner makes it and the others find it. A machine that has none
  // is not asked for anything about them: no element can be named.
  virtual absl::StatusOr<SyncId> AllocSync(const SyncRequest& request);
  virtual void LeaveSync(SyncId array, const Site& site);
  virtual SyncElement PeerSync(SyncElement element, absl::Span<const PeerCoordinate> where, const Site& site);
  virtual Completion CompletionAt(SyncElement element);  // what an engine does there: an arrival, until more is said

  virtual absl::Status Make(Fence fence, const Site& site);
  // The agent becomes several, and waits for kSpawned.
  virtual absl::Status Spawn(const SpawnRequest& request, const Site& site);

  // A thread of the cluster asks for the work of another one; all threads of its blocks have to.
  virtual absl::Status TryCancel(const CancelRequest& request, const Site& site);
  // What the kCancelAnswerBytes that came of it say to the agent.
  virtual absl::StatusOr<CancelAnswer> ReadAnswer(const std::byte* answer, const Site& site);

  virtual void Print(std::string line) = 0;
  virtual void Report(Finding finding) = 0;

  // A result for which hardware promises nothing, such as that of a division by zero: the mark that its elements carry.
  // The finding, whose place is the operation's, is reported where one of them reaches a branch, an index or an output.
  // 0: definedness is not tracked.
  virtual std::uint8_t MarkOfValue(const Finding& finding, const Site& site) = 0;

  // Something that must be defined is not. `mark` is the undefined element's; `use` says what it is: "the predicate of
  // a branch".
  virtual void ReportUndefined(std::uint8_t mark, std::string_view use, const Site& site) = 0;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PORT_MACHINE_H_
