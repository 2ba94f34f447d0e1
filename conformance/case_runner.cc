#include "conformance/case_runner.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include "absl/strings/str_format.h"
#include "conformance/case_file.h"
#include "emu/check.h"
#include "emu/emulate.h"
#include "emu/values.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::conformance {
namespace {

struct Ran {
  int exit_code = 0;
  std::string error;  // from 3 on
  Report report;
  std::vector<OperandDescription> described;
  std::vector<Tensor> outputs;
};

std::string ShapeIndex(std::int64_t i, const std::vector<std::int64_t>& shape) {
  std::string text;
  for (std::size_t d = shape.size(); d-- > 0;) {
    text = Cat(i % shape[d], text.empty() ? "" : ",", text);
    i /= shape[d];
  }
  return text;
}

}  // namespace

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
      return absl::InvalidArgumentError(Cat(test.path, ": no value for input '", described.name, "'"));
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
  if (!test.proxy.empty()) check.proxy = test.proxy;
  if (!test.links.empty()) check.links = test.links;
  absl::StatusOr<Report> report = Check(kernel, inputs, check, &ran.outputs);
  if (!report.ok()) return Refused(report.status());
  ran.exit_code = static_cast<int>(ExitCodeOf(*report));
  ran.report = *std::move(report);
  return ran;
}

absl::StatusOr<Ran> RunText(const Case& test, const std::string& text, bool observable = false) {
  absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.target = test.target, .observable = observable});
  if (!kernel.ok()) return Refused(kernel.status());
  PALLADION_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, MakeInputs(test, *kernel));
  RunOptions options;
  if (test.budget.has_value()) options.loop_budget = *test.budget;
  if (test.schedules.has_value()) return CheckKernel(test, *kernel, inputs, options);
  absl::StatusOr<RunResult> result = Run(*kernel, inputs, options);
  if (!result.ok()) return Refused(result.status());
  return Ran{.exit_code = static_cast<int>(ExitCodeOf(result->report)),
             .error = result->report.error.has_value() ? result->report.error->message : "",
             .report = std::move(result->report),
             .described = kernel->outputs(),
             .outputs = std::move(result->outputs)};
}

void CheckExit(const Case& test, const Ran& ran, std::vector<std::string>& failures) {
  if (ran.exit_code != test.exit_code) {
    failures.push_back(Cat("exit code: expected ", test.exit_code, ", found ", ran.exit_code,
                           ran.error.empty() ? "" : ": ", ran.error));
  }
  for (const std::string& part : test.errors) {
    if (ran.error.find(part) == std::string::npos)
      failures.push_back(Cat("error: expected a message with '", part, "'; found '", ran.error, "'"));
  }
}

// Is this what the line says? Of a pair, both lines are looked at.
bool Meets(const ReportedFinding& finding, const GuiltyLine& guilty, const std::vector<GuiltyLine>& all) {
  if (finding.code != guilty.code) return false;
  if (guilty.pair.empty()) {
    return guilty.first ? finding.first.has_value() && finding.first->text_line == guilty.text_line
                        : finding.text_line == guilty.text_line;
  }
  if (!finding.first.has_value() || !finding.second.has_value()) return false;
  std::set<int> lines;
  for (const GuiltyLine& other : all) {
    if (other.code == guilty.code && other.pair == guilty.pair) lines.insert(other.text_line);
  }
  return lines == std::set<int>{finding.first->text_line, finding.second->text_line};
}

// Every finding is announced by its line, every announced line has its finding, and every # finding: was reported.
void CheckFindings(const Case& test, const Ran& ran, std::vector<std::string>& failures) {
  for (const ReportedFinding& finding : ran.report.findings) {
    const auto announces = [&](const GuiltyLine& g) { return !g.first && Meets(finding, g, test.guilty); };
    if (std::any_of(test.guilty.begin(), test.guilty.end(), announces)) continue;
    const std::string first = finding.first.has_value() ? Cat(", and ", finding.first->text_line) : "";
    failures.push_back(Cat("finding ", finding.code, " on line ", finding.text_line, first,
                           " of the kernel, which no //~ announces: ", finding.message));
  }
  for (const GuiltyLine& guilty : test.guilty) {
    const auto meets = [&](const ReportedFinding& f) { return Meets(f, guilty, test.guilty); };
    if (std::any_of(ran.report.findings.begin(), ran.report.findings.end(), meets)) continue;
    failures.push_back(Cat("expected ", guilty.first ? "the first access of " : "finding ", guilty.code,
                           guilty.pair.empty() ? "" : Cat("@", guilty.pair), " on line ", guilty.text_line,
                           " of the kernel; there is none"));
  }
  for (const ExpectedFinding& expected : test.findings) {
    const auto meets = [&](const ReportedFinding& f) {
      return f.code == expected.code && f.message.find(expected.part) != std::string::npos;
    };
    if (std::any_of(ran.report.findings.begin(), ran.report.findings.end(), meets)) continue;
    failures.push_back(
        Cat("expected finding ", expected.code, " with '", expected.part, "' in its message; it was not reported"));
  }
}

void CheckPrinted(const Case& test, const Ran& ran, std::vector<std::string>& failures) {
  const std::vector<std::string>& found = ran.report.printed;
  for (std::size_t i = 0; i < std::max(test.printed.size(), found.size()); ++i) {
    const std::string expected = i < test.printed.size() ? Cat("\"", test.printed[i], "\"") : "nothing";
    const std::string printed = i < found.size() ? Cat("\"", found[i], "\"") : "nothing";
    if (expected != printed) failures.push_back(Cat("printed line ", i, ": expected ", expected, ", found ", printed));
  }
}

// The text of each number of "[...]".
std::vector<std::string_view> Numbers(std::string_view list) {
  std::vector<std::string_view> numbers;
  list = list.substr(1, list.size() - 2);
  while (!list.empty()) {
    const std::size_t comma = std::min(list.size(), list.find(','));
    std::string_view number = list.substr(0, comma);
    const std::size_t first = std::min(number.size(), number.find_first_not_of(" \t"));
    number = number.substr(first);
    numbers.push_back(number.substr(0, number.find_last_not_of(" \t") + 1));
    list.remove_prefix(std::min(list.size(), comma + 1));
  }
  return numbers;
}

// How `found` differs from the list, "" when it does not.
std::string Difference(const CaseOutput& output, std::string_view list, const Tensor& found) {
  absl::StatusOr<Tensor> expected = TensorFromText(found.dtype(), found.shape(), list);
  if (!expected.ok()) return std::string(expected.status().message());
  const std::vector<std::string_view> numbers = Numbers(list);
  const std::size_t element_bytes = StorageBytes(found.dtype());
  std::string text;
  std::int64_t differing = 0;
  for (std::int64_t i = 0; i < found.num_elements(); ++i) {
    const std::string_view number = numbers[static_cast<std::size_t>(i)];
    const std::size_t at = static_cast<std::size_t>(i) * element_bytes;
    bool same = std::equal(found.bytes() + at, found.bytes() + at + element_bytes, expected->bytes() + at);
    if (number == "nan") {
      same = same || IsNaN(found, i);
    } else if (output.ulp > 0 && !number.starts_with("0x")) {
      const std::optional<std::uint64_t> distance = UlpDistance(*expected, found, i);
      same = distance.has_value() && *distance <= output.ulp;
    }
    if (same || ++differing > 5) continue;
    Append(&text, text.empty() ? "" : "; ", "element [", ShapeIndex(i, found.shape()), "]: expected ", number,
           ", found ", ElementText(found, i));
  }
  if (differing > 5) Append(&text, "; and ", differing - 5, " more");
  return text;
}

void CheckOutput(const Case& test, const CaseOutput& output, const Tensor& found, std::vector<std::string>& failures) {
  const std::string place = Cat(test.path, ":", output.line, ": ", output.name);
  std::vector<std::string> differences;
  for (const std::string& list : output.lists) differences.push_back(Difference(output, list, found));
  if (!differences.empty() && std::find(differences.begin(), differences.end(), "") == differences.end()) {
    for (const std::string& difference : differences) failures.push_back(Cat(place, ": ", difference));
  }
  const std::string hash = absl::StrFormat("%016x", Fnv1a(found));
  if (output.hash.has_value() && Fnv1a(found) != *output.hash) {
    failures.push_back(Cat(place, ": hash: expected ", absl::StrFormat("%016x", *output.hash), ", found ", hash));
  }
  if (!output.exact() && !output.hash.has_value()) {
    failures.push_back(Cat(place, ": an output without an exact list needs its hash: hash ", output.name, " = ", hash));
  }
}

void CheckOutputs(const Case& test, const Ran& ran, std::vector<std::string>& failures) {
  for (const CaseOutput& output : test.outputs) {
    const auto same = [&](const OperandDescription& d) { return d.name == output.name; };
    if (std::none_of(ran.described.begin(), ran.described.end(), same)) {
      failures.push_back(Cat(test.path, ":", output.line, ": the kernel has no output '", output.name, "'"));
    }
  }
  for (std::size_t i = 0; i < ran.outputs.size(); ++i) {
    const auto same = [&](const CaseOutput& o) { return o.name == ran.described[i].name; };
    const auto expected = std::find_if(test.outputs.begin(), test.outputs.end(), same);
    if (expected == test.outputs.end() && test.schedules.has_value() && !test.guilty.empty()) continue;
    if (expected == test.outputs.end()) {
      failures.push_back(Cat("output '", ran.described[i].name, "' is not checked: expect a list or a hash of it"));
    } else {
      CheckOutput(test, *expected, ran.outputs[i], failures);
    }
  }
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
    if (ran.exit_code < 3)
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

CaseResult RunCase(const Case& test) {
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
    CheckPrinted(test, *ran, result.failures);
    CheckOutputs(test, *ran, result.failures);
  }
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
