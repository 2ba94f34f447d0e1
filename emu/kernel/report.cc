#include "emu/report.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion {
namespace {

constexpr std::pair<CheckKind, std::string_view> kCheckNames[] = {
    {CheckKind::kBlockResidency, "block residency"},
    {CheckKind::kBounds, "bounds"},
    {CheckKind::kCapacity, "capacity"},
    {CheckKind::kDeadlocks, "deadlocks"},
    {CheckKind::kDefinedness, "definedness"},
    {CheckKind::kLanes, "lanes"},
    {CheckKind::kLegality, "legality"},
    {CheckKind::kRacesBetweenPrograms, "races between programs"},
    {CheckKind::kRacesBetweenThreads, "races between threads"},
    {CheckKind::kValues, "values"},
};

void AddFrames(const std::vector<SourceFrame>& frames, std::string* text) {
  if (frames.empty()) return;
  const std::string& file = frames[0].file;
  const std::size_t slash = file.rfind('/');
  Append(text, slash == std::string::npos ? file : file.substr(slash + 1), "\n", frames[0].function, "\n");
}

void AddAccess(const std::optional<ReportedAccess>& access, std::string* text) {
  if (!access.has_value()) return;
  Append(text, Name(access->kind), "\n", access->object, "\n");
  AddFrames(access->frames, text);
}

// FNV-1a, 64 bits.
std::uint64_t Hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace

absl::Span<const VerdictRow> AllVerdicts() {
  static constexpr VerdictRow kRows[] = {
      {Verdict::kProved, "proved",
       "no schedule can do anything else on this input: all facts of one of the proofs were established, and nothing "
       "worse than a note was found, nor a note that contradicts one of them",
       "other inputs, other shapes, other chips; checks that were switched off"},
      {Verdict::kClean, "clean", "nothing worse than a note was found in the schedules that were tried",
       "schedules that were not tried: the report says how many were, and what that is worth"},
      {Verdict::kRan, "ran",
       "the kernel ran once, in program order, without a finding; or a check stopped before its first "
       "schedule had ended",
       "anything: no whole schedule was checked for races and definedness; use `palladion check`, or `seeds=16` in "
       "Python"},
      {Verdict::kWarning, "warning",
       "nothing worse than a warning was found, and one was: an output that is not written everywhere, or a copy "
       "that lies wholly outside its array",
       "what `clean` does not promise; with `--strict` it is a defect"},
      {Verdict::kNondeterministic, "nondeterministic",
       "NONDET and no other defect: two schedules gave outputs that differ, not only in how sums are rounded",
       "that these are all the outputs there are"},
      {Verdict::kDefect, "defect",
       "a defect other than NONDET was found, and each one says where and how to see it again",
       "that it is the only one: after a defect the values of a run may be anything"},
      {Verdict::kUnsupported, "unsupported", "nothing can be said: the report's error says why", "anything"},
  };
  return kRows;
}

std::string_view Name(ExitCode code) {
  constexpr std::string_view kNames[] = {"clean",     "defect",   "outputs differ", "unsupported",
                                         "malformed", "internal", "budget"};
  return kNames[static_cast<std::size_t>(code)];
}

std::string_view Name(CheckKind kind) { return kCheckNames[static_cast<std::size_t>(kind)].second; }

std::optional<CheckKind> CheckKindFromName(std::string_view name) {
  for (const auto& [kind, of_kind] : kCheckNames) {
    if (of_kind == name) return kind;
  }
  return std::nullopt;
}

std::string_view Name(FidelityKind kind) {
  constexpr std::string_view kNames[] = {"refused", "approximate", "exact"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string Name(Verdict verdict) { return std::string(AllVerdicts()[static_cast<std::size_t>(verdict)].name); }

std::string_view Name(TextEdit::Where where) {
  constexpr std::string_view kNames[] = {"before", "after", "end", "instead", "set"};
  return kNames[static_cast<std::size_t>(where)];
}

bool Counts(const ReportedFinding& finding, const Report& report) {
  if (!finding.suppressed.empty()) return false;
  return finding.severity == Severity::kDefect || (report.strict && finding.severity == Severity::kWarning);
}

Verdict VerdictOf(const Report& report) {
  bool differs = false, warns = false;
  for (const ReportedFinding& finding : report.findings) {
    warns |= finding.severity == Severity::kWarning && finding.suppressed.empty();
    if (!Counts(finding, report)) continue;
    if (finding.code != FindingCode::kNondeterministic) return Verdict::kDefect;
    differs = true;
  }
  // What its target refuses is found, and a defect, before anything is known to be unsupported here.
  if (report.error.has_value()) return Verdict::kUnsupported;
  if (differs) return Verdict::kNondeterministic;
  if (warns) return Verdict::kWarning;
  if (!report.checked || (report.interrupted && report.schedules == 0)) return Verdict::kRan;
  return report.proved && !report.interrupted ? Verdict::kProved : Verdict::kClean;
}

ExitCode ExitCodeOf(const Report& report) {
  const Verdict verdict = VerdictOf(report);
  if (report.error.has_value() && verdict != Verdict::kDefect) return report.error->kind;
  switch (verdict) {
    case Verdict::kDefect:
      return ExitCode::kDefect;
    case Verdict::kNondeterministic:
      return ExitCode::kOutputsDiffer;
    default:
      return report.interrupted ? ExitCode::kBudget : ExitCode::kClean;  // what was not tried is no pass
  }
}

ExitCode ExitCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return ExitCode::kClean;
    case absl::StatusCode::kUnimplemented:
      return ExitCode::kUnsupported;
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kCancelled:  // interrupted
      return ExitCode::kBudget;
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnknown:
      return ExitCode::kInternal;
    default:
      return ExitCode::kMalformed;
  }
}

Report ErrorReport(const absl::Status& status, std::string kernel, std::string target) {
  return {.kernel = std::move(kernel),
          .target = std::move(target),
          .checked = true,
          .verdict = Verdict::kUnsupported,
          .error = ReportedError{ExitCodeOf(status), std::string(ToStd(status.message()))}};
}

std::vector<std::string> Fingerprints(const Report& report) {
  std::vector<std::string> prints;
  std::map<std::string, int> seen;
  for (const ReportedFinding& finding : report.findings) {
    std::string text = Cat(report.kernel, "\n", Code(finding.code), "\n");
    AddFrames(finding.frames, &text);
    AddAccess(finding.first, &text);
    AddAccess(finding.second, &text);
    const int nth = seen[text]++;
    char print[17];
    std::snprintf(print, sizeof print, "%016llx", static_cast<unsigned long long>(Hash(Cat(text, nth))));
    prints.emplace_back(print);
  }
  return prints;
}

}  // namespace palladion
