// The events of a run, for observers that do not change what it does: checks, clocks, traces, logs. All are in one list
// (LaunchOptions::observers), and each gets what it wants (EventSet), in the order of that list:
//
//   step     Before, After          of the frame's agent
//   turn     Running                whose what follows is
//   access   Box, Points            before its bytes move
//   alloc    Alloc, Free, Poison    of memory
//   issue    Issued                 of an operation that engines carry out
//   half     HalfDone               of such an operation
//   wait     Awaited                what was waited for is there
//   arrive   Arrives                at a barrier or semaphore
//   lanes    LanesMet, LanesMetUntil
//
// and whether it wants events or not: Begun, Bound, Finished, Ended. Each event but a step and a turn, which are an
// agent's by what they give, has a Who: the agent, and the operation whose issue or phase it is. A launch pays for
// no kind that no watcher wants. All but steps come from the memory of the run (memory_model/bytes/events.h), which a
// watcher may hand further ones when operands are bound: they come after those of the list, and the machine's own
// (clocks, spins, scratch of tasks) after these or before them.
#ifndef PALLADION_EMU_RUN_EVENTS_H_
#define PALLADION_EMU_RUN_EVENTS_H_

#include <functional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "memory_model/bytes/events.h"
#include "memory_model/bytes/memory.h"
#include "semantics/program/program.h"

namespace palladion::threads {
class ThreadMachine;  // emu/run/threads/thread_machine.h
}  // namespace palladion::threads

namespace palladion::run {

using memory_model::EventKind;
using memory_model::EventSet;

class Watcher : public memory_model::MemoryWatcher {
 public:
  // Where threads run, or cores that have engines: their machine, before it knows any operand. It outlives them.
  virtual void Begun(const threads::ThreadMachine&) {}
  // Operands have their memory, and no program has begun: the buffer of each operand, in the order of
  // Program::operand_infos (invalid for bounds; of a resident block it is its array's); of a kernel that is a function,
  // of each output. Once for each device, in order.
  virtual void Bound(memory_model::Memory&, absl::Span<const BufferId> /*arrays*/) {}
  virtual void Before(const Step&, Frame&) {}
  virtual void After(const Step&, Frame&) {}
  // Every agent has come to its end; not called for a launch that fails. Once for each device, in order.
  virtual void Finished(memory_model::Memory&, absl::Span<const BufferId> /*arrays*/) {}
  // After that, of such a machine: what is left in it.
  virtual void Ended(const threads::ThreadMachine&) {}
};

// One that is there when operands are bound, and at the end.
class BoundAndFinished final : public Watcher {
 public:
  using Look = std::function<void(memory_model::Memory& memory, absl::Span<const BufferId> arrays)>;
  explicit BoundAndFinished(Look bound, Look finished = {})
      : bound_(std::move(bound)), finished_(std::move(finished)) {}
  EventSet wants() const override { return {}; }
  void Bound(memory_model::Memory& memory, absl::Span<const BufferId> arrays) override {
    if (bound_) bound_(memory, arrays);
  }
  void Finished(memory_model::Memory& memory, absl::Span<const BufferId> arrays) override {
    if (finished_) finished_(memory, arrays);
  }

 private:
  const Look bound_, finished_;
};

// Those of a list that watch steps, as a frame knows them.
class StepWatchers final : public StepHooks {
 public:
  explicit StepWatchers(absl::Span<Watcher* const> all) {
    for (Watcher* watcher : all) {
      if (watcher->wants().Has(EventKind::kStep)) watchers_.push_back(watcher);
    }
  }
  bool empty() const { return watchers_.empty(); }
  void Before(const Step& step, Frame& frame) override {
    for (Watcher* watcher : watchers_) watcher->Before(step, frame);
  }
  void After(const Step& step, Frame& frame) override {
    for (Watcher* watcher : watchers_) watcher->After(step, frame);
  }

 private:
  std::vector<Watcher*> watchers_;
};

}  // namespace palladion::run

#endif  // PALLADION_EMU_RUN_EVENTS_H_
