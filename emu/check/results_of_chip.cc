#include "emu/check/results_of_chip.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emu/check/compare.h"
#include "emu/check/options.h"
#include "emu/check/orders.h"
#include "emu/chip/machines/chip.h"
#include "emu/kernel/arrays.h"
#include "emu/run/agents/core_copies.h"
#include "emu/run/launch/run.h"
#include "semantics/base/cat.h"

namespace palladion::check {
namespace {

bool IsUndefined(const Finding& finding) { return finding.code == FindingCode::kUninitialised; }

bool HasUndefined(const Trial& trial) { return std::any_of(trial.findings.begin(), trial.findings.end(), IsUndefined); }

// Do the findings of a task depend on the tasks that share its core, or is something defined there that is undefined
// where the task has a core to itself? If one core stands for many, the bytes are the same in both cases.
bool DependsOnCores(const agents::Ran& plain, const Trial& trial) {
  return std::any_of(trial.findings.begin(), trial.findings.end(), [&](const Finding& found) {
    const auto same = [&](const Finding& finding) { return SameFinding(finding, found); };
    return found.code == FindingCode::kGridOrder ||
           (IsUndefined(found) && std::none_of(plain.findings.begin(), plain.findings.end(), same));
  });
}

// nullopt: the trial's outputs are these, and as defined.
std::optional<Trial> ResultsOfChip(const PreparedKernel& kernel, absl::Span<const ConstArray> inputs,
                                   const CheckOptions& options, const Trial& trial) {
  const Program& program = kernel.state().program();
  if (!options.races || !program.grid_in_agent || !HasParallelDimension(program, inputs)) return std::nullopt;
  absl::StatusOr<std::vector<Tensor>> outputs = kernel::NewOutputs(kernel);
  if (!outputs.ok()) return std::nullopt;
  Trial plain{.schedule = trial.schedule, .outputs = *std::move(outputs)};
  const agents::LaunchOptions launch{.run = options.run, .definedness = HasUndefined(trial), .fill = options.fill};
  const std::vector<MutableArray> arrays = kernel::MutableArraysOf(plain.outputs);
  absl::StatusOr<agents::Ran> ran = launch::Run({kernel.state(), inputs, arrays}, launch);
  if (!ran.ok() || (SameOutputs(trial, plain) && !DependsOnCores(*ran, trial))) return std::nullopt;
  plain.left = std::move(ran->left);
  return plain;
}

void SayWhichChipsDiffer(const PreparedKernel& kernel, Report* report) {
  constexpr std::array kOfCores = {FindingCode::kRaceWriteWrite, FindingCode::kRaceReadWrite,
                                   FindingCode::kGridOrder,      FindingCode::kUninitialised,
                                   FindingCode::kOutMissing,     FindingCode::kNondeterministic};
  const Program& program = kernel.state().program();
  std::string several;  // chips
  for (const machines::Chip& chip : machines::AllChips()) {
    if (chip.is_tpu && chip.cores > 1) Append(&several, several.empty() ? "" : " and ", chip.name);
  }
  auto first = report->findings.end();  // what the others follow from comes first in the list of codes
  for (std::size_t i = 0; i < kOfCores.size() && first == report->findings.end(); ++i) {
    first = std::find_if(report->findings.begin(), report->findings.end(),
                         [&](const ReportedFinding& finding) { return finding.code == kOfCores[i]; });
  }
  if (first == report->findings.end()) return;
  Append(&first->why, first->why.empty() ? "" : "; ", "the results are those of program order on ",
         ToString(program.target),
         agents::HasSeveralCores(program)
             ? std::string(", where each of two cores has a half: a chip with one core may give others")
             : Cat(", which has one core: ", several, " have two, each with memory of its own, and may lose them"));
}

}  // namespace

void TakeResultsOfChip(const PreparedKernel& kernel, absl::Span<const ConstArray> inputs, const CheckOptions& options,
                       Report* report, Trial* trial) {
  const bool ended = !report->interrupted && !report->error.has_value() && options.replay.empty();
  if (!ended || report->verdict == Verdict::kProved) return;
  std::optional<Trial> plain = ResultsOfChip(kernel, inputs, options, *trial);
  if (!plain.has_value()) return;
  trial->outputs = std::move(plain->outputs);
  trial->left = std::move(plain->left);
  SayWhichChipsDiffer(kernel, report);
}

}  // namespace palladion::check
