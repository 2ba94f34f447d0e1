// What threads can wait for: one class for each kind, found by the id that a request carries (WaitTarget::kind; the
// table is in waitables.h). All questions of a launch about a wait go to this class, so that a new synchronisation
// primitive is one such class. memory_model/sync has the objects themselves, and when a wait for one may end; a
// Waitable knows where a launch over threads keeps them. Based on: the waits of Pallas' Mosaic GPU backend. Limits: it
// knows no schedule, nor what a thread may still do (asking.h).
#ifndef PALLADION_EMU_RUN_THREADS_WAITABLE_H_
#define PALLADION_EMU_RUN_THREADS_WAITABLE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/run/threads/object_name.h"
#include "emu/run/threads/shown_waits.h"
#include "memory_model/sync/wait_record.h"
#include "scheduler/operation.h"
#include "semantics/base/ids.h"
#include "semantics/port/access.h"
#include "semantics/port/async.h"
#include "semantics/port/sync.h"

namespace palladion::threads {

class ThreadTouches;

// An agent's request of something that one can wait for, as it is carried out.
struct Asker {
  AgentId agent;
  const Site& site;
  scheduler::Changes& changes;  // is given the objects that it changes
  ThreadTouches* touches;       // notes what it touches; nullptr: no search
};

class Waitable {
 public:
  virtual ~Waitable() = default;

  // The agent's part in what others wait for. Of a kind that only engines or the ends of agents bring about, an error.
  virtual absl::Status Arrive(const Asker& asker, const Arrival& arrival);
  // What Machine::Poll says. Of a kind that is only waited for, an error.
  virtual absl::StatusOr<std::int64_t> Poll(const Asker& asker, const WaitTarget& target);
  // May the thread go on?
  virtual bool CanWait(AgentId thread, const WaitTarget& target) const = 0;
  // It goes on: takes what it waited for, and acquires what that released.
  // Some waits also bring the lanes of the thread together, without JAX's automatic barriers: those for copies, tensor
  // memory and semaphores end with a barrier of the warpgroup, and every lane takes part in its thread's arrivals, so
  // a wait for a barrier knows of all that was before an arrival of the thread's own. A wgmma is each warp's own to
  // wait for. Limits: a commit of the tensor core is one lane's arrival, and counts as all of them; who proves
  // something of lanes has to look at it (emu/check/lane_races.h).
  virtual void Wait(AgentId thread, const WaitTarget& target, const Site& site) = 0;
  virtual std::string Describe(AgentId thread, const WaitTarget& target) const = 0;  // for reports of deadlocks
  // What it is, without what it waits for: "barrier full[1]".
  virtual std::string Name(AgentId thread, const WaitTarget& target) const { return Describe(thread, target); }
  virtual std::int64_t Object(AgentId thread, const WaitTarget& target) const = 0;  // of schedules (schedule_objects.h)
  // A thread has ended, which may end a wait. Called for the barrier of a cluster alone (ThreadMachine::LeaveCluster).
  virtual void ThreadEnds(const Asker&) {}
  virtual void Retire(BlockId) {}  // the block has come to its end, and what it alone had of these is gone
  // Else nothing is waited for: no operation of a schedule.
  virtual bool IsVisible() const { return true; }
  // One lane of a thread arrives for it, whatever the others have come to.
  virtual bool OneLaneArrives() const { return false; }

  // ---- for recorded schedules

  virtual ShownArrival ShowArrival(AgentId agent, const Arrival& arrival) const;  // before it arrives
  virtual ShownWait ShowWait(AgentId agent, const WaitTarget& target) const;      // after it has waited

  // ---- for the scheduler

  // What a wait may touch at most.
  virtual scheduler::Touch TouchOf(AgentId thread, const WaitTarget& target) const {
    return {.object = Object(thread, target)};
  }
  // For exhaustive search: what this one touches, reported before it is carried out. Without more: the object, alone.
  virtual void ReportTouches(AgentId thread, const WaitTarget& target, ThreadTouches* touches) const;
  // Of a wait for a count, how much that has to be.
  virtual std::optional<scheduler::Need> Needs(AgentId, const WaitTarget&) const { return std::nullopt; }

  // ---- who may bring it about

  // The operation of an engine, once it has ended?
  virtual bool EngineMaySignal(AgentId /*waiter*/, const WaitTarget&, const AsyncRequest&) const { return false; }
  // A thread with this index, or a warp of it? Without a value: one that comes to the target's array may.
  struct Other {
    absl::Span<const std::int64_t> index;
    bool is_warp = false;
  };
  virtual std::optional<bool> ThreadMaySignal(AgentId waiter, const Other& other) const = 0;

  // ---- of a loop that looks at it and goes on in any case

  // Another number once it has changed.
  virtual std::int64_t Look(AgentId thread, const WaitTarget& target) const { return CanWait(thread, target) ? 1 : 0; }
  virtual std::string DescribeChange(AgentId thread, const WaitTarget& target) const {
    return Describe(thread, target);
  }
  virtual bool LookTakes(AgentId, const WaitTarget&) const { return false; }  // what it waits for, as Wait does
};

// What a loop finds that looked at a barrier or semaphore, and has left its scope since.
inline constexpr std::int64_t kGone = -1;

// Does one of the operation's completions go to the object?
bool Completes(const AsyncRequest& request, std::int64_t object);
std::string WordsFor(const memory_model::WaitRecord& wait);  // "barrier full[1] (needs completion 3, has 2 …)"

}  // namespace palladion::threads

#endif  // PALLADION_EMU_RUN_THREADS_WAITABLE_H_
