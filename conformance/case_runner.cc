#include "conformance/case_runner.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_format.h"
#include "conformance/case_file.h"
#include "conformance/case_judge.h"
#include "emu/check.h"
#include "emu/emulate.h"
#include "emu/session.h"
#include "emu/values.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::conformance {

// That is no outcome of the run.
absl::StatusOr<std::vector<Tensor>> MakeInputs(const Case& test, const PreparedKernel& kernel) {
  for (const CaseInput& input : test.inputs) {
    const auto same = [&](const OperandDescription& d) { return d.name == input.name; };
    if (std::none_of(kernel.inputs().begin(), kernel.inputs().end(), same)) {
      return absl::InvalidArgumentError(
          Cat(test.path, ":", input.line, ": the kernel has no input '", input.name, "'"));
    }
  }
  std::vector<Tensor> tensors;
  for (const OperandDescription& described : kernel.inputs()) {
    const auto found = std::find_if(test.inputs.begin(), test.inputs.end(),
                                    [&](const CaseInput& i) { return i.name == described.name; });
    if (found == test.inputs.end())
      return absl::InvalidArgumentError(Cat(test.path, ":", test.line, ": no value for input '", described.name, "'"));
    absl::StatusOr<Tensor> tensor = TensorFromText(described.dtype, described.shape, found->value);
    if (!tensor.ok()) {
      return absl::InvalidArgumentError(
          Cat(test.path, ":", found->line, ": ", described.name, ": ", ToStd(tensor.status().message())));
    }
    tensors.push_back(*std::move(tensor));
  }
  return tensors;
}

namespace {

Ran Refused(const absl::Status& status) {
  return {.exit_code = static_cast<int>(ExitCodeOf(status)), .error = std::string(status.message())};
}

Ran CheckKernel(const Case& test, const PreparedKernel& kernel, absl::Span<const Tensor> inputs,
                const RunOptions& options) {
  Ran ran{.described = kernel.outputs()};
  CheckOptions check{.seeds = *test.schedules, .run = options};
  if (test.proxy.has_value()) check.proxy = *test.proxy;
  if (test.links.has_value()) check.links = *test.links;
  if (test.budget.has_value()) check.SetBudget(*test.budget);
  absl::StatusOr<Report> report = Check(kernel, inputs, check, &ran.outputs);
  if (!report.ok()) return Refused(report.status());
  ran.exit_code = static_cast<int>(ExitCodeOf(*report));
  ran.report = *std::move(report);
  return ran;
}

// A check says what the target refuses of a text that cannot be prepared, too.
Ran RefusedCheck(const absl::Status& status, const std::string& text, const PrepareOptions& options) {
  Ran ran = Refused(status);
  ran.report = ReportOfRefused(status, text, options);
  ran.exit_code = static_cast<int>(ExitCodeOf(ran.report));
  return ran;
}

absl::StatusOr<Ran> RunText(const Case& test, const std::string& text, bool observable = false) {
  const PrepareOptions prepare{.target = test.target, .observable = observable};
  absl::StatusOr<PreparedKernel> kernel =
      test.launches > 1 ? PrepareLaunches(text, test.launches, prepare) : PrepareText(text, prepare);
  if (!kernel.ok())
    return test.schedules.has_value() ? RefusedCheck(kernel.status(), text, prepare) : Refused(kernel.status());
  PALLADION_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, MakeInputs(test, *kernel));
  RunOptions options;
  if (test.budget.has_value()) options.loop_budget = *test.budget;
  options.legality = test.schedules.has_value() ? LegalityMode::kOn : LegalityMode::kOff;  // else run for its values
  if (test.schedules.has_value()) return CheckKernel(test, *kernel, inputs, options);
  absl::StatusOr<RunResult> result = Run(*kernel, inputs, options);
  if (!result.ok()) return Refused(result.status());
  return Ran{.exit_code = static_cast<int>(ExitCodeOf(result->report)),
             .error = result->report.error.has_value() ? result->report.error->message : "",
             .report = std::move(result->report),
             .described = kernel->outputs(),
             .outputs = std::move(result->outputs)};
}

// What logs show is what runs: the kernel prepared as observable does the same.
void CheckObservable(const Case& test, const Ran& ran, std::vector<std::string>& failures) {
  absl::StatusOr<Ran> observed = RunText(test, test.kernel, true);
  if (!observed.ok()) return failures.push_back(std::string(observed.status().message()));
  if (observed->exit_code != ran.exit_code || observed->error != ran.error ||
      observed->report.printed != ran.report.printed ||
      observed->report.findings.size() != ran.report.findings.size()) {
    failures.push_back(Cat("the observable program exits with ", observed->exit_code, " and the plain one with ",
                           ran.exit_code, ", or prints or reports something else: ", observed->error));
  }
  for (std::size_t i = 0; i < std::min(ran.outputs.size(), observed->outputs.size()); ++i) {
    if (!ran.outputs[i].BitwiseEquals(observed->outputs[i]))
      failures.push_back(Cat("the observable program gives another ", ran.described[i].name));
  }
}

// print(parse(t)) is a fixed point, and means what t means.
void CheckCanonical(const Case& test, const Ran& ran, std::vector<std::string>& failures) {
  absl::StatusOr<std::string> once = CanonicalText(test.kernel);
  if (!once.ok()) {
    if (ran.error.empty())
      failures.push_back(Cat("the text runs but does not print: ", ToStd(once.status().message())));
    return;
  }
  absl::StatusOr<std::string> twice = CanonicalText(*once);
  if (!twice.ok())
    return failures.push_back(Cat("the canonical text does not parse: ", ToStd(twice.status().message())));
  if (*once != *twice)
    failures.push_back(Cat("the canonical text changes when it is printed again:\n", *once, "\n---\n", *twice));
  absl::StatusOr<Ran> again = RunText(test, *once);
  if (!again.ok()) return failures.push_back(std::string(again.status().message()));
  if (again->exit_code != ran.exit_code) {
    failures.push_back(Cat("the canonical text exits with ", again->exit_code, " and the case with ", ran.exit_code,
                           ": ", again->error));
  }
  for (std::size_t i = 0; i < std::min(ran.outputs.size(), again->outputs.size()); ++i) {
    if (!ran.outputs[i].BitwiseEquals(again->outputs[i]))
      failures.push_back(Cat("the canonical text gives another ", ran.described[i].name));
  }
}

}  // namespace

CaseResult RunCase(const Case& test, Forms forms) {
  CaseResult result;
  absl::StatusOr<Ran> ran = RunText(test, test.kernel);
  if (!ran.ok()) {
    result.failures.push_back(std::string(ran.status().message()));
    return result;
  }
  result.exit_code = ran->exit_code;
  for (std::size_t i = 0; i < ran->outputs.size(); ++i)
    result.hashes.emplace_back(ran->described[i].name, Fnv1a(ran->outputs[i]));
  CheckExit(test, *ran, result.failures);
  CheckFindings(test, *ran, result.failures);
  if (ran->exit_code < 3) {
    CheckPrinted(test, ran->report.printed, result.failures);
    CheckOutputs(test, *ran, result.failures);
  }
  if (forms == Forms::kAsWritten) return result;
  if (!test.schedules.has_value()) CheckObservable(test, *ran, result.failures);
  CheckCanonical(test, *ran, result.failures);
  return result;
}

std::string WithHashes(const std::string& text, const Case& test, const CaseResult& result) {
  std::string written = text;
  if (!written.empty() && written.back() != '\n') written += '\n';
  for (const auto& [name, hash] : result.hashes) {
    const auto same = [wanted = name](const CaseOutput& o) { return o.name == wanted; };
    const auto output = std::find_if(test.outputs.begin(), test.outputs.end(), same);
    if (output != test.outputs.end() && output->exact() && !output->hash.has_value()) continue;
    const std::string line = Cat("hash ", name, " = ", absl::StrFormat("%016x", hash), "\n");
    const std::size_t old = written.find(Cat("\nhash ", name, " ="));
    if (old != std::string::npos) {
      written.replace(old + 1, written.find('\n', old + 1) - old, line);
      continue;
    }
    if (written.find("\n--- expect\n") == std::string::npos) written += "--- expect\n";
    written += line;
  }
  return written;
}

absl::StatusOr<std::vector<std::string>> FindCases(const std::string& folder) {
  namespace fs = std::filesystem;
  std::vector<std::string> paths;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder, error)) {
    if (entry.path().extension() == ".case") paths.push_back(entry.path().string());
  }
  if (error || paths.empty())
    return absl::InvalidArgumentError(Cat(folder, ": expected *.case files below this folder; found none"));
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace palladion::conformance
