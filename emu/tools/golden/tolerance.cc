#include "emu/tools/golden/tolerance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_join.h"
#include "emu/tools/golden/compare.h"
#include "emu/tools/golden/error_kernel.h"
#include "emu/tools/golden/rewrite.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/registry/op_row.h"

namespace palladion::golden {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

absl::StatusOr<std::vector<Tensor>> RunErrorKernel(const PreparedKernel& kernel, const ErrorKernel& error,
                                                   const RunOptions& run, const Bundle& bundle) {
  PALLADION_ASSIGN_OR_RETURN(
      const PreparedKernel prepared,
      PrepareText(error.text,
                  {.kernel = kernel.name(), .target = kernel.target(), .path = "the kernel of the error bounds"}));
  PALLADION_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, ErrorInputs(error, bundle));
  PALLADION_ASSIGN_OR_RETURN(RunResult result, Run(prepared, inputs, run));
  return std::move(result.outputs);
}

// The elements that contractions and reductions of the text sum, all together: each as often as it stands there.
double Summed(const Kernel& kernel, const Region& region) {
  double n = 0;
  for (const Instr& instr : region.body) {
    const OpRow& row = RowOf(instr);
    const bool sums =
        row.unit == Unit::kMatrix || row.flow == Flow::kDot || row.flow == Flow::kReduce || row.flow == Flow::kPrefix;
    std::int64_t most = 0;  // no sum is longer than the longest dimension of an operand
    for (const Arg& arg : instr.args) {
      if (!sums || arg.kind != Arg::Kind::kValue) continue;
      const Shape& shape = kernel.values[arg.value.index()].type.shape;
      if (!shape.empty()) most = std::max(most, *std::max_element(shape.begin(), shape.end()));
    }
    n += static_cast<double>(most);
    for (const Region& inner : instr.regions) n += Summed(kernel, inner);
  }
  return n;
}

// Where no bound can be computed: n u of the largest result, n what the text sums in all programs of the grid. More
// than the largest result itself would hold nothing to anything.
void Estimate(const PreparedKernel& kernel, std::string_view why, GoldenOutput& output) {
  const Module module = OnlyKernel(kernel);
  double n = 1;
  for (const Body& body : module.kernels[0].bodies) n += Summed(module.kernels[0], body.region);
  double programs = 1;
  for (const GridDim& dim : module.kernels[0].launch.grid)
    programs *= static_cast<double>(std::max<std::int64_t>(1, dim.size));
  const DType dtype = output.operand.dtype, sum = Accumulator(dtype);
  double largest = 0;
  for (std::int64_t i = 0; i < output.values.num_elements(); ++i) {
    const double x = std::abs(NumberAt(output.values, i));
    if (std::isfinite(x)) largest = std::max(largest, x);
  }
  const double growth = std::min(1.0, n * programs * UnitRoundoff(sum)) * largest;
  output.tolerance.emplace(DType::kF64, output.operand.shape);
  for (std::int64_t i = 0; i < output.values.num_elements(); ++i)
    output.tolerance->data<double>()[i] = growth + 2 * UnitRoundoff(dtype) * std::abs(NumberAt(output.values, i));
  output.derivation =
      Cat("an estimate, no bound (", std::string(why), "): min(1, n v) max|o| + 2 u |o|, n = ", n * programs, ", v of ",
          Name(sum), ", u = ", UnitRoundoff(dtype), " of ", Name(dtype));
}

}  // namespace

// A companion has the shape of the input before it.
absl::StatusOr<std::vector<Tensor>> ErrorInputs(const ErrorKernel& error, const Bundle& bundle) {
  std::vector<Tensor> inputs;
  for (const std::size_t input : error.inputs) {
    if (input != kNoInput) {
      inputs.push_back(bundle.inputs[input]);
      continue;
    }
    PALLADION_ASSIGN_OR_RETURN(Tensor zeros, Tensor::Create(DType::kF64, inputs.back().shape()));
    zeros.FillWithZeroBytes();
    inputs.push_back(std::move(zeros));
  }
  return inputs;
}

absl::Status AddTolerances(const PreparedKernel& kernel, const RunOptions& run, Bundle& bundle) {
  const bool any = std::any_of(bundle.outputs.begin(), bundle.outputs.end(),
                               [](const GoldenOutput& output) { return IsFloat(output.operand.dtype); });
  const absl::StatusOr<ErrorKernel> error = any ? MakeErrorKernel(kernel) : absl::UnimplementedError("no floats");
  absl::StatusOr<std::vector<Tensor>> bounds = std::vector<Tensor>();
  bounds = error.ok() ? RunErrorKernel(kernel, *error, run, bundle) : error.status();
  if (!bounds.ok() && absl::IsCancelled(bounds.status())) return bounds.status();
  for (std::size_t i = 0; i < bundle.outputs.size(); ++i) {
    GoldenOutput& output = bundle.outputs[i];
    if (!IsFloat(output.operand.dtype)) {
      output.derivation = "exact: the same bits";
      continue;
    }
    if (!bounds.ok()) {
      Estimate(kernel, ToStd(bounds.status().message()), output);
      continue;
    }
    output.tolerance = std::move((*bounds)[error->companions[i]]);
    for (double& e : output.tolerance->span<double>()) e = std::isnan(e) ? kInfinity : e;
    output.derivation =
        Cat("a bound of each element by running error analysis; ",
            error->rules.empty() ? "elementwise operations only" : absl::StrJoin(error->rules, "; "),
            "; result rounded to ", Name(output.operand.dtype), ", u = ", UnitRoundoff(output.operand.dtype));
  }
  return absl::OkStatus();
}

}  // namespace palladion::golden
