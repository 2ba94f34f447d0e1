// An observer's state for each agent: agents are preempted at visible steps, in the middle of instructions too, so
// their state must be kept apart. A warp starts with a copy of its thread's state, on top of which come its own loops
// and instructions. Operations of engines happen between steps: there is no current agent then.
#ifndef PALLADION_EMU_RUN_WATCH_AGENT_STATES_H_
#define PALLADION_EMU_RUN_WATCH_AGENT_STATES_H_

#include <map>
#include <utility>

#include "emu/run/watch/mark_walk.h"
#include "semantics/program/mark.h"
#include "semantics/registry/op_row.h"

namespace palladion::watch {

// State has a `MarkWalk walk`, and is copied.
template <typename State>
class AgentStates {
 public:
  // What a new agent begins with.
  explicit AgentStates(State fresh = {}) : fresh_(std::move(fresh)) {}
  AgentStates(const AgentStates&) = delete;
  AgentStates& operator=(const AgentStates&) = delete;
  AgentStates(AgentStates&& other) noexcept
      : fresh_(std::move(other.fresh_)), states_(std::move(other.states_)), current_(nullptr) {}

  // StepHooks::Before.
  void Before(const Frame& frame) {
    const auto found = states_.find(frame.agent());
    current_ = found == states_.end() ? nullptr : &found->second;
  }

  // StepHooks::After: `handle(mark, state)` for every mark, when the walk has passed it.
  template <typename Handle>
  void After(const Step& step, const Frame& frame, const Handle& handle) {
    current_ = nullptr;
    const Mark* mark = MarkOf(step);
    if (mark == nullptr) return;
    const bool of_kernel = mark->instr == nullptr;
    const bool of_warp = !of_kernel && frame.warp().has_value() && IsFork(*mark->instr);
    State& state = mark->kind == Mark::Kind::kEnter && of_kernel ? Begin(frame.agent(), fresh_)
                   : mark->kind == Mark::Kind::kEnter && of_warp
                       ? BeginWarp(frame)
                       : states_.try_emplace(frame.agent(), fresh_).first->second;
    state.walk.Pass(*mark);
    handle(*mark, state);
    if (mark->kind == Mark::Kind::kLeave && (of_kernel || of_warp)) states_.erase(frame.agent());
  }

  // Whose step is running; nullptr between steps, and outside the regions of kernels.
  State* current() { return current_; }

 private:
  static bool IsFork(const Instr& instr) { return instr.row->loops == Loops::kWarps; }

  State& Begin(AgentId agent, const State& as) { return states_.insert_or_assign(agent, as).first->second; }
  State& BeginWarp(const Frame& frame) {
    const auto thread = states_.find(frame.warp()->thread);
    return Begin(frame.agent(), thread == states_.end() ? fresh_ : State(thread->second));
  }

  State fresh_;
  std::map<AgentId, State> states_;
  State* current_ = nullptr;
};

}  // namespace palladion::watch

#endif  // PALLADION_EMU_RUN_WATCH_AGENT_STATES_H_
