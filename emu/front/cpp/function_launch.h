// One schedule of a FunctionKernel, under the driver of every launch (emu/run/launch/driven_launch.h).
#ifndef PALLADION_EMU_FRONT_CPP_FUNCTION_LAUNCH_H_
#define PALLADION_EMU_FRONT_CPP_FUNCTION_LAUNCH_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "emu/front/cpp/code_places.h"
#include "emu/kernel.h"
#include "emu/run/events.h"
#include "emu/run/launch/run.h"
#include "scheduler/policy.h"

namespace palladion {

// What is launched, with what. Of the options those count that are of threads.
struct FunctionCall {
  const FunctionKernel& kernel;
  absl::Span<const ConstArray> inputs;
  absl::Span<const MutableArray> outputs;
  const agents::LaunchOptions& options;
};

struct FunctionRun {
  agents::Ran result;    // of one that did not come to its end, what there was until then
  absl::Status trouble;  // why it did not come to its end
};

FunctionRun RunFunctions(const FunctionCall& call, CodePlaces& places, scheduler::Policy& policy);

}  // namespace palladion

#endif  // PALLADION_EMU_FRONT_CPP_FUNCTION_LAUNCH_H_
