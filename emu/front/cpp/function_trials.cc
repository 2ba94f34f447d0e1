#include "emu/front/cpp/function_trials.h"

#include <algorithm>
#include <utility>

#include "emu/check/checkers.h"
#include "emu/check/options.h"
#include "emu/check/replay_origin.h"
#include "emu/front/cpp/function_machine.h"
#include "emu/kernel/arrays.h"
#include "semantics/base/status.h"

namespace palladion {
namespace {

// What a function does is not seen: the same string may be of another function of the same shape.
scheduler::ScheduleOrigin OriginOf(const FunctionKernel& kernel, absl::Span<const ConstArray> inputs,
                                   const CheckOptions& options) {
  scheduler::ScheduleHash shape, arrays;
  shape.Add("C++").Add(kernel.threads.size());
  for (const std::int64_t size : kernel.grid) shape.Add(static_cast<std::uint64_t>(size));
  const auto add = [&arrays](std::string_view name, DType dtype, absl::Span<const std::int64_t> sizes) {
    arrays.Add(name).Add(Name(dtype));
    for (const std::int64_t size : sizes) arrays.Add(static_cast<std::uint64_t>(size));
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) add(kernel.inputs[i], inputs[i].dtype, inputs[i].shape);
  for (const KernelOutput& output : kernel.outputs) add(output.name, output.dtype, output.shape);
  return {.kernel = check::OriginWord(kernel.name),
          .target = "generic",
          .options = check::OptionsText(options),
          .operations = scheduler::Folded(shape.value()),
          .shapes = scheduler::Folded(arrays.value()),
          .inputs = scheduler::Folded(check::HashOfInputs(inputs))};
}

}  // namespace

FunctionTrials::FunctionTrials(const Of& of, absl::Span<const ConstArray> inputs, const CheckOptions& options)
    : of_(of), inputs_(inputs), options_(options), shape_(FunctionMachine::ShapeOf(of.kernel)) {}

const scheduler::ScheduleOrigin& FunctionTrials::Origin() const {
  if (!origin_.has_value()) origin_ = OriginOf(of_.kernel, inputs_, options_);
  return *origin_;
}

scheduler::Schedule FunctionTrials::ScheduleOfSeed(std::int64_t seed) {
  const auto number = static_cast<std::uint64_t>(seed);
  return {.policy = scheduler::PolicyOfSeed(number), .seed = number, .moves = {}};
}

AgentNaming FunctionTrials::Naming() const { return FunctionMachine::NamingOf(of_.kernel); }

std::string FunctionTrials::NameOf(scheduler::Schedule schedule) const {
  schedule.origin = Origin();
  return ToString(schedule);
}

absl::StatusOr<std::unique_ptr<check::Trials>> FunctionTrials::With(absl::Span<const ConstArray> inputs,
                                                                    const CheckOptions& options) const {
  return std::unique_ptr<check::Trials>(std::make_unique<FunctionTrials>(of_, inputs, options));
}

std::vector<std::size_t> FunctionTrials::InputsOfNumbers() const {
  std::vector<std::size_t> all(inputs_.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  return all;
}

absl::StatusOr<std::vector<Tensor>> FunctionTrials::NewOutputs() const {
  std::vector<Tensor> outputs;
  for (const KernelOutput& output : of_.kernel.outputs) {
    PALLADION_ASSIGN_OR_RETURN(Tensor tensor, Tensor::CreateUninitialized(output.dtype, output.shape));
    outputs.push_back(std::move(tensor));
  }
  return outputs;
}

absl::StatusOr<check::Trial> FunctionTrials::RunOnce(const scheduler::Schedule& schedule, check::Watch watch,
                                                     const scheduler::RunLengths& lengths,
                                                     const agents::LaunchOptions* extra) const {
  const bool everything = watch == check::Watch::kEverything;
  check::Trial trial{.schedule = schedule};
  PALLADION_ASSIGN_OR_RETURN(trial.outputs, NewOutputs());
  agents::LaunchOptions options;
  if (extra != nullptr) options = *extra;
  options.loop.budget = std::min(options_.step_budget, lengths.most_work);
  options.fences = check::PolicyOf(options_.proxy);
  options.run = options_.run;
  options.fill = options_.fill;
  const auto run = [&](std::vector<Tensor>& outputs, const agents::LaunchOptions& with) {
    const std::vector<MutableArray> arrays = kernel::MutableArraysOf(outputs);
    return RunFunctions({of_.kernel, inputs_, arrays, with}, of_.places, *scheduler::MakePolicy(schedule, lengths));
  };
  check::Checkers checkers = check::Checkers::Of({.program = shape_,
                                                  .inputs = inputs_,
                                                  .mode = agents::ExecutionMode::kThreads,
                                                  .races = everything && options_.races,
                                                  .definedness = everything && options_.definedness,
                                                  .counts = everything});
  checkers.Attach(options);
  FunctionRun ran = run(trial.outputs, options);
  trial.trouble = ran.trouble;
  if (ran.trouble.ok()) {
    trial.trouble = checkers.Finish(ran.result, [&](const agents::LaunchOptions& again) -> absl::Status {
      PALLADION_ASSIGN_OR_RETURN(std::vector<Tensor> unused, NewOutputs());
      return run(unused, again).trouble;
    });
  }
  agents::Ran& result = ran.result;
  trial.tallies = checkers.looked().tallies;
  trial.programs = result.programs;
  trial.accesses = result.accesses;
  trial.findings = std::move(result.findings);
  trial.printed = std::move(result.printed);
  trial.engines = result.engines;
  trial.run = std::move(result.run);
  return trial;
}

}  // namespace palladion
