// A program that runs alone and waits in a loop for what nobody will do: programs that run one after another cannot
// change what it looks at, so it is stuck at once, and not for ever. Loops are looked at now and then only, the more
// seldom the longer a program goes on: what is not stuck runs as fast as without.
#ifndef PALLADION_EMU_RUN_AGENTS_SOLO_SPIN_H_
#define PALLADION_EMU_RUN_AGENTS_SOLO_SPIN_H_

#include <optional>

#include "absl/status/status.h"
#include "emu/run/agents/launch_state.h"
#include "emu/run/agents/spin.h"

namespace palladion::agents {

class SoloSpin final : private StepHooks {
 public:
  // `watcher`: of the launch, or nullptr. Both outlive it.
  SoloSpin(LaunchState& state, StepHooks* watcher);
  SoloSpin(const SoloSpin&) = delete;
  SoloSpin& operator=(const SoloSpin&) = delete;

  // As frame.Run(); OK, too, when the program is stuck.
  absl::Status Run(Frame& frame);
  const std::optional<Finding>& stuck() const { return stuck_; }

 private:
  bool MayGo(const Step& step, Frame& frame) override;
  void Before(const Step& step, Frame& frame) override;
  void After(const Step& step, Frame& frame) override;
  absl::Status Look(Frame& frame);

  StepHooks* watcher_;
  SpinWatch watch_;
  Spin spin_;
  std::optional<Finding> stuck_;
};

}  // namespace palladion::agents

#endif  // PALLADION_EMU_RUN_AGENTS_SOLO_SPIN_H_
