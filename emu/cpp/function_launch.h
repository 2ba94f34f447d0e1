// One schedule of a FunctionKernel: what a check of it repeats, compares and replays.
#ifndef PALLADION_EMU_CPP_FUNCTION_LAUNCH_H_
#define PALLADION_EMU_CPP_FUNCTION_LAUNCH_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/agents/run_observer.h"
#include "emu/cpp/code_places.h"
#include "emu/kernel.h"
#include "memory_model/order/fence_rule.h"
#include "scheduler/policy.h"
#include "scheduler/run_loop.h"
#include "semantics/base/finding.h"
#include "semantics/tensor/fill.h"

namespace palladion {

struct FunctionOptions {
  RunOptions run;
  std::int64_t step_budget = CheckOptions().step_budget;
  Fill fill = {};
  memory_model::FencePolicy fences = memory_model::FencePolicy::kPallas;
  bool races = false, definedness = false;
  std::vector<agents::RunObserver*> observers = {};  // whoever looks, as at a launch; there are no steps to watch
};

struct FunctionRun {
  std::vector<Tensor> outputs;
  std::vector<Finding> findings;
  std::vector<std::string> printed;
  scheduler::LoopResult run;
  std::int64_t accesses = 0, raced = 0, definedness = 0;
  bool engines = false;
  absl::Status trouble;  // why it did not come to its end
};

// ResourceExhausted: outputs for which there is no memory. All else is in the result.
absl::StatusOr<FunctionRun> RunFunctions(const FunctionKernel& kernel, absl::Span<const Tensor> inputs,
                                         const FunctionOptions& options, CodePlaces& places, scheduler::Policy& policy);

}  // namespace palladion

#endif  // PALLADION_EMU_CPP_FUNCTION_LAUNCH_H_
