#include "emu/run/agents/solo_spin.h"

#include <algorithm>
#include <string>

#include "semantics/base/cat.h"
#include "semantics/program/agent_naming.h"

namespace palladion::agents {

SoloSpin::SoloSpin(LaunchState& state, StepHooks* watcher)
    : watcher_(watcher), watch_(state.memory()), spin_(&watch_, &state.program()) {
  state.memory().Observe(&watch_);
  watch_.SetCurrent(nullptr, {});
}

absl::Status SoloSpin::Run(Frame& frame) {
  constexpr std::int64_t kFirst = std::int64_t{1} << 14;
  for (std::int64_t next = kFirst;; next *= 2) {
    frame.PauseAt(std::max(next, frame.back_edges() + 1));
    const absl::Status status = frame.Run();
    if (!IsPause(status)) return status;
    const absl::Status looked = Look(frame);
    if (stuck_.has_value() || !IsPause(looked)) return looked;
  }
}

// Some times round, with all that it does looked at.
absl::Status SoloSpin::Look(Frame& frame) {
  constexpr std::int64_t kTimes = 64;
  frame.PauseAt(frame.back_edges() + kTimes);
  frame.Watch(this);
  spin_.Start(scheduler::AgentOrdinal{0});
  watch_.SetCurrent(&spin_, spin_.agent());
  const absl::Status status = frame.Run();
  watch_.SetCurrent(nullptr, {});
  frame.Watch(watcher_);
  return status;
}

bool SoloSpin::MayGo(const Step& step, Frame& frame) {
  if (watcher_ != nullptr && step.visible && !watcher_->MayGo(step, frame)) return false;
  if (step.loop < 0 || !spin_.MustWait(step, frame)) return true;
  const auto no_name = [](scheduler::AgentOrdinal) { return std::string("it"); };
  stuck_ = Finding{.code = FindingCode::kDeadlock,
                   .severity = RowOf(FindingCode::kDeadlock).severity,
                   .message = Cat(AgentName(NamingOf(frame.program()), frame.grid_index()), " waits for ",
                                  spin_.Describe(no_name), " in a loop, and no program runs at the same time"),
                   .loc = step.loc,
                   .text_line = step.text_line,
                   .fix =
                       "end the loop by what the program itself does, or let another one write what it waits for, "
                       "with an atomic"};
  return false;
}

void SoloSpin::Before(const Step& step, Frame& frame) {
  if (watcher_ != nullptr) watcher_->Before(step, frame);
}

void SoloSpin::After(const Step& step, Frame& frame) {
  if (watcher_ != nullptr) watcher_->After(step, frame);
  watch_.Settle();
  if (step.lasting) spin_.Changed();
}

}  // namespace palladion::agents
