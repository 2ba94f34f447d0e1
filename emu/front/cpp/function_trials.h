// The schedules of a FunctionKernel, as trials (emu/check/trial.h). Limits: one at a time, for the functions are the
// user's and may share what they like.
#ifndef PALLADION_EMU_FRONT_CPP_FUNCTION_TRIALS_H_
#define PALLADION_EMU_FRONT_CPP_FUNCTION_TRIALS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emu/check/trial.h"
#include "emu/front/cpp/code_places.h"
#include "emu/front/cpp/function_launch.h"
#include "emu/kernel.h"
#include "scheduler/policies/schedule.h"
#include "semantics/program/agent_naming.h"

namespace palladion {

class FunctionTrials final : public check::Trials {
 public:
  // What a trial is of: a kernel, and its places in the source.
  struct Of {
    const FunctionKernel& kernel;
    CodePlaces& places;
  };
  // All outlive it; the kernel, the inputs and the options have been looked at.
  FunctionTrials(const Of& of, absl::Span<const ConstArray> inputs, const CheckOptions& options);

  const scheduler::ScheduleOrigin& Origin() const;
  static scheduler::Schedule ScheduleOfSeed(std::int64_t seed);
  AgentNaming Naming() const;

  absl::Span<const ConstArray> inputs() const override { return inputs_; }
  bool interact() const override { return true; }
  std::string NameOf(scheduler::Schedule schedule) const override;
  bool names_program_order() const override { return false; }
  absl::StatusOr<std::unique_ptr<check::Trials>> With(absl::Span<const ConstArray> inputs,
                                                      const CheckOptions& options) const override;
  std::vector<std::size_t> InputsOfNumbers() const override;
  bool races_are_defects() const override { return true; }

 private:
  absl::StatusOr<check::Trial> RunOnce(const scheduler::Schedule& schedule, check::Watch watch,
                                       const scheduler::RunLengths& lengths,
                                       const agents::LaunchOptions* extra) const override;
  absl::StatusOr<std::vector<Tensor>> NewOutputs() const;

  const Of of_;
  const absl::Span<const ConstArray> inputs_;
  const CheckOptions& options_;
  const Program shape_;
  mutable std::optional<scheduler::ScheduleOrigin> origin_;
};

}  // namespace palladion

#endif  // PALLADION_EMU_FRONT_CPP_FUNCTION_TRIALS_H_
