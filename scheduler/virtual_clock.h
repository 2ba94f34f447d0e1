// Virtual time of agents. An agent has a time, at which its next operation begins; the cost model advances it while the
// agent runs. An operation takes effect when it begins, so a run in which the agent with the smallest time goes next
// (MakeTimed) changes state in the order of time, and a wait ends when the operation that it waits for begins. Based
// on: discrete-event simulation. Limits: an agent's time between two operations is accounted at once, so requests for a
// resource may come out of order; a Server therefore gives idle gaps to later requests. Time changes no result: only
// one policy reads it.
#ifndef PALLADION_SCHEDULER_VIRTUAL_CLOCK_H_
#define PALLADION_SCHEDULER_VIRTUAL_CLOCK_H_

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "scheduler/operation.h"
#include "scheduler/policy.h"

namespace palladion::scheduler {

// A time, or how long something takes. The unit of a tick is defined by the users of the clock.
struct Ticks {
  std::int64_t value = 0;
  friend auto operator<=>(Ticks, Ticks) = default;
  friend Ticks operator+(Ticks a, Ticks b) { return {a.value + b.value}; }
  friend Ticks operator-(Ticks a, Ticks b) { return {a.value - b.value}; }
};

// At what time goes by: what an agent does, as the cost model numbers it, and how; or its operation beside its
// issuer until an appointment.
struct Spending {
  std::int32_t what = -1;
  std::uint8_t how = 0;
  bool appointed = false;
};

// Gets the steps by which each agent comes to its time.
class ClockListener {
 public:
  virtual ~ClockListener() = default;
  // `by`: the agent that spawned it, whose time it has; invalid of one that comes from the source.
  virtual void Entered(AgentOrdinal agent, AgentOrdinal by) = 0;
  virtual void Spent(AgentOrdinal agent, Ticks time, Spending at) = 0;
  virtual void Began(AgentOrdinal agent) = 0;  // an operation
  // Its time is from here on when the last operation of `by` began, which ended its wait.
  virtual void Followed(AgentOrdinal agent, AgentOrdinal by) = 0;
  virtual void Left(AgentOrdinal agent, Ticks time) = 0;
};

class VirtualClock {
 public:
  void ReportTo(ClockListener& listener) { listener_ = &listener; }  // before any agent enters; it outlives the run

  // ---- For the cost model. Times of the agent that runs.
  Ticks now() const { return running_ == nullptr ? Ticks{} : running_->time; }
  AgentOrdinal running() const { return running_ == nullptr ? AgentOrdinal() : running_->id; }
  Ticks operation_began() const { return began_; }
  Ticks waited() const { return waited_; }  // for that operation: what it took until it could begin
  Ticks TakeWaited() { return std::exchange(waited_, Ticks{}); }  // the same, once for each operation
  // What ended that wait, as CallRunning named it; kNone: it did not wait, or the name is unknown.
  static constexpr std::int32_t kNone = -1;
  std::int32_t ended_by() const { return ended_by_; }
  void CallRunning(std::int32_t what) { running_->doing = what; }
  void Spend(Ticks time, Spending at = {}) { Pass(*running_, time, at); }
  void SpendUntil(Ticks time, Spending at = {}) { Pass(*running_, time - running_->time, at); }
  // The same by a caller that reports the reason to the listener.
  void MoveTo(Ticks time) { running_->time = std::max(running_->time, time); }
  // Of an agent that runs beside its issuer, an engine's operation: its operations begin no earlier than these, one
  // for each, in this order; the first has not begun yet.
  void Appoint(AgentOrdinal agent, std::vector<Ticks> times);
  // The same of the agent that is spawned next, by a caller that knows what it will be before it has a number. `what`:
  // as CallRunning.
  void AppointNext(std::vector<Ticks> times, std::int32_t what) { next_ = {std::move(times), what}; }
  void NextEnters(Ticks time) { entry_ = time; }  // agents of the source, from here on: there was no room before
  Ticks Of(AgentOrdinal agent) const;             // when its next operation can begin
  Ticks first_request() const;                    // the earliest that a present agent has come to an operation
  Ticks end() const { return end_; }              // of the last that has ended

  // ---- Of the run loop.
  void Enter(AgentOrdinal agent, bool spawned);  // of a spawned one: now
  void Resume(AgentOrdinal agent) { running_ = &At(agent); }
  void Ask(AgentOrdinal agent);      // it wants to begin its next operation
  void Begin(AgentOrdinal agent);    // that operation begins
  void EndWait(AgentOrdinal agent);  // by the operation that began last
  void Leave(AgentOrdinal agent);

  // ---- Of a policy: of those that can go, in the order of their numbers, the one with the smallest time. Take: it
  // goes next, and all that can are given.
  const Candidate& Earliest(const Candidates& can_go) const;
  const Candidate& TakeEarliest(const Candidates& can_go);

 private:
  struct Agent {
    AgentOrdinal id;
    Ticks time, requested;
    std::vector<Ticks> appointed = {};
    std::size_t kept = 0;  // of these
    std::int32_t doing = kNone, ended_by = kNone;
  };
  struct Appointment {
    std::vector<Ticks> times;
    std::int32_t what = kNone;
  };
  // When an agent wanted to go; it may have gone since, or may have to wait again.
  struct Turn {
    Ticks time;
    std::int32_t agent = 0;
    friend auto operator<=>(const Turn&, const Turn&) = default;
  };
  Agent& At(AgentOrdinal agent) { return agents_.at(agent.value); }
  void KeepAppointment(Agent& at);
  void Pass(Agent& at, Ticks time, Spending spending) {
    if (time.value <= 0) return;
    at.time = at.time + time;
    if (listener_ != nullptr) listener_->Spent(at.id, time, spending);
  }
  void Queue(AgentOrdinal agent, Ticks time);

  std::unordered_map<std::int32_t, Agent>
      agents_;               // the present agents, by number; only looked up, and they stay in place
  std::vector<Turn> turns_;  // a heap, the earliest first: at least one of each that can go
  Agent* running_ = nullptr;
  Agent* began_last_ = nullptr;
  std::optional<Appointment> next_;
  Ticks began_, waited_, entry_, end_;
  std::int32_t ended_by_ = kNone;
  ClockListener* listener_ = nullptr;
};

// Something that one at a time can use: a pipe, a port, a link. First come, first served; one that asks
// later for an earlier time gets what is free then, in pieces where there is no room for all of it.
class Server {
 public:
  struct Piece {
    Ticks begin, end;
  };
  // So much of it, from `at` on; the end of the last piece. Nothing is over at once. `pieces`, if any: those that it
  // gets are added there.
  Ticks Serve(Ticks at, Ticks time, std::vector<Piece>* pieces = nullptr);
  Ticks busy() const { return busy_; }  // altogether
  // Since this was asked last: the longest wait because it was busy, and how long it was used.
  struct Recent {
    Ticks waited, served;
  };
  Recent TakeRecent() { return std::exchange(recent_, Recent{}); }
  // There are no requests for an earlier time any more.
  void Forget(Ticks before) {
    while (past_ < taken_.size() && taken_[past_].end < before) ++past_;
  }

 private:
  Ticks Take(Ticks at, Ticks time, std::vector<Piece>* pieces);
  void Insert(std::size_t at, const Piece& piece);
  // Oldest first; two of them never touch. Most requests are for the end of it, which is why it is a vector.
  std::vector<Piece> taken_;
  std::size_t past_ = 0;  // so many of the first are forgotten
  Ticks busy_;
  Recent recent_;
};

// The agent with the smallest time, by number where several have it; what it chooses is one of the legal schedules, and
// its moves replay without a clock. The clock outlives it and is the loop's (LoopOptions::clock).
std::unique_ptr<Policy> MakeTimed(VirtualClock& clock);

}  // namespace palladion::scheduler

#endif  // PALLADION_SCHEDULER_VIRTUAL_CLOCK_H_
