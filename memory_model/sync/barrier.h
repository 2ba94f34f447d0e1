// A barrier: a fixed number of arrivals completes a phase, and a wait for that phase acquires what the arrivals
// released. Phases are counted in full; hardware keeps one bit, so what goes wrong there (two completions without a
// wait between them, a waiter that misses a phase) is found by comparing counts. Both are also found where the run went
// well by luck: a completion that is not ordered after the wait for the one before it. The warps of a thread begin with
// the phases that the thread has seen; at their end the thread has seen the phases that all of them have seen. Based on
// mbarrier as Pallas uses it (three rules: no two completions without a wait, as many waits as completions, an agent
// that waits once waits for each phase). Bytes are counted as mbarrier counts them (tx-count): a copy to several blocks
// at once expects, with its arrival, all that will land in its own block, and all that lands there counts for the
// current phase. A phase is complete when all its arrivals have been made and all its bytes have landed; bytes that
// land in another phase than the one that expects them are BAR_BYTES. Not here: cluster barriers, which are several of
// these.
#ifndef PALLADION_MEMORY_MODEL_SYNC_BARRIER_H_
#define PALLADION_MEMORY_MODEL_SYNC_BARRIER_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "memory_model/order/agents.h"
#include "memory_model/sync/wait_record.h"
#include "semantics/base/finding_log.h"
#include "semantics/port/async.h"

namespace palladion::memory_model {

struct BarrierSpec {
  std::string name;  // "full[1]"
  std::int64_t num_arrivals = 1;
  bool orders_tensor_core = false;
  std::string python = name;  // as an argument of a call: "full.at[1]"
};

class Barrier {
 public:
  // Many have the same: an array's element, in each block.
  using Spec = std::shared_ptr<const BarrierSpec>;
  Barrier(BarrierId id, Spec spec) : id_(id), spec_(std::move(spec)) {}

  // `clock` is what the arriver knows: an agent's clock (it ticks afterwards), or an operation's completion.
  struct Arrival {
    AgentId by;
    const ClockBundle& clock;
    const CodeSite& site;
  };
  void Arrive(const Arrival& arrival, const AgentTable& agents, FindingLog* log);
  // An arrival whose phase also expects so many bytes: one landing of each of these senders.
  void Expect(const Arrival& arrival, const ExpectedBytes& expected, const AgentTable& agents, FindingLog* log);
  // No arrival: a sender's bytes are there.
  struct Landing {
    std::int64_t bytes = 0, sender = 0;
  };
  void Land(const Arrival& by, const Landing& landing, const AgentTable& agents, FindingLog* log);

  // Is there a completion that the agent has not seen? A wait that can go takes it; so does a test that says yes.
  std::string WaitCall() const;  // the call that waits for it, for messages: "plgpu.barrier_wait(full.at[1])"
  bool CanWait(AgentId agent, const AgentTable& agents) const { return completed_ > SeenBy(agent, &agents); }
  // So many completions that wait needs, whatever else happens; none where a finding has changed which those are.
  std::optional<std::uint64_t> NeededBy(AgentId agent, const AgentTable& agents) const {
    return forgiven_ > 0 ? std::nullopt : std::optional(SeenBy(agent, &agents) + 1);
  }
  void Wait(AgentId agent, const CodeSite& site, AgentTable* agents, FindingLog* log);
  WaitRecord Waiting(AgentId agent, const CodeSite& site,
                     const AgentTable* agents = nullptr) const;  // nullptr: no warp

  // Warps of the thread have ended: what each has seen.
  void Join(AgentId thread, absl::Span<const AgentId> warps, const AgentTable& agents);

  // Its scope ends. Where the block ends with it nothing else gets the barrier's memory, so that a last completion
  // that not every agent waited for is a note then: hardware tolerates it, and kernels that JAX ships leave some.
  enum class Ends : std::uint8_t { kScope, kBlock };
  void End(Ends ends, const CodeSite& site, const AgentTable& agents, FindingLog* log);
  bool ended() const { return ended_; }

  // Could an arrival have counted for the phase before the one it came to, had it come earlier? Then what waits learn
  // depends on the schedule.
  bool arrivals_race() const { return arrivals_race_; }

  // Without the operations that are not needed any more (AgentTable::Sweep).
  void Forget(Remaining& remaining) {
    gathering_.Forget(remaining);
    last_.Forget(remaining);
  }

  // f(agent) for all agents that a finding may name.
  template <class F>
  void ForEachAgent(const F& f) const {
    f(last_by_.who);
    f(last_arrival_.who);
    for (const Waiter& waiter : waiters_) f(waiter.who);
    for (const Flow& flow : flows_) {
      for (const auto* halves : {&flow.expected, &flow.early}) {
        for (const HalfOfFlow& half : *halves) f(half.by.who);
      }
    }
  }

  // The agent's own time at its last step that a wait for the last completion acquires.
  std::uint32_t ReleasedTimeOf(AgentId agent) const { return last_[ClockPart::kGeneric].TimeOf(agent); }

  // A copy arrives here: JAX takes no such barrier that orders the tensor core.
  void TakesCopies() { takes_copies_ = true; }
  bool takes_copies() const { return takes_copies_; }
  // Does the agent know of the epoch from a wait here for what the other one's own arrival completed?
  bool Hands(const Epoch& epoch, AgentId from, AgentId to) const;

  const BarrierSpec& spec() const { return *spec_; }
  std::uint64_t completed() const { return completed_; }
  std::int64_t arrived() const { return arrived_; }  // in the current phase

 private:
  struct Waiter {
    AgentId who;
    std::uint64_t seen = 0;  // completions
    std::uint32_t time = 0;  // of the last wait
    CodeSite site;
    // A warp that has ended stays until the next completion: that has to come after its wait.
    bool ended = false;
    // Of a thread whose warps have seen different completions: by warp. It has seen what all of them have.
    std::vector<std::uint64_t> by_warp;
  };
  struct By {
    AgentId who;
    CodeSite site;
  };
  // What a sender's copies have done here: the copies that expect them, and the landings, in order; one of the two
  // lists is empty.
  struct HalfOfFlow {
    By by;
    std::uint64_t phase = 0;
    bool ordered = true;  // after the completion of the phase before
  };
  struct Flow {
    std::int64_t sender = 0;
    std::deque<HalfOfFlow> expected, early;
  };

  const Waiter* Find(AgentId agent) const;
  std::uint64_t SeenBy(AgentId agent, const AgentTable* agents) const;
  Waiter& WaiterOf(AgentId agent);
  Flow& FlowOf(std::int64_t sender);
  HalfOfFlow Gather(const Arrival& arrival);
  void MayComplete(const AgentTable& agents, FindingLog* log);
  std::string Came() const;  // "1 of 2 arrivals, 512 bytes to come"
  void CheckPhase(const HalfOfFlow& expects, const HalfOfFlow& lands, const AgentTable& agents, FindingLog* log) const;
  void CheckWarps(const Waiter& waiter, const CodeSite& site, const AgentTable& agents, FindingLog* log) const;
  void Complete(const By& by, const AgentTable& agents, FindingLog* log);
  void CheckOrder(const By& by, const AgentTable& agents, FindingLog* log) const;
  // What is wrong between two that did something to the barrier.
  struct Fault {
    FindingCode code = FindingCode::kBarrierDouble;
    Severity severity = Severity::kDefect;
    Confidence confidence = Confidence::kProved;
    By first, second;
    std::string message, why = {}, fix;
    Mend mend = {};
  };
  void Report(Fault fault, const AgentTable& agents, FindingLog* log) const;

  BarrierId id_;
  Spec spec_;
  std::uint64_t completed_ = 0;
  std::uint64_t forgiven_ = 0;  // completions that a finding has reported: no wait is needed for them
  std::int64_t arrived_ = 0;
  std::int64_t bytes_ = 0;  // to come; below 0: that have come and are not expected yet
  bool arrivals_race_ = false, ended_ = false, takes_copies_ = false;
  ClockBundle gathering_, last_;
  By last_by_;  // whose arrival completed the last phase
  By last_arrival_;
  std::vector<Waiter> waiters_;  // in the order of their first waits
  std::vector<Flow> flows_;
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_SYNC_BARRIER_H_
