// Whoever looks at a launch, without changing what it does: checks, traces, logs. All are in one list
// (LaunchOptions::observers), and whatever happens is told to them in the order of that list: the machine of threads;
// that operands have their memory; of the events of the run (memory_model/bytes/access_observer.h) those that each
// wants; that every agent has come to its end, and what that leaves in the machine. An observer may hand memory further
// ones when operands are bound: they come after those of the list, and the machine's own (clocks, spins, scratch of
// tasks) after these or before them. A launch pays for no kind of event that nobody wants.
#ifndef PALLADION_EMU_AGENTS_RUN_OBSERVER_H_
#define PALLADION_EMU_AGENTS_RUN_OBSERVER_H_

#include <functional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "memory_model/bytes/access_observer.h"
#include "memory_model/bytes/memory.h"
#include "semantics/program/program.h"

namespace palladion::threads {
class ThreadMachine;  // emu/threads/thread_machine.h
}  // namespace palladion::threads

namespace palladion::agents {

class RunObserver : public memory_model::AccessObserver {
 public:
  // Where threads run, or cores that have engines: their machine, before it knows any operand. It outlives them.
  virtual void Begun(const threads::ThreadMachine&) {}
  // Operands have their memory, and no program has begun: the buffer of each operand, in the order of
  // Program::operand_infos (invalid for bounds; of a resident block it is its array's); of a kernel that is a function,
  // of each output. Once for each device, in order.
  virtual void Bound(memory_model::Memory&, absl::Span<const BufferId> /*arrays*/) {}
  // Of the frame's agent.
  virtual void Before(const Step&, Frame&) {}
  virtual void After(const Step&, Frame&) {}
  // Every agent has come to its end; of a launch that fails, nobody is told. Once for each device, in order.
  virtual void Finished(memory_model::Memory&, absl::Span<const BufferId> /*arrays*/) {}
  // After that, of such a machine: what is left in it.
  virtual void Ended(const threads::ThreadMachine&) {}
};

// One that is there when operands are bound, and at the end.
class BoundAndFinished final : public RunObserver {
 public:
  using Look = std::function<void(memory_model::Memory& memory, absl::Span<const BufferId> arrays)>;
  explicit BoundAndFinished(Look bound, Look finished = {})
      : bound_(std::move(bound)), finished_(std::move(finished)) {}
  memory_model::EventSet wants() const override { return {}; }
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
  explicit StepWatchers(absl::Span<RunObserver* const> observers) {
    for (RunObserver* observer : observers) {
      if (observer->wants().Has(memory_model::EventKind::kStep)) watchers_.push_back(observer);
    }
  }
  bool empty() const { return watchers_.empty(); }
  void Before(const Step& step, Frame& frame) override {
    for (RunObserver* observer : watchers_) observer->Before(step, frame);
  }
  void After(const Step& step, Frame& frame) override {
    for (RunObserver* observer : watchers_) observer->After(step, frame);
  }

 private:
  std::vector<RunObserver*> watchers_;
};

}  // namespace palladion::agents

#endif  // PALLADION_EMU_AGENTS_RUN_OBSERVER_H_
