// The run loop: agents of a source run one at a time; before each visible operation the policy chooses the next agent,
// and only a change of agent costs a switch. Ends when all are done, when none is runnable, or when the budget of
// operations is spent. No clock, no threads, no global: the same source and policy give the same run.
#ifndef PALLADION_SCHEDULER_RUN_LOOP_H_
#define PALLADION_SCHEDULER_RUN_LOOP_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/agent.h"
#include "scheduler/policy.h"
#include "scheduler/wait_graph.h"
#include "semantics/base/run_control.h"

namespace palladion::scheduler {

class VirtualClock;  // scheduler/virtual_clock.h

struct LoopOptions {
  std::size_t resident = 1024;  // agents of the source that run at the same time, as blocks on a chip
  // Visible operations since an agent of the source came to its end, one of much work counting several times. Where
  // some end now and then, more of them are no livelock.
  std::int64_t budget = std::int64_t{1} << 24;
  // After so many operations of one agent in a row the others get a turn: an agent that spins on what another one has
  // to write would never let it.
  std::int64_t patience = 1024;
  bool record = true;  // LoopResult::moves and operations
  RunControl* control = nullptr;
  VirtualClock* clock = nullptr;  // gets each agent's time; outlives the loop. Not with Step: time does not go back
};

// A choice other than the default one: when `from` had done `operations`, `to` went next. from -1: the first of all.
struct Move {
  AgentOrdinal from;
  std::int64_t operations = 0;
  AgentOrdinal to;
  friend bool operator==(const Move& a, const Move& b) {
    return a.from == b.from && a.operations == b.operations && a.to == b.to;
  }
};

enum class Outcome : std::uint8_t {
  kFinished,
  kDeadlock,  // LoopResult::deadlock; partial too, as soon as it is seen
  kBudget,    // the budget is spent: a livelock, or a budget that is too small (`work` says what it would have taken)
};

struct LoopResult {
  Outcome outcome = Outcome::kFinished;
  std::int64_t steps = 0;     // visible operations done
  std::int64_t work = 0;      // the same as the budget counts them
  std::int64_t switches = 0;  // to another agent
  std::int64_t agents = 0;
  Deadlock deadlock;
  std::vector<Move> moves;               // the schedule
  std::vector<std::int64_t> operations;  // done by each agent
};

class RunLoop final : private Gate {
 public:
  explicit RunLoop(AgentSource& source, const LoopOptions& options = {});

  // To the end, the policy choosing. An agent's error is returned as it is. Cancelled: interrupted. Internal: a
  // condition changed without an operation that conflicts with it.
  absl::StatusOr<LoopResult> Run(Policy& policy);

  // One operation at a time, for exhaustive search: Start, then Step for one of the candidates until there is none.
  // kSnapshots: what agents hold is saved and restored, so no agent is given back to the source, and all of the
  // source's must be resident.
  enum class Search : std::uint8_t { kSnapshots, kFromTheStart };
  absl::Status Start(Search search);
  Candidates candidates() const { return state_.runnable; }
  absl::Status Step(const Candidate& candidate);
  absl::StatusOr<LoopResult> Finish();  // when there are no candidates
  std::int64_t started() const { return state_.started; }
  // f(candidate, ready, spawned) for every agent that has not ended.
  template <class F>
  void ForEachLive(const F& f) const {
    for (const Resident& resident : state_.slots) {
      if (resident.live()) f(resident.candidate, resident.ready, resident.owned != nullptr);
    }
  }

  // All that the loop itself and its agents hold, and back. Only between steps of Search::kSnapshots.
  struct Saved;
  absl::StatusOr<std::shared_ptr<const Saved>> Save() const;
  void Restore(const Saved& saved);

  // The running agent, or the last one; invalid before the first operation.
  AgentOrdinal running() const { return state_.running; }

 private:
  struct Resident {
    Agent* agent = nullptr;
    std::shared_ptr<Agent> owned;  // a spawned one
    Candidate candidate;           // as it is among those that can go; its operation is the one below
    Operation operation;
    std::int64_t operations = 0;
    bool live() const { return agent != nullptr; }
    bool ready = false;
    bool waits = false;  // is among those that wait: its operation has a condition, and has not begun
  };

  // The state of the agent whose Resume is running, or was the last.
  enum class Turn : std::uint8_t {
    kOver,     // it has to return, or has returned
    kComes,    // to its first operation, and no further
    kGranted,  // it was resumed for an operation, and has not taken it up
    kTaken,    // it carries the operation out; its effect is not accounted for yet
  };

  bool MayGo(const Operation& operation) override;
  bool TakeGrant() override;
  AgentOrdinal Spawn(std::shared_ptr<Agent> agent, const Operation& first) override;

  absl::Status Admit();
  std::uint32_t NewSlot(Agent* agent, std::shared_ptr<Agent> owned);
  absl::Status ResumeUntilHeld(std::uint32_t slot, Turn turn);
  Choice AllCandidates() const;
  std::uint32_t Ask();  // the slot of the agent that goes next
  void Record(const Choice& choice, const Candidate& pick);
  void Begin(std::uint32_t slot);  // accounts for the operation that is done next
  void EndOperation();             // what it did to those that wait
  void SetOperation(std::uint32_t slot, const Operation& operation);
  void Retire(std::uint32_t slot);
  void SetReady(std::uint32_t slot, bool ready);
  void StartWaiting(std::uint32_t slot);
  void StopWaiting(std::uint32_t slot);
  using Slots = absl::InlinedVector<std::uint32_t, 4>;
  Slots& WaitingWith(const Operation& operation);
  bool AskAgain(const Slots& slots, const Footprint& done);  // those with which it conflicts; is that all of them?
  void AskAboutChanges(const Footprint& done);
  std::vector<LiveAgent> Live() const;
  bool TimeToLook() const;  // for a partial deadlock
  bool FoundPartialDeadlock();
  absl::StatusOr<LoopResult> TakeResult(Outcome outcome);

  bool keeps_agents() const {
    const Search* const search = std::get_if<Search>(&driver_);
    return search != nullptr && *search == Search::kSnapshots;
  }

  // All that changes while the loop runs. Saved and restored as a whole.
  struct State {
    std::deque<Resident> slots;
    std::vector<std::uint32_t> free_slots;
    CandidateList runnable;
    // Slots whose operation has a condition, ready or not: by what it waits on, and where that is not known.
    absl::flat_hash_map<std::int64_t, Slots> waiting_on;
    Slots waiting;
    std::vector<std::int64_t> owed;  // objects that have changed, and not all that wait on them have been asked since
    std::size_t resident = 0;        // of the source's agents
    bool source_empty = false;
    std::int64_t started = 0;

    AgentOrdinal running;  // did the last operation, or does it now
    std::uint32_t running_slot = 0;
    std::int64_t running_operations = 0;  // of that agent
    std::int64_t in_a_row = 0;            // of these, since the last switch
    std::uint32_t active_slot = 0;        // whose Resume is running
    Turn turn = Turn::kOver;
    std::optional<std::uint32_t> chosen;  // the answer that ended the last Resume: the slot of the next agent
    std::int64_t since_end = 0;           // work since an agent of the source ended
    bool look_for_deadlock = false;       // an agent began to wait or was done since the last look
    std::int64_t looked_at_step = 0;
    LoopResult result;
  };
  void Relink();  // what refers to the slots, after these have been copied

  AgentSource& source_;
  Changes* const changes_;  // the source's; nullptr: it reports none
  const LoopOptions options_;
  std::variant<Policy*, Search> driver_ = Search::kFromTheStart;  // chooses what goes next
  State state_;
};

}  // namespace palladion::scheduler

#endif  // PALLADION_SCHEDULER_RUN_LOOP_H_
