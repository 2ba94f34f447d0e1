// Detects a program that runs alone and waits in a loop for ever: programs that run one after another cannot change
// what it reads, so it is stuck as soon as an iteration changes nothing. Loops are tested occasionally only, and less
// often the longer a program runs, so others run at full speed.
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
