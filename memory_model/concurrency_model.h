// The synchronisation part of a machine: agents, happens-before, barriers and semaphores, operations in flight, and the
// findings about them. A machine composes it with Memory, which has bounds and bytes; it knows no kernel and no
// schedule, and says whether a wait can proceed instead of blocking. Plain data: a copy is a snapshot. Races are found
// by happens-before, not by timing, so most are found in every schedule.
#ifndef PALLADION_MEMORY_MODEL_CONCURRENCY_MODEL_H_
#define PALLADION_MEMORY_MODEL_CONCURRENCY_MODEL_H_

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "memory_model/access_findings.h"
#include "memory_model/engine/async_engine.h"
#include "memory_model/engine/pipelines.h"
#include "memory_model/engine/queue_clocks.h"
#include "memory_model/order/agents.h"
#include "memory_model/order/fence_rule.h"
#include "memory_model/order/promises.h"
#include "memory_model/order/tracked_memory.h"
#include "memory_model/sync/barrier.h"
#include "memory_model/sync/collective.h"
#include "memory_model/sync/rendezvous.h"
#include "memory_model/sync/semaphore.h"
#include "semantics/base/finding_log.h"
#include "semantics/base/live_table.h"

namespace palladion::memory_model {

class ConcurrencyModel {
 public:
  explicit ConcurrencyModel(FenceRule rule = FenceRule(), bool proxies = true) : rule_(rule), agents_(proxies) {}

  AgentTable& agents() { return agents_; }
  const AgentTable& agents() const { return agents_; }
  const FenceRule& rule() const { return rule_; }
  const std::vector<Finding>& findings() const { return log_.findings(); }

  void NamePlaces(PlaceNamer namer) { namer_ = std::move(namer); }
  std::string PlaceOf(const CodeSite& site) const { return NameOfPlace(namer_, site); }

  // Without: accesses are neither remembered nor judged, and Start asks for no buffer; all else is as it was. Before
  // the first request. For runs without checks. Memory that no agent writes need not be adopted either way.
  void TrackAccesses(bool track) { tracks_accesses_ = track; }
  // Races of agents of two blocks, as far as they are no operations, are left to another judge: of a TPU's tasks,
  // which nothing can order, by what all of them touch.
  void LeaveRacesBetweenBlocks() { races_between_blocks_ = false; }
  bool Tracks(BufferId id) const { return tracks_accesses_ && memory_.Find(id) != nullptr; }

  // Memory. An array of the caller's is there before every agent; other memory begins with an allocation, and a free
  // ends it: both are writes of all of it. The id must be new, or one that was freed. What was done to bytes of an
  // arena before they were freed counts for the agent that gets them next, as far as it was ordered before the free;
  // the free reports the rest.
  void Adopt(BufferId id, TrackedBuffer buffer) {
    Begins(buffer);
    memory_.Adopt(id, std::move(buffer));
  }
  void Alloc(AgentId agent, BufferId id, TrackedBuffer buffer, const CodeSite& site);
  // The same, of what the agent has had since it began: agents ordered after its begin are ordered after it.
  void AllocAtStart(AgentId agent, BufferId id, TrackedBuffer buffer, const CodeSite& site);
  // The agent comes to an allocation that another one has reached before: a write of all of it.
  void Reallocate(AgentId agent, BufferId id, const CodeSite& site);
  void Overwrite(AgentId agent, BufferId id, const CodeSite& site);  // all of it
  // What operations of the kernel that the agent does not know to be complete do to one memory, they may do to the
  // other one as well, of the same shape: both are one as far as its text says.
  void CarryOver(AgentId agent, BufferId from, BufferId to);
  void Free(AgentId agent, BufferId id, const CodeSite& site);
  // The same once all of these agents are done: when their block ends. `name` says that: "the end of block (3, 0)".
  void FreeAfter(absl::Span<const AgentId> agents, std::string name, BufferId id, const CodeSite& site);
  // The same by `end`, an agent that has come to know what all of these did.
  void FreeAt(AgentId end, std::string name, BufferId id, const CodeSite& site);
  void EndArena(std::int32_t arena) { memory_.EndArena(arena); }  // its bytes are not reused any more
  // Its id may mean other memory from here on, which the model does not see.
  void Drop(BufferId id) { memory_.Drop(id); }
  void Touch(AgentId agent, BufferId id, AccessKind kind, const AccessSet& set, const CodeSite& site);
  void Commit(AgentId agent, ClockPart to, const CodeSite& site) { agents_.Commit(agent, to, site); }

  BarrierId MakeBarrier(Barrier::Spec spec);
  BarrierId MakeBarrier(BarrierSpec spec) { return MakeBarrier(std::make_shared<const BarrierSpec>(std::move(spec))); }
  void Arrive(AgentId agent, BarrierId id, const CodeSite& site);
  void Expect(AgentId agent, BarrierId id, const ExpectedBytes& expected, const CodeSite& site);  // an arrival too
  bool CanWait(AgentId agent, BarrierId id) const { return barriers_[id].CanWait(agent, agents_); }
  void Wait(AgentId agent, BarrierId id, const CodeSite& site) { barriers_[id].Wait(agent, site, &agents_, &log_); }
  bool Test(AgentId agent, BarrierId id, const CodeSite& site);  // a wait, if it can go: did it?
  WaitRecord Waiting(AgentId agent, BarrierId id, const CodeSite& site) const {
    return barriers_[id].Waiting(agent, site, &agents_);
  }
  void End(BarrierId id, const CodeSite& site, Barrier::Ends ends = Barrier::Ends::kScope);
  bool ArrivalsRace() const;  // of any barrier so far: Barrier::arrivals_race
  // The warps that the thread has spawned have ended. All of them, in order: barriers look at what each has seen.
  void JoinWarps(AgentId thread, absl::Span<const AgentId> warps);
  const Barrier& Of(BarrierId id) const { return barriers_[id]; }

  SemaphoreId MakeSemaphore(SemaphoreSpec spec);
  void Signal(AgentId agent, SemaphoreId id, const CodeSite& site, std::int64_t amount = 1);
  bool CanWait(SemaphoreId id, std::int64_t value) const { return semaphores_[id].CanWait(value); }
  void Wait(AgentId agent, SemaphoreId id, std::int64_t value, const SemaphoreWait& how = {});
  std::int64_t Read(AgentId agent, SemaphoreId id) { return semaphores_[id].Read(agent, &agents_); }
  void End(SemaphoreId id, const CodeSite& site);                              // its scope ends
  bool Leaks(SemaphoreId id) const { return semaphores_[id].Leaks(agents_); }  // would its end be a finding, now?
  const Semaphore& Of(SemaphoreId id) const { return semaphores_[id]; }
  // The name of a semaphore whose waits could have taken other credits in another schedule (Semaphore::waits_race);
  // "": there has been none.
  std::string RacingWait() const;
  // The next owner waits for the operations that still signal it: none of these is left over.
  void HandOver(SemaphoreId id);

  RendezvousId MakeRendezvous(std::string name, std::vector<AgentId> members);
  void Enter(AgentId agent, RendezvousId id, JointWork work, const CodeSite& site);
  bool CanLeave(AgentId agent, RendezvousId id) const { return meetings_[id].CanLeave(agent); }
  void Leave(AgentId agent, RendezvousId id) { meetings_[id].Leave(agent, &agents_); }
  const Rendezvous& Of(RendezvousId id) const { return meetings_[id]; }

  // Collective operations without a wait. Members are numbers, from 0.
  CollectiveId MakeCollective(std::string name, std::vector<std::string> members);
  void Enter(CollectiveId id, std::size_t member, std::string what, const CodeSite& site) {
    collectives_[id].Enter(member, std::move(what), site, &log_);
  }
  void MemberEnds(CollectiveId id, std::size_t member, const CodeSite& site) {
    collectives_[id].MemberEnds(member, site, &log_);
  }

  // Asynchronous operations. Start checks what it will touch against what the issuer knows now; Perform is for one of
  // Pending(), moves the bytes and lets completions happen. Errors of Start are AsyncEngine::Check's, and
  // ResourceExhausted after two thousand million operations.
  void TrackDefinedness() { engine_.TrackDefinedness(); }  // before the first; Memory's own follows the marks
  void MoveNothing() { engine_.MoveNothing(); }            // the same of Memory::MoveNothing
  QueueId MakeQueue(QueueOrder order) {
    queue_clocks_.Add();
    return engine_.AddQueue(order);
  }
  AsyncRequest NewRequest() { return engine_.NewRequest(); }
  // `as`: its id, where that has been given already (Memory::NewOperation); else the next one.
  absl::StatusOr<AgentId> Start(AgentId agent, AsyncRequest request, AgentId as = {});
  const AsyncRequest& RequestOf(AgentId operation) const { return engine_.RequestOf(operation); }  // while in flight
  std::vector<PendingHalf> Pending() const { return engine_.Pending(); }
  bool CanPerform(const PendingHalf& half) const { return engine_.CanPerform(half); }
  bool FollowsOutsideItsQueue(AgentId operation) const { return engine_.FollowsOutsideItsQueue(operation); }
  void Perform(const PendingHalf& half, Machine* memory);
  std::vector<AgentId> ToRead(BufferId buffer) const { return engine_.ToRead(buffer); }  // AsyncEngine's
  void ReadAhead(AgentId operation, Machine* memory) { engine_.ReadAhead(operation, memory); }
  void CommitGroup(QueueId queue) { engine_.CommitGroup(queue); }
  bool CanAwaitGroups(QueueId queue, std::size_t may_remain, Half half) const {
    return engine_.GroupsDone(queue, may_remain, half);
  }
  std::vector<AgentId> GroupsBut(QueueId queue, std::size_t may_remain) const {  // AsyncEngine's
    return engine_.GroupsBut(queue, may_remain);
  }
  struct GroupWait {
    std::size_t may_remain = 0;
    Half half = Half::kWrite;
    bool promised = false;  // WaitTarget's; the operation that is issued has this site
    CodeSite site = {};
  };
  void AwaitGroups(AgentId agent, QueueId queue, const GroupWait& wait);

  void AgentEnds(AgentId agent);

  // What has ended is retired, and its memory goes: an agent whose clock is no longer needed, a barrier or semaphore
  // after its End at which nothing in flight will arrive, a meeting and a collective whose members have all
  // ended, a queue without further waits. Ids are not given again. What an agent did stays in the histories.
  void Retire(AgentId agent);
  void Retire(BarrierId id);
  void Retire(SemaphoreId id);
  void Retire(RendezvousId id) { meetings_.Retire(id); }
  void Retire(CollectiveId id) { collectives_.Retire(id); }
  void Retire(QueueId id);

  // What is kept, for tests: bounded by what is alive, and by what histories remember.
  struct Kept {
    std::size_t agents = 0, ended_agents = 0, operations = 0, barriers = 0, semaphores = 0, meetings = 0,
                collectives = 0, queues = 0, buffers = 0, arenas = 0;
  };
  Kept kept() const;

  // The kernel ends, at `site`: what is left over.
  void End(const CodeSite& site);

 private:
  AccessFindings Words() const { return {{agents_, engine_, barriers_, semaphores_, promises_}, rule_, namer_}; }
  AccessEvent EventOf(AgentId agent, AccessKind kind, const CodeSite& site) const;
  void Begins(const TrackedBuffer& buffer) {
    if (buffer.space == ProxySpace::kTensor) agents_.KeepTensorCore();
  }
  // What the operation follows in its tensor core.
  std::vector<AgentId> Pipeline(const Pipelines::Issue& issue, const AsyncRequest& request);
  const Promises* Noted() const { return rule_.NotesPromises() ? &promises_ : nullptr; }
  Vantage VantageOf(AgentId agent) const { return {agents_.ClockOf(agent), ClockPart::kGeneric, agent, Noted()}; }
  Tracked* Judged(BufferId id) { return tracks_accesses_ ? memory_.Find(id) : nullptr; }  // nullptr: not to be judged
  void AllocatedAt(std::uint32_t time, AgentId agent, BufferId id, const CodeSite& site);
  struct LifeEnd {
    const ClockBundle& known;
    AgentId who;
    std::string name;
  };
  void FreeAt(LifeEnd end, Tracked* buffer, BufferId id, const CodeSite& site);
  // Reports what of an access's conflicts is new.
  void Report(const Tracked& buffer, BufferId id, const AccessEvent& event, const Vantage& vantage,
              absl::Span<const AccessConflict> conflicts);
  absl::Status CheckUnits(const AsyncRequest& request) const;
  struct Issued {
    AgentId operation;
    std::size_t parts = 1;  // several: one for each operand
    const CodeSite& site;
    bool in_turn = false;  // its queue has completed all before it: no promise is needed
    const AsyncRequest& request;
  };
  // `known`: what was known when its half begins.
  void TouchOperands(const Issued& issued, const std::vector<AsyncOperand>& operands, Half half,
                     const ClockBundle& known);
  bool LanesMeetBefore(AgentId agent, const AsyncRequest& request) const;
  void ReportOverlap(AgentId operation, const AsyncRequest& request);
  ClockBundle Released(const PendingHalf& half, const AsyncEngine::Performed& performed, const Completion& completion);
  void ReportNotAwaited(const AsyncEngine::Record& operation);
  void Sweep();
  std::vector<AgentId> Remembered(std::size_t* looked) const;

  FenceRule rule_;
  PlaceNamer namer_;
  AgentTable agents_;
  FindingLog log_;
  TrackedMemory memory_;
  LiveTable<BarrierId, Barrier> barriers_;
  LiveTable<SemaphoreId, Semaphore> semaphores_;
  LiveTable<RendezvousId, Rendezvous> meetings_;
  absl::flat_hash_map<std::int32_t, std::vector<RendezvousId>> meetings_of_;  // by agent
  LiveTable<CollectiveId, CollectiveLog> collectives_;
  AsyncEngine engine_;
  QueueClocks queue_clocks_;
  Promises promises_;
  Pipelines pipelines_;
  bool arrivals_raced_ = false;    // at a barrier that has been retired
  std::string waits_raced_;        // the name of a semaphore that has been retired
  std::set<AgentId> handed_over_;  // operations
  std::int64_t started_ = 0;
  bool tracks_accesses_ = true, races_between_blocks_ = true;
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_CONCURRENCY_MODEL_H_
