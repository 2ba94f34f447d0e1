// What a timed run leaves out: values that decide nothing (emu/run/launch/elided_program.h). The time, and what is said
// of it, are the same (conformance/elision_test.cc).
#ifndef PALLADION_EMU_TIMING_BASE_WITHOUT_VALUES_H_
#define PALLADION_EMU_TIMING_BASE_WITHOUT_VALUES_H_

#include <memory>

#include "emu/run/agents/launch_options.h"
#include "emu/run/launch/elided_program.h"
#include "emu/timing/base/timed_call.h"

namespace palladion::timing::base {

// Nothing is left out where values are asked for, or where a session gets what the kernel
// computes.
class LeftOut {
 public:
  // `kernel` is the call's, or what its model has made of it.
  LeftOut(const TimedCall& call, const kernel::PreparedKernelState& kernel)
      : without_(call.values || call.run.session != nullptr ? launch::WithoutValues{}
                                                            : launch::KernelWithoutValues(kernel)) {}

  // nullptr: nothing is.
  const std::shared_ptr<const kernel::PreparedKernelState>& kernel() const { return without_.kernel; }
  void ApplyTo(agents::LaunchOptions& options) const {
    if (without_.kernel == nullptr) return;
    options.moves_nothing = true;
    options.moved = without_.moved;
  }

 private:
  const launch::WithoutValues without_;
};

}  // namespace palladion::timing::base

#endif  // PALLADION_EMU_TIMING_BASE_WITHOUT_VALUES_H_
