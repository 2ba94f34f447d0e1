// RunKernel and CheckKernel: validation of the kernel and its arrays.
#include "emu/kernel.h"

#include <algorithm>
#include <limits>
#include <new>
#include <set>

#include "emu/check/options.h"
#include "emu/front/cpp/function_check.h"
#include "emu/front/cpp/function_launch.h"
#include "emu/kernel/arrays.h"
#include "emu/kernel/float_environment.h"
#include "emu/kernel/out_of_memory.h"
#include "emu/run/launch/launch.h"
#include "scheduler/policies/policies.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion {
namespace {

absl::Status Wrong(const FunctionKernel& kernel, const std::string& what) {
  return absl::InvalidArgumentError(Cat("kernel @", kernel.name, ": ", what));
}

absl::Status CheckShape(const FunctionKernel& kernel) {
  if (kernel.threads.empty()) return Wrong(kernel, "needs a function for each thread of a block; found none");
  for (const KernelFunction& function : kernel.threads) {
    if (!function) return Wrong(kernel, "the function of a thread is empty");
  }
  if (kernel.grid.empty()) return Wrong(kernel, "needs a grid of at least one dimension; a single block is {1}");
  __int128 threads = static_cast<__int128>(kernel.threads.size());
  for (const std::int64_t size : kernel.grid) {
    if (size < 1) return Wrong(kernel, Cat("a dimension of the grid has at least 1 block; found ", size));
    threads *= size;
    if (threads > std::numeric_limits<std::int32_t>::max()) return Wrong(kernel, "the grid has 2^31 threads or more");
  }
  return absl::OkStatus();
}

absl::Status CheckArrays(const FunctionKernel& kernel, absl::Span<const Tensor> inputs) {
  if (inputs.size() != kernel.inputs.size())
    return Wrong(kernel, Cat("has ", kernel.inputs.size(), " inputs; found ", inputs.size()));
  std::set<std::string> names(kernel.inputs.begin(), kernel.inputs.end());
  for (const Tensor& input : inputs) {
    if (input.rank() > kMaxBoxRank) return Wrong(kernel, "an input has too many dimensions");
  }
  for (const KernelOutput& output : kernel.outputs) {
    names.insert(output.name);
    PALLADION_RETURN_IF_ERROR(CountElements(output.dtype, output.shape).status());
    if (output.shape.size() > static_cast<std::size_t>(kMaxBoxRank))
      return Wrong(kernel, Cat("output '", output.name, "' has too many dimensions"));
    if (output.starts_as.empty()) continue;
    const auto at = std::find(kernel.inputs.begin(), kernel.inputs.end(), output.starts_as);
    if (at == kernel.inputs.end())
      return Wrong(kernel, Cat("output '", output.name, "' starts as '", output.starts_as, "', which is no input"));
    const Tensor& from = inputs[static_cast<std::size_t>(at - kernel.inputs.begin())];
    if (from.dtype() != output.dtype || from.shape() != output.shape)
      return Wrong(kernel, Cat("output '", output.name, "' is ", TypeString(output.dtype, output.shape),
                               "; the input that it starts as is ", TypeString(from.dtype(), from.shape())));
  }
  if (names.size() != kernel.inputs.size() + kernel.outputs.size())
    return Wrong(kernel, "two of its arrays have one name");
  return absl::OkStatus();
}

absl::Status CheckFits(const FunctionKernel& kernel, absl::Span<const Tensor> inputs) {
  PALLADION_RETURN_IF_ERROR(CheckShape(kernel));
  return CheckArrays(kernel, inputs);
}

}  // namespace

absl::StatusOr<RunResult> RunKernel(const FunctionKernel& kernel, absl::Span<const Tensor> inputs,
                                    const RunOptions& options) {
  PALLADION_RETURN_IF_ERROR(CheckFits(kernel, inputs));
  const kernel::FloatEnvironment environment;
  CodePlaces places;
  const std::unique_ptr<scheduler::Policy> policy = scheduler::MakeProgramOrder();
  try {
    RunResult result;
    for (const KernelOutput& output : kernel.outputs) {
      PALLADION_ASSIGN_OR_RETURN(Tensor tensor, Tensor::CreateUninitialized(output.dtype, output.shape));
      result.outputs.push_back(std::move(tensor));
    }
    const std::vector<MutableArray> outputs = kernel::MutableArraysOf(result.outputs);
    const agents::LaunchOptions scheduled{.run = options, .loop = {.budget = CheckOptions().step_budget}};
    const FunctionRun ran = RunFunctions({kernel, kernel::ArraysOf(inputs), outputs, scheduled}, places, *policy);
    const agents::Ran& launched = ran.result;
    if (!ran.trouble.ok() && launched.findings.empty()) return ran.trouble;
    result.report = {.kernel = kernel.name, .target = "generic", .printed = launched.printed};
    result.report.programs = launched.programs;
    for (const Finding& finding : launched.findings)
      result.report.findings.push_back(launch::Reported(finding, places.module()));
    if (!ran.trouble.ok()) result.report.error = ErrorReport(ran.trouble, "", "").error;
    result.report.verdict = VerdictOf(result.report);
    return result;
  } catch (const std::bad_alloc&) {
    return kernel::OutOfMemory(Cat("kernel @", kernel.name, ": out of memory"));
  }
}

absl::StatusOr<Report> CheckKernel(const FunctionKernel& kernel, absl::Span<const Tensor> inputs,
                                   const CheckOptions& options, std::vector<Tensor>* outputs) {
  PALLADION_RETURN_IF_ERROR(check::ExpectCheckOptions(options));
  if (options.parts.has_value())
    return absl::InvalidArgumentError("parts are of checks of kernels in text: give a C++ function's check all seeds");
  if (options.exhaustive)
    return absl::InvalidArgumentError("exhaustive is for kernels in text: take more seeds for a C++ function");
  PALLADION_RETURN_IF_ERROR(CheckFits(kernel, inputs));
  const kernel::FloatEnvironment environment;
  try {
    const std::vector<ConstArray> arrays = kernel::ArraysOf(inputs);
    FunctionCheck check(kernel, arrays, options);
    PALLADION_RETURN_IF_ERROR(check.Run());
    if (outputs != nullptr) *outputs = check.TakeOutputs();
    return check.TakeReport();
  } catch (const std::bad_alloc&) {
    return kernel::OutOfMemory(Cat("kernel @", kernel.name, ": out of memory"));
  }
}

}  // namespace palladion
