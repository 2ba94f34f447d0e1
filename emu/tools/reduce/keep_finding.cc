#include "emu/tools/reduce/keep_finding.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "emu/check/refusal.h"
#include "emu/tools/edit/edit.h"
#include "semantics/base/cat.h"
#include "semantics/base/finding.h"
#include "semantics/base/status.h"

namespace palladion::reduce {
namespace {

void AddNames(const ValueInfo& info, std::vector<std::string>& names) {
  names.push_back(info.name);
  if (!info.label.empty()) names.push_back(info.label);
}

// All names of the operand or ref that has this one: messages have the body's, users often the operand's.
std::vector<std::string> NamesOf(const Kernel& kernel, const std::string& name) {
  std::vector<std::string> names;
  for (const Body& body : kernel.bodies) {
    std::size_t param = 0;
    for (const Operand& operand : kernel.operands) {
      if (operand.role == Role::kBound || param >= body.region.params.size()) continue;
      std::vector<std::string> own;
      if (operand.value.valid()) AddNames(kernel.values[operand.value.index()], own);
      if (!operand.label.empty()) own.push_back(operand.label);
      AddNames(kernel.values[body.region.params[param++].value.index()], own);
      if (std::find(own.begin(), own.end(), name) != own.end()) names.insert(names.end(), own.begin(), own.end());
    }
  }
  for (const ValueInfo& info : kernel.values) {
    if (info.type.is_ref() && (info.name == name || info.label == name)) AddNames(info, names);
  }
  return names;
}

bool Has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool Names(const ReportedFinding& finding, const std::vector<std::string>& names) {
  for (const auto* access : {&finding.first, &finding.second}) {
    if (access->has_value() && Has(names, (*access)->object)) return true;
  }
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return finding.message.find("'" + name + "'") != std::string::npos;
  });
}

bool PointsAt(const ReportedFinding& finding, int line) {
  return finding.text_line == line || (finding.first.has_value() && finding.first->text_line == line) ||
         (finding.second.has_value() && finding.second->text_line == line);
}

// What is found then may be there only because a budget was small.
bool EndedEarly(const Report& report) {
  return report.error.has_value() ||
         std::any_of(report.findings.begin(), report.findings.end(),
                     [](const ReportedFinding& finding) { return finding.code == FindingCode::kLivelock; });
}

}  // namespace

absl::StatusOr<FindingChoice> FindingChoiceFromText(std::string_view text) {
  FindingChoice choice;
  const std::size_t colon = text.rfind(':');
  if (colon != std::string_view::npos) {
    const std::string_view digits = text.substr(colon + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), choice.line);
    if (error != std::errc() || end != digits.data() + digits.size() || choice.line < 1) {
      return absl::InvalidArgumentError(
          Cat("--keep must be CODE, CODE@REF, CODE:LINE or CODE@REF:LINE; found '", text, "'"));
    }
    text = text.substr(0, colon);
  }
  const std::size_t at = text.find('@');
  const std::optional<FindingCode> code = CodeFromName(text.substr(0, at));
  if (at != std::string_view::npos) choice.ref = std::string(text.substr(at + 1));
  if (code.has_value() && (at == std::string_view::npos || !choice.ref.empty())) {
    choice.code = *code;
    return choice;
  }
  return absl::InvalidArgumentError(
      Cat("--keep must begin with the code of a finding, as `RACE_RW` or `RACE_RW@o`; "
          "found '",
          text, "' (`palladion explain` lists the codes)"));
}

std::string ToText(const FindingChoice& choice) {
  return Cat(Code(choice.code), choice.ref.empty() ? "" : "@", choice.ref,
             choice.line == 0 ? std::string() : Cat(":", choice.line));
}

absl::StatusOr<KeepFinding> KeepFinding::Create(const FindingChoice& choice, const Kernel& kernel,
                                                KeepFindingOptions options) {
  KeepFinding keep(choice, std::move(options));
  if (choice.ref.empty()) return keep;
  keep.names_ = NamesOf(kernel, choice.ref);
  if (keep.names_.empty()) {
    return absl::InvalidArgumentError(Cat("--keep ", Code(choice.code), "@", choice.ref, ": kernel @", kernel.name,
                                          " has no operand or ref of this name; `palladion show` lists the operands"));
  }
  return keep;
}

absl::StatusOr<Report> KeepFinding::Check(const State& state) const {
  const PrepareOptions prepare{.target = options_.target, .path = state.module.path};
  const absl::StatusOr<PreparedKernel> kernel = PrepareText(state.text, prepare);
  if (!kernel.ok() && !may_be_refused_) return kernel.status();
  if (!kernel.ok()) return check::RefusalReport(kernel.status(), state.text, prepare);
  std::vector<Tensor> inputs;
  for (const Input& input : state.inputs) inputs.push_back(*input.value);
  CheckOptions check = options_.check;
  if (seeds_ != 0) check.seeds = seeds_;
  if (budget_ != 0) check.SetBudget(budget_);
  return palladion::Check(*kernel, inputs, check);
}

const ReportedFinding* KeepFinding::Find(const Report& report, const State& state) const {
  for (const ReportedFinding& finding : report.findings) {
    if (finding.code != choice_.code || (!names_.empty() && !Names(finding, names_))) continue;
    if (state.line == 0 || PointsAt(finding, state.line)) return &finding;
  }
  return nullptr;
}

absl::StatusOr<bool> KeepFinding::Adjust(const State& start) {
  may_be_refused_ = !PrepareText(start.text, {.target = options_.target}).ok();
  const auto interrupted = [&] { return Interrupted(options_.check.run.control); };
  bool holds = false;
  for (std::int64_t seeds = 2; !holds; seeds *= 4) {
    seeds_ = seeds < options_.check.seeds ? seeds : 0;
    PALLADION_ASSIGN_OR_RETURN(holds, Holds(start));
    if (!holds && (seeds_ == 0 || interrupted())) return false;
  }
  for (budget_ = 1 << 10; budget_ < options_.check.step_budget; budget_ *= 4) {
    PALLADION_ASSIGN_OR_RETURN(holds, Holds(start));
    if (holds || interrupted()) return holds;
  }
  budget_ = 0;
  return true;
}

absl::StatusOr<bool> KeepFinding::Holds(const State& state) const {
  // A candidate that cannot be checked (memory, budget) has no finding; that is no reason to stop.
  const absl::StatusOr<Report> report = Check(state);
  const ReportedFinding* finding = report.ok() ? Find(*report, state) : nullptr;
  if (finding == nullptr) return false;
  if (budget_ != 0 && EndedEarly(*report)) return false;
  if (seeds_ == 0 || finding->severity != Severity::kNote) return true;
  // More schedules take nothing away but notes, in whose place they may find something worse.
  KeepFinding all = *this;
  all.seeds_ = 0;
  return all.Holds(state);
}

absl::StatusOr<std::string> KeepFinding::Replay(const State& state) const {
  // An interrupt that ended the reduction would end this check too.
  KeepFinding patient = *this;
  patient.seeds_ = patient.budget_ = 0;
  patient.options_.check.run.control = nullptr;
  PALLADION_ASSIGN_OR_RETURN(const Report report, patient.Check(state));
  const ReportedFinding* finding = Find(report, state);
  if (finding == nullptr) return absl::NotFoundError(Cat("the reduced kernel has no ", ToText(choice_)));
  patient.options_.check.replay = finding->replay;
  // What compares schedules (NONDET) is not in any one of them.
  PALLADION_ASSIGN_OR_RETURN(const bool alone, patient.Holds(state));
  return alone ? finding->replay : "";
}

}  // namespace palladion::reduce
