// The owners of vector-clock components: agents, and asynchronous operations, each with a component of its own that is
// never reused. An agent's clock ticks when it releases (an arrival, a signal, an issue, a fence), so that later
// accesses do not count as released. Operations that nothing can refer to any more are dropped, in rounds whose number
// grows with the logarithm of the live ones; so clocks are bounded by what is in flight. A retired agent has no clock
// any more; its name is kept until a round in which nothing refers to it. Its component stays in the clocks that have
// acquired it: its accesses are ordered as before.
#ifndef PALLADION_MEMORY_MODEL_ORDER_AGENTS_H_
#define PALLADION_MEMORY_MODEL_ORDER_AGENTS_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "memory_model/order/clock.h"
#include "memory_model/order/places.h"
#include "semantics/base/live_table.h"
#include "semantics/port/machine.h"

namespace palladion::memory_model {

class AgentTable {
 public:
  // The machine has proxies (GPUs); without, bundles hold the generic clock alone.
  explicit AgentTable(bool proxies = true) : proxies_(proxies) {}

  bool proxies() const { return proxies_; }
  // There is tensor memory: from here on what an agent does itself is visible to its own accesses there.
  void KeepTensorCore();

  // `name` is for messages: "thread 1 (block 3, 0)".
  AgentId Add(std::string name, const Place& place, AgentRole role = AgentRole::kThread);
  // A child that starts now, and its end: what each does is ordered by it.
  AgentId Spawn(AgentId parent, std::string name, const Place& place, const CodeSite& site);
  void Join(AgentId parent, AgentId child);
  // The agent that spawned or issued it; invalid: none.
  AgentId ParentOf(AgentId who) const { return IsOperation(who) ? IssuerOf(who) : Agent(who).parent; }
  // Whose warp it is; of any other agent, itself.
  AgentId ThreadOf(AgentId agent) const { return RoleOf(agent) == AgentRole::kWarp ? ParentOf(agent) : agent; }
  AgentRole RoleOf(AgentId who) const { return IsOperation(who) ? AgentRole::kOperation : Agent(who).role; }
  // It has ended, and its clock is no longer needed.
  void Retire(AgentId agent);
  bool Lives(AgentId agent) const { return clocks_.Has(agent); }

  // An operation that `issuer` starts now. `Fork` is what it knows, `Completion` what is acquired by a wait for its
  // first `halves` halves. Forget it when both phases are done and released: then only its users keep it.
  // With a number its name is "wgmma #3".
  AgentId AddOperation(AgentId issuer, std::string name, const CodeSite& site, std::int64_t number = -1);
  // A part of the operation issued last that has a completion of its own: the write of another
  // destination. Ids follow that one's.
  AgentId AddPart(AgentId operation);
  static AgentId PartOf(AgentId operation, std::size_t destination) {
    return AgentId{operation.value + static_cast<std::int32_t>(destination)};
  }
  // The waiter is where its destination is.
  bool CompletesElsewhere(AgentId operation) const { return Has(operation) && Operation(operation).apart; }
  // The user's words for a wait for it, "plgpu.barrier_wait(b)"; "" where there are none.
  void SayAwait(AgentId operation, std::string call) { Operation(operation).await = std::move(call); }
  // It is a copy of a block that its core's pipeline makes; nullptr: it is not.
  void SayBlock(AgentId operation, std::shared_ptr<const BlockCopy> block) {
    Operation(operation).block = std::move(block);
  }
  const BlockCopy* BlockOf(AgentId who) const {
    return IsOperation(who) && Has(who) ? Operation(who).block.get() : nullptr;
  }
  std::string AwaitOf(AgentId operation) const { return Has(operation) ? Operation(operation).await : ""; }
  // The semaphore that the end of its half signals; invalid: none. A copy of which both halves signal one
  // is a remote one: the receiver waits for its write, the sender for its read.
  void SaySemaphore(AgentId operation, Half half, SemaphoreId semaphore) {
    Operation(operation).semaphores[half == Half::kWrite] = semaphore;
  }
  SemaphoreId SemaphoreOf(AgentId operation, Half half) const {
    return Has(operation) ? Operation(operation).semaphores[half == Half::kWrite] : SemaphoreId();
  }
  // The operation that is added next has this id, which is later than that of any before it; false: it is not.
  bool GiveNext(AgentId id) {
    if (id.value < next_operation_) return false;
    next_operation_ = id.value;
    return true;
  }
  // Operations that are issued from here on have numbers from this one on.
  std::size_t issued() const { return static_cast<std::size_t>(next_operation_ - kFirstOperation); }
  static constexpr std::int32_t kMaxOperations = 0x7fffffff - kFirstOperation;
  bool NoMoreOperations() const { return next_operation_ - kFirstOperation >= kMaxOperations; }
  static bool IsOperation(AgentId who) { return memory_model::IsOperation(who); }
  // How many operations have been issued before it.
  static std::size_t NumberOf(AgentId operation) { return static_cast<std::size_t>(operation.value - kFirstOperation); }
  const ClockBundle& Fork(AgentId operation) const { return *Operation(operation).fork; }
  ClockBundle& Fork(AgentId operation) { return *Operation(operation).fork; }
  void DropFork(AgentId operation) { Operation(operation).fork.reset(); }  // not needed again, nor its completion
  AgentId IssuerOf(AgentId who) const { return IsOperation(who) ? Operation(who).issuer : who; }
  ClockBundle Completion(AgentId operation, std::uint32_t halves) const;
  // The operation's first `halves` halves are known from here on, but not what it knew.
  void AddCompletionOf(AgentId operation, std::uint32_t halves, ClockBundle* clock) const {
    const Epoch done{operation, halves};
    proxies_ ? clock->Raise(done) : clock->RaiseGeneric(done);
  }

  const ClockBundle& ClockOf(AgentId agent) const { return clocks_[agent]; }
  std::uint32_t NowOf(AgentId agent) const { return Agent(agent).now; }
  // Has the agent learned of what it did at this time by a wait of its own?
  bool RoundTrip(AgentId agent, std::uint32_t time) const { return time <= Agent(agent).echoed; }

  // All lanes of the agent have come to where it is now, before its clock ticks for what it does next.
  void LanesMeet(AgentId agent) { Agent(agent).met = Agent(agent).now; }
  // Have they met since it did something at this time?
  bool LanesMetSince(AgentId agent, std::uint32_t time) const { return time <= Agent(agent).met; }

  // What the agent does that another agent or an engine could observe, or that observes them, is counted. So two waits
  // with one count between which it has done nothing of the kind can be known.
  void Act(AgentId agent) { ++Agent(agent).acts, Agent(agent).has_waited = false; }
  std::uint64_t ActsOf(AgentId agent) const { return Agent(agent).acts; }
  // A wait for a count, which is no act though the agent learns by it: is it the first since the last act?
  bool WaitsFirst(AgentId agent) const { return !Agent(agent).has_waited; }
  void HasWaited(AgentId agent, std::uint64_t acts) { Agent(agent).acts = acts, Agent(agent).has_waited = true; }

  // After the clock has been handed to a barrier, a semaphore or an operation.
  void Tick(AgentId agent, const CodeSite& site);
  void Acquire(AgentId agent, const ClockBundle& released);
  void AcquireCompletion(AgentId agent, AgentId operation, std::uint32_t halves);  // the same of Completion
  // A wait took a signal whose clock its scope does not reach: the agent learns nothing, and a message may say why.
  void KeepFrom(AgentId agent, const ClockBundle& released) { kept_from_[agent.value].JoinGeneric(released); }
  bool IsKeptFrom(AgentId agent, const Epoch& epoch) const {
    const auto kept = kept_from_.find(agent.value);
    return kept != kept_from_.end() && kept->second[ClockPart::kGeneric].Covers(epoch);
  }
  void Commit(AgentId agent, ClockPart to, const CodeSite& site);

  std::string OperationName(AgentId operation) const;  // without its issuer's
  std::string NameOf(AgentId who) const;               // of an operation that is forgotten, only that it was one
  const Place& PlaceOf(AgentId who) const;             // of an operation: its issuer's

  // What `agent` last acquired of `other`: the line of the release, where it is remembered.
  struct Acquired {
    std::uint32_t time = 0;
    CodeSite site;
    bool known = false;
  };
  Acquired LastAcquired(const ClockBundle& clock, AgentId other) const;

  // Is it time to forget? Then `remaining` is every agent that some history, object of synchronisation or pending half
  // still holds, agents and operations; and `looked` is how many places had to be looked at for that.
  bool Crowded() const { return operations_.size() + ended_.size() >= next_sweep_; }
  void Sweep(Remaining& remaining, std::size_t looked);
  std::size_t operations() const { return operations_.size(); }
  std::size_t agents() const { return clocks_.live(); }
  std::size_t ended() const { return ended_.size(); }  // whose names are still known
  // Does any agent know of an operation's first `halves` halves, or did one that has been retired? For all operations
  // at once, of what is known when this is called: then KnownNow(operation, halves).
  void NoteKnown();
  bool KnownNow(AgentId operation, std::uint32_t halves) const { return Operation(operation).known >= halves; }

 private:
  static constexpr std::size_t kRemembered = 8;
  struct AgentState {
    std::string name;
    Place place;
    AgentRole role = AgentRole::kThread;
    AgentId parent;
    std::uint32_t now = 1;
    std::uint32_t echoed = 0, met = 0;
    std::uint64_t acts = 0;
    bool has_waited = false;                      // since its last act
    std::array<CodeSite, kRemembered> published;  // at time t: entry t modulo the size
  };
  struct OperationState {
    AgentId id;
    AgentId issuer;
    std::string name, await;
    std::array<SemaphoreId, 2> semaphores;  // by half
    std::int64_t number = -1;
    // Written only while the operation starts, so that copies share it. nullptr: not needed, its issuer is gone.
    std::shared_ptr<ClockBundle> fork;
    std::shared_ptr<const BlockCopy> block;
    std::uint32_t known = 0;  // so many halves some agent knows of
    bool apart = false;
  };

  AgentState& Agent(AgentId id) { return agents_[id]; }
  const AgentState& Agent(AgentId id) const { return agents_[id]; }
  void GatherKnown(const ClockBundle& clock, KnownOperations* known);
  void NoteKnown(OperationState* operation, std::uint32_t halves) {
    if (operation != nullptr) operation->known = std::max(operation->known, halves);
  }
  void RaiseOwn(AgentId agent);
  OperationState* FindOperation(AgentId id);
  bool Has(AgentId operation) const { return const_cast<AgentTable*>(this)->FindOperation(operation) != nullptr; }
  OperationState& Operation(AgentId id) { return *FindOperation(id); }
  const OperationState& Operation(AgentId id) const { return const_cast<AgentTable*>(this)->Operation(id); }

  bool proxies_;
  bool tensor_core_ = false;
  LiveTable<AgentId, AgentState> agents_;  // the ended ones too, while something refers to them
  LiveTable<AgentId, ClockBundle> clocks_;
  absl::flat_hash_map<std::int32_t, ClockBundle> kept_from_;  // by agent
  std::vector<AgentId> ended_;
  KnownOperations ended_knew_;              // of operations, what NoteKnown has not noted yet
  std::vector<OperationState> operations_;  // by id
  std::int32_t next_operation_ = kFirstOperation;
  std::size_t next_sweep_ = 64;
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_ORDER_AGENTS_H_
