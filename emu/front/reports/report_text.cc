// A report for people. Short: what is wrong, where, why, what to do; the rule once for each code. Based on the
// diagnostics of compilers: one line with the essentials, then numbered places with the source line and a caret.
// report_view.h decides the content and its order; here it is written.
#include <algorithm>
#include <set>

#include "absl/strings/str_join.h"
#include "emu/front/reports/report_view.h"
#include "emu/report.h"
#include "scheduler/policies/pct_bound.h"
#include "semantics/base/cat.h"
#include "semantics/base/printable.h"

namespace palladion::reports {
namespace {

constexpr std::size_t kMaxNeverRan = 12;
constexpr std::size_t kLongReport = 10;  // findings; longer ones end with a table of them

enum class Style { kBold, kDim, kError, kWarning, kNote, kGood, kPlace };

Style StyleOf(Severity severity) {
  if (severity == Severity::kDefect) return Style::kError;
  return severity == Severity::kWarning ? Style::kWarning : Style::kNote;
}

// "error[RACE_RW]".
std::string HeadOf(const FindingView& finding) {
  return Cat(finding.suppressed.empty() ? WordOf(finding.severity) : "suppressed", "[", Code(finding.code), "]");
}

// Columns of a terminal, as far as characters of one column go.
std::size_t Columns(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

class TextReport {
 public:
  TextReport(const ReportDocument& document, const RenderOptions& options, const TextLayout& layout)
      : document_(document), options_(options), layout_(layout), view_(ViewOf(document, options)) {}

  std::string Text() {
    if (layout_.findings) {
      for (const FindingView& finding : view_.findings) {
        if (finding.suppressed.empty()) {
          Full(finding);
        } else {
          Suppressed(finding);
        }
      }
    }
    if (!layout_.end) {
      text_.resize(text_.empty() ? 0 : text_.size() - 1);  // the empty line
      return std::move(text_);
    }
    if (view_.findings.size() > kLongReport) FindingTable();
    if (document_.calls.size() == 1) {
      One(document_.calls[0]);
    } else if (!document_.calls.empty()) {
      Several();
    }
    for (const std::string& line : view_.fidelity) Paragraph("  fidelity: ", line);
    for (const std::string& remark : view_.remarks) Paragraph("  remark: ", remark);
    if (document_.dropped > 0) Line("and ", Plural(document_.dropped, "call"), " whose reports there was no room for");
    if (!document_.difference.empty()) Line("differs from the reference: ", Printable(document_.difference));
    return std::move(text_);
  }

 private:
  template <typename... Parts>
  void Line(const Parts&... parts) {
    Append(&text_, parts..., "\n");
  }

  // Words in lines of some hundred columns, the later ones indented as far as `label`.
  void Paragraph(std::string_view label, std::string_view words) {
    if (words.empty()) return;
    const std::string indent(label.size(), ' ');
    std::string line(label);
    while (!words.empty()) {
      const std::size_t end = std::min(words.find(' '), words.size());
      if (line.size() > label.size() && line.size() + end > layout_.width) {
        Line(line.substr(0, line.size() - 1));
        line = indent;
      }
      Append(&line, words.substr(0, end), " ");
      words.remove_prefix(std::min(end + 1, words.size()));
    }
    Line(line.substr(0, line.size() - 1));
  }

  std::string Styled(Style style, std::string_view text) const {
    if (!layout_.color) return std::string(text);
    constexpr const char* kCodes[] = {"1", "2", "1;31", "1;33", "1;36", "1;32", "34"};
    return Cat("\x1b[", kCodes[static_cast<int>(style)], "m", text, "\x1b[0m");
  }

  // Lines after the first are indented, so that no message can look like the start of another finding.
  static std::string Indented(std::string_view message) {
    std::string out;
    for (const char c : message) out += c == '\n' ? std::string("\n    ") : std::string(1, c);
    return out;
  }

  void Full(const FindingView& finding) {
    std::string folded;
    if (!finding.repeated.empty()) folded = Styled(Style::kDim, Cat("  (", finding.repeated, ")"));
    Line(Styled(StyleOf(finding.severity), HeadOf(finding)), Styled(Style::kBold, Cat(": ", Indented(finding.message))),
         folded, finding.allowed ? Styled(Style::kDim, "  (allowed)") : "");
    if (!finding.kernel.empty()) Line("  in kernel ", finding.kernel);
    for (const PlaceView& place : finding.places) Place(place);
    Paragraph("  why: ", finding.why);
    Paragraph("  fix: ", finding.fix);
    if (finding.confidence != Confidence::kProved) Line("  confidence: ", WordOf(finding.confidence));
    if (!finding.replay.empty()) Line("  replay: ", finding.replay);
    if (finding.checked && explained_.insert(finding.code).second)
      Line("  rule: ", RowOf(finding.code).rule,
           Styled(Style::kDim, Cat(" (palladion explain ", Code(finding.code), ")")));
    Symptoms(finding);
    Line();
  }

  // Each in a few lines: the fix is the cause's.
  void Symptoms(const FindingView& finding) {
    if (finding.symptoms.empty()) return;
    Line("  symptoms of it:");
    for (const FindingView& symptom : finding.symptoms) {
      const std::string place = reports::PlaceOf(symptom);
      Line("    ", Styled(StyleOf(symptom.severity), HeadOf(symptom)), ": ", Indented(symptom.message),
           symptom.allowed ? Styled(Style::kDim, "  (allowed)") : "");
      if (!place.empty()) Line("      at ", Styled(Style::kPlace, place));
      if (!symptom.replay.empty() && symptom.replay != finding.replay) Line("      replay: ", symptom.replay);
    }
  }

  void Place(const PlaceView& place) {
    const std::string indent = place.number > 0 ? "      " : "  ";
    if (place.number > 0)
      Line("  ", Styled(Style::kBold, Cat("(", place.number, ")")), " ", place.what,
           place.same_place ? ", at the same place" : "");
    if (!place.at.empty()) Line(indent, "at ", Styled(Style::kPlace, place.at));
    if (!place.text_place.empty()) Line(indent, place.text_place);
    if (place.line.has_value()) {
      const std::string digits = Cat(place.line->number);
      const std::string gutter(std::max<std::size_t>(digits.size(), 4) - digits.size(), ' ');
      Line(indent, Styled(Style::kDim, Cat(gutter, digits, " | ")), place.line->text);
      Line(indent, Styled(Style::kDim, Cat(std::string(gutter.size() + digits.size(), ' '), " | ")),
           std::string(place.line->caret, ' '), Styled(Style::kError, "^"));
    }
    if (!place.folded.empty()) Line(indent, Styled(Style::kDim, place.folded));
    for (const std::string& caller : place.callers) Line(indent, Styled(Style::kDim, Cat("called from ", caller)));
    if (place.more_callers > 0) Line(indent, Styled(Style::kDim, Cat("and ", place.more_callers, " more")));
  }

  void Suppressed(const FindingView& finding) {
    Line(Styled(Style::kDim, Cat(HeadOf(finding), ": ", Indented(finding.message))));
    if (!finding.of.source.empty()) Line("  at ", Printable(finding.of.source));
    Line("  reason: ", finding.suppressed);
    Line();
  }

  // What one report ends with.
  void One(const ReportedCall& call) {
    const Report& report = call.report;
    if (report.error.has_value()) {
      Line(Styled(Style::kError, Cat("error[", Name(report.error->kind), "]")), ": ",
           PrintableLines(report.error->message));
      if (!report.kernel.empty())
        Line("kernel @", Printable(report.kernel), ": ",
             report.findings.empty() ? "nothing can be said"
             : report.programs > 0   ? "nothing more can be said"
                                     : "nothing more can be said: it did not run");
    } else if (report.checked) {
      Summary(call);
    } else {
      Line("kernel @", Printable(report.kernel), " on ", Printable(report.target), ": ",
           Plural(report.programs, "program"), " ran, not checked (",
           options_.python ? "seeds=16 checks it" : "palladion check does", "); ",
           report.findings.empty() ? "no findings"
                                   : Plural(static_cast<std::int64_t>(report.findings.size()), "finding"),
           Calls(call.count));
    }
  }

  static std::string Calls(std::int64_t count) { return count > 1 ? Cat(", ", count, " calls") : ""; }

  void Summary(const ReportedCall& call) {
    const Report& report = call.report;
    VerdictLine(report.interrupted);
    Line("  kernel @", Printable(report.kernel), " on ", Printable(report.target), ": ",
         Plural(report.programs, "program"), ", ", Plural(report.schedules, "schedule"), " tried", Calls(call.count));
    Paragraph("  ", Printable(layout_.details ? report.argument : scheduler::WithoutBound(report.argument)));
    if (report.interrupted) Line("  stopped before all schedules had run: the findings so far");
    if (layout_.details && !report.checks.empty()) {
      Line("  looked at: ", absl::StrJoin(report.checks, ", ", [](std::string* out, const CheckTally& check) {
             Append(out, Name(check.kind), " ", check.times, check.times == 1 ? " time" : " times");
           }));
    }
    NeverRanLines();
    for (const std::string& unused : report.unused_suppressions)
      Line("  ", Styled(Style::kWarning, "unused suppression"), ": ", Printable(unused));
  }

  void VerdictLine(bool interrupted) {
    const bool good = view_.verdict == Verdict::kProved || view_.verdict == Verdict::kClean;
    const bool doubtful = view_.verdict == Verdict::kWarning || view_.verdict == Verdict::kRan || (interrupted && good);
    const Style style = doubtful ? Style::kWarning : good ? Style::kGood : Style::kError;
    Line(Styled(style, Cat("verdict: ", Name(view_.verdict), interrupted ? ", stopped early" : "")),
         view_.tally.empty() ? "" : ": ", view_.tally);
  }

  // What several reports end with: the errors, and a table of the kernels.
  void Several() {
    for (const ReportedError& error : view_.errors)
      Line(Styled(Style::kError, Cat("error[", Name(error.kind), "]")), ": ", Indented(error.message));
    bool interrupted = false;
    for (const ReportedCall& call : document_.calls) interrupted |= call.report.interrupted;
    VerdictLine(interrupted);
    Rows rows = {{"kernel", "target", "calls", "verdict", "schedules", "findings"}};
    for (const KernelView& kernel : view_.kernels) {
      const std::string least = kernel.least_schedules == kernel.most_schedules ? "" : Cat(kernel.least_schedules, "-");
      rows.push_back({"@" + kernel.kernel, kernel.target, Cat(kernel.calls), Name(kernel.verdict),
                      kernel.most_schedules == 0 ? "not checked" : Cat(least, kernel.most_schedules), kernel.findings});
    }
    Table(rows);
    NeverRanLines();
  }

  using Rows = std::vector<std::vector<std::string>>;

  void FindingTable() {
    Line("all ", view_.findings.size(), " findings:");
    Rows rows = {{"finding", "times", "where"}};
    for (const FindingView& finding : view_.findings)
      rows.push_back({HeadOf(finding), Cat(finding.times), PlaceOf(finding)});
    Table(rows);
    Line();
  }

  void Table(const Rows& rows) {
    std::vector<std::size_t> widths(rows[0].size());
    for (const auto& row : rows) {
      for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Columns(row[i]));
    }
    for (const auto& row : rows) {
      std::string line = " ";
      for (std::size_t i = 0; i < row.size(); ++i) {
        Append(&line, " ", row[i]);
        if (i + 1 < row.size()) line.append(widths[i] - Columns(row[i]) + 1, ' ');
      }
      Line(&row == &rows[0] ? Styled(Style::kDim, line) : line);
    }
  }

  void NeverRanLines() {
    std::vector<std::string> lines;
    for (const ReportedCall& call : document_.calls) {
      for (const NeverRan& part : call.report.never_ran) {
        std::string line = Cat(": ", Printable(part.what), PlaceOf(part));
        if (std::find(lines.begin(), lines.end(), line) == lines.end() || document_.calls.size() == 1)
          lines.push_back(std::move(line));
      }
    }
    for (std::size_t i = 0; i < std::min(lines.size(), kMaxNeverRan); ++i)
      Line("  ", Styled(Style::kWarning, "did not run in program order"), lines[i]);
    if (lines.size() > kMaxNeverRan)
      Line("  and ", lines.size() - kMaxNeverRan, " more that did not run in program order; ",
           options_.python ? "never_ran of each kernel" : "--format=json", " has them all");
  }

  std::string PlaceOf(const NeverRan& part) const {
    if (!part.frames.empty()) {
      const SourceFrame& frame = part.frames[0];
      return Cat(" at ", Printable(frame.file), ":", frame.line, frame.column > 0 ? Cat(":", frame.column) : "",
                 frame.function.empty() ? "" : " in ", Printable(frame.function));
    }
    if (!part.source.empty()) return " at " + Printable(part.source);
    return part.text_line > 0 && !options_.python ? Cat(" at ", Printable(options_.kernel_path), ":", part.text_line)
                                                  : "";
  }

  static std::string PlaceOf(const FindingView& finding) { return reports::PlaceOf(finding); }

  const ReportDocument& document_;
  const RenderOptions& options_;
  const TextLayout& layout_;
  const ReportView view_;
  std::set<FindingCode> explained_;
  std::string text_;
};

}  // namespace

std::string ToText(const ReportDocument& document, const RenderOptions& options, const TextLayout& layout) {
  return TextReport(document, options, layout).Text();
}

}  // namespace palladion::reports

namespace palladion {

std::string ToText(const Report& report, const TextOptions& options) {
  reports::ReportDocument document;
  document.calls.push_back({.report = report, .replay_before = options.command + " --replay "});
  return reports::ToText(
      document,
      {.kernel_text = options.kernel_text, .kernel_path = options.kernel_path, .source_line = options.source_line},
      {.color = options.color});
}

}  // namespace palladion
