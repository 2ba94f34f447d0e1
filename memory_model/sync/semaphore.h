// A counting semaphore. Each signal is a credit that carries its signaller's clock, and a wait acquires only from the
// credits that it consumes, the oldest first: a credit that happens to be left over orders nothing. So a race that a
// spare credit hides is found in every schedule. Whether a wait might have been satisfied by another credit in another
// schedule (completions of two copies on one semaphore) is said by waits_race; what then happens, other schedules show.
#ifndef PALLADION_MEMORY_MODEL_SYNC_SEMAPHORE_H_
#define PALLADION_MEMORY_MODEL_SYNC_SEMAPHORE_H_

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "memory_model/order/agents.h"
#include "memory_model/sync/credit_layers.h"
#include "memory_model/sync/wait_record.h"
#include "semantics/base/finding_log.h"
#include "semantics/port/async.h"
#include "semantics/port/sync.h"

namespace palladion::memory_model {

enum class SemaphoreKind : std::uint8_t { kRegular, kDma, kBarrier };

constexpr CompletionUnit UnitOf(SemaphoreKind kind) {
  return kind == SemaphoreKind::kDma ? CompletionUnit::kBytes : CompletionUnit::kCount;
}

struct SemaphoreSpec {
  std::string name;  // "send_sem[0]"
  SemaphoreKind kind = SemaphoreKind::kRegular;
  std::string python = name;  // as an argument of a call: "send_sem.at[0]"
};

struct SemaphoreWait {
  bool decrement = true;
  MemoryScope scope = MemoryScope::kSystem;
  std::uint64_t acts = 0;  // the waiter's (AgentTable::ActsOf), and whether it is its first wait since the last one
  bool first = true;
};

class Semaphore {
 public:
  Semaphore(SemaphoreId id, SemaphoreSpec spec) : id_(id), spec_(std::move(spec)) {}

  // `clock` is what the signaller knows: an agent's clock (it ticks afterwards), or an operation's completion. Nothing
  // happens for an amount below 1.
  void Signal(AgentId by, const ClockBundle& clock, std::int64_t amount, const CodeSite& site);

  bool CanWait(std::int64_t value) const { return count_ >= value; }
  // A wait that can go. Without `decrement` the credits stay, and the next wait finds the same ones. In the scope of
  // its device it learns nothing from what another device has signalled.
  void Wait(AgentId agent, std::int64_t value, const SemaphoreWait& how, AgentTable* agents);
  // The count, and all that its credits release: a value that was read needed every one of them.
  std::int64_t Read(AgentId agent, AgentTable* agents);
  WaitRecord Waiting(AgentId agent, std::int64_t value, const CodeSite& site) const;

  // Its scope, or the kernel, ends. A GPU's semaphores are new ones in each kernel: what a wait without decrement has
  // left there on purpose is no leak.
  void End(const CodeSite& site, const AgentTable& agents, FindingLog* log);
  bool ended() const { return ended_; }
  bool Leaks(const AgentTable& agents) const;  // would its end be a finding, now?
  // It goes on after the kernel, as an operand of the next one: nothing is left over.
  void HandOver() { ended_ = true; }

  // Could a wait so far have taken other credits in another schedule?
  bool waits_race() const { return layers_.race(); }
  void DoNotJudgeWaits() { layers_.Withhold(); }  // then it says that they could

  // f(agent, how much is left) for every signal that no wait has used up, the oldest first.
  template <class F>
  void ForEachCredit(const F& f) const {
    for (const Credit& credit : credits_) f(credit.by, credit.left);
  }

  // f(agent) for all agents that a finding may name.
  template <class F>
  void ForEachAgent(const F& f) const {
    for (const Credit& credit : credits_) f(credit.by);
    layers_.ForEachAgent(f);
  }

  // The last wait of an agent for bytes: whose it took, and how many operations had been issued by then.
  struct Taken {
    AgentId by;
    std::size_t issued = 0;
    std::vector<AgentId> of;
  };
  const Taken* LastTaken(AgentId agent) const;  // nullptr: it has not waited

  const SemaphoreSpec& spec() const { return spec_; }
  std::int64_t count() const { return count_; }

 private:
  const ClockBundle& ReleasedBy(std::int64_t amount);  // by the oldest credits that come to as much
  void ForgetReleased();
  std::string WaitForTheRest(const AgentTable& agents) const;
  void NoteTaken(AgentId agent, std::int64_t value, const AgentTable& agents);
  void AcquireFromEach(AgentId agent, std::int64_t value, MemoryScope scope, AgentTable* agents) const;
  struct Credit {
    std::int64_t left = 0;
    ClockBundle clock;
    AgentId by;
    CodeSite site;
  };

  SemaphoreId id_;
  SemaphoreSpec spec_;
  std::int64_t count_ = 0;
  std::int64_t left_by_waits_ = 0;  // the greatest value that a wait without decrement has seen
  bool ended_ = false;
  std::deque<Credit> credits_;  // oldest first
  // What the first so many of them release together, and how much they are: many agents may wait for the same ones
  // without decrement.
  std::size_t released_by_ = 0;
  std::int64_t released_amount_ = 0;
  ClockBundle released_;
  CreditLayers layers_;
  std::vector<Taken> taken_;  // of each agent that has waited for bytes
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_SYNC_SEMAPHORE_H_
