// The report of a run or a check, as data; as text or JSON here, as SARIF and JUnit XML in report_formats.h. What is
// one of a few kinds is an enumeration up to there: words are made by what renders. For readers:
// docs/reference/reports.md; exit codes: docs/reference/command.md.
#ifndef PALLADION_EMU_REPORT_H_
#define PALLADION_EMU_REPORT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "emu/export.h"
#include "semantics/base/finding.h"

namespace palladion {

enum class ExitCode : int {
  kClean = 0,
  kDefect = 1,
  kOutputsDiffer = 2,
  kUnsupported = 3,
  kMalformed = 4,
  kInternal = 5,
  kBudget = 6,
};
PALLADION_EXPORT std::string_view Name(
    ExitCode code);  // "clean", ..., "unsupported", "malformed", "internal", "budget"

// One frame of the user's Python.
struct SourceFrame {
  std::string file;
  int line = 0;
  int column = 0;  // 1 is the first; 0: not known
  std::string function;
};

// One side of a finding.
struct ReportedAccess {
  AccessKind kind = AccessKind::kRead;
  std::string agent;                // "program (3, 0)"
  std::string object;               // the ref by the user's name
  std::string box;                  // "[0:64, 128:256]"; "" where it is all of it
  std::string source;               // the user's place with its callers, "" when the text has none
  int text_line = 0;                // of the kernel text
  std::vector<SourceFrame> frames;  // what `source` says: the innermost first, its callers after it
};

// A change of the kernel text. All of a fix's go together.
struct TextEdit {
  enum class Where : std::uint8_t {
    kBefore,   // `insert` comes before the line
    kAfter,    // after it
    kEnd,      // before the `return` of the region that the line is in
    kInstead,  // the line goes, and `insert` comes where it was
    kSet,      // the next attribute `name` from the line on, of what is declared as `of` where that says so, is `value`
  };
  Where where = Where::kBefore;
  int line = 0;                     // from 1
  std::vector<std::string> insert;  // lines, without the indentation
  std::string name, value, of;
};
PALLADION_EXPORT std::string_view Name(TextEdit::Where where);  // "before", "after", ...

struct ReportedFinding {
  FindingCode code = FindingCode::kOutOfBounds;  // its rule: RowOf(code)
  Severity severity = Severity::kDefect;
  std::string message;
  std::string source;  // the user's place with its callers, "" when the text has none
  int text_line = 0;   // of the kernel text
  std::int64_t count = 1;
  std::optional<ReportedAccess> first, second;
  std::string why;  // why the two are not ordered; where undefined data came from
  std::string fix;  // the smallest change that would mend it
  Confidence confidence = Confidence::kProved;
  std::string replay;      // the schedule that shows it, for --replay; "" for a plain run
  std::string suppressed;  // the reason that a suppression gives; "" when it counts
  std::vector<SourceFrame> frames;
  std::vector<TextEdit> edits = {};   // the fix, where it is a change of the kernel text
  bool suppressed_in_source = false;  // by a comment on the line, not from outside
};

enum class Verdict : std::uint8_t {
  kProved,            // no schedule can do anything else on this input
  kClean,             // nothing worse than a note in the schedules that were tried
  kRan,               // it ran once, and nothing was looked for but what a plain run meets
  kWarning,           // nothing worse than a warning
  kNondeterministic,  // outputs differ between schedules
  kDefect,
  kUnsupported,
};
PALLADION_EXPORT std::string Name(Verdict verdict);  // "proved", "clean", ...

struct VerdictRow {
  Verdict verdict;
  std::string_view name;
  std::string_view says;
  std::string_view promises_not;
};
absl::Span<const VerdictRow> AllVerdicts();  // in the order of the enumeration, which is from best to worst

// What is looked for; docs/explanation/checks.md says how. In the order of their names, as in a report's tallies.
enum class CheckKind : std::uint8_t {
  kBlockResidency,
  kBounds,
  kCapacity,
  kDeadlocks,
  kDefinedness,
  kLanes,
  kLegality,
  kRacesBetweenPrograms,
  kRacesBetweenThreads,
  kValues,
};
PALLADION_EXPORT std::string_view Name(CheckKind kind);  // "block residency", "bounds", ...
std::optional<CheckKind> CheckKindFromName(std::string_view name);

// A check that ran, and how often it looked at something: a check that looked at nothing must not read as a pass.
struct CheckTally {
  CheckKind kind = CheckKind::kBounds;
  std::int64_t times = 0;
};

// What a proof may rest on (docs/explanation/verdicts.md); names and words are rows of emu/check/evidence.h.
enum class Fact : std::uint8_t {
  kOneOrder,
  kNoInteraction,
  kExactUpdates,
  kNothingDecides,
  kOrderedArrivals,
  kDeterminateWaits,
  kOrderedLanes,
  kNoConflict,
  kNothingUndefined,
  kSameOutputs,
  kEverySchedule,
};

// What a check has established, or not, of what a proof needs.
struct ReportedFact {
  Fact fact = Fact::kOneOrder;
  bool shown = false;
  std::string words;  // what it says; why it is missing, where it is not shown
};

// A part of the kernel that no schedule reached: a branch, a mask without a lane, a loop without an iteration.
struct NeverRan {
  std::string what;  // "branch 1 of cond"
  std::string source;
  int text_line = 0;
  std::vector<SourceFrame> frames;
};

// What a report says beside its findings, in one line that can be read alone.
struct ReportedRemark {
  std::string name;   // "not-finite": NaN or an infinity of finite operands; "backend": the one that was assumed
  std::string words;  // with the place, where it has one
  std::string source;
  int text_line = 0;
  std::vector<SourceFrame> frames;
};

enum class FidelityKind : std::uint8_t { kRefused, kApproximate, kExact };
PALLADION_EXPORT std::string_view Name(FidelityKind kind);  // "refused", "approximate", "exact"

// Operations of the kernel's text that are alike in how their results are those of the chip.
struct FidelityRow {
  std::string name;  // "exp"
  FidelityKind kind = FidelityKind::kExact;
  std::int64_t count = 0;
  std::string why;  // it is no exact one: "the chip's own approximation"
};

// Where an approximate value may decide something.
struct FidelityReach {
  std::string what;   // "control flow", "an address", "a synchronisation"
  std::string words;  // the operation that decides, and the one that its value is from, with places
  std::string source;
  int text_line = 0;
  std::vector<SourceFrame> frames;
};

// How faithful a run is to its target (docs/reference/reports.md): counts are of operations of the text.
struct ReportedFidelity {
  std::int64_t exact = 0, approximate = 0, refused = 0;
  std::vector<FidelityRow> rows;  // refused ones first, then approximate ones, by name
  std::vector<FidelityReach> reached;
};

// Why there is no result: the kernel is malformed or not supported, the budget is spent, or we are wrong.
struct ReportedError {
  ExitCode kind = ExitCode::kInternal;  // kUnsupported, kMalformed, kInternal or kBudget
  std::string message;
};

struct Report {
  std::string kernel;
  std::string target;
  std::int64_t programs = 0;  // grid points that ran
  std::int64_t steps = 0;     // of the prepared program: its length, not how often each ran
  std::vector<ReportedFinding> findings;
  std::vector<ReportedRemark> remarks;
  std::vector<std::string> printed;                         // lines of debug_print
  std::optional<ReportedFidelity> fidelity = std::nullopt;  // none on `generic`, which is no chip

  // Of a check only.
  bool checked = false;
  bool proved = false;              // no other schedule can do anything else on this input; says nothing about findings
  bool strict = false;              // warnings count as defects
  Verdict verdict = Verdict::kRan;  // VerdictOf
  std::int64_t schedules = 0;       // tried
  std::string argument;             // one honest sentence: why proved, or what the schedules are worth
  std::vector<ReportedFact> facts;  // those of the proof that the kernel has, or could have
  std::vector<CheckTally> checks;
  std::vector<NeverRan> never_ran;
  std::vector<std::string> unused_suppressions;
  bool interrupted = false;  // by Ctrl-C or a budget: what is known so far
  std::optional<ReportedError> error;
};

// Does it make the run fail? Suppressed ones and notes do not, and warnings only where the report is strict.
PALLADION_EXPORT bool Counts(const ReportedFinding& finding, const Report& report);

// From the findings that count, `proved`, `interrupted` and `error`. To be asked again when findings were suppressed.
PALLADION_EXPORT Verdict VerdictOf(const Report& report);

PALLADION_EXPORT ExitCode ExitCodeOf(const Report& report);
PALLADION_EXPORT ExitCode ExitCodeOf(const absl::Status& status);

// A report that says only why there is none: verdict unsupported, unless a defect is added to it.
PALLADION_EXPORT Report ErrorReport(const absl::Status& status, std::string kernel, std::string target);

// The same for the same finding after lines have moved, 16 hexadecimal digits for each finding of the report: made of
// its code, the kernel, the functions and the objects; the k-th of several equal ones stays the k-th.
PALLADION_EXPORT std::vector<std::string> Fingerprints(const Report& report);

// What a text report has besides the report.
struct TextOptions {
  bool color = false;
  std::string_view kernel_text = {};   // the .pkir's, for lines that have no readable Python file
  std::string kernel_path = "kernel";  // its name
  std::string command = {};            // "palladion check k.pkir --in x=x.npy": --replay is put after it
  // One line of a file, or nothing where it can't be read. Empty: no Python files are read.
  std::function<std::optional<std::string>(const std::string& file, int line)> source_line = {};
};

PALLADION_EXPORT std::string ToText(const Report& report, const TextOptions& options = {});
PALLADION_EXPORT std::string ToJson(const Report& report);  // docs/reference/report.schema.json

}  // namespace palladion

#endif  // PALLADION_EMU_REPORT_H_
