// A report for people. Short: what is wrong, where, why, what to do; the rule once for each code. Based on the
// diagnostics of compilers: one line that says it all, then numbered places with the source line and a caret.
#include <algorithm>
#include <set>

#include "absl/strings/str_join.h"
#include "emu/report.h"
#include "emu/reports/source_lines.h"
#include "semantics/base/cat.h"

namespace palladion {
namespace {

constexpr std::size_t kExcerptWidth = 96;
constexpr std::size_t kParagraphWidth = 110;
constexpr std::size_t kMaxCallers = 3;
constexpr std::size_t kMaxNeverRan = 12;

enum class Style { kBold, kDim, kError, kWarning, kNote, kGood, kPlace };

std::string_view SeverityWord(std::string_view severity) { return severity == "defect" ? "error" : severity; }

Style StyleOf(std::string_view severity) {
  if (severity == "defect") return Style::kError;
  return severity == "warning" ? Style::kWarning : Style::kNote;
}

std::string Plural(std::int64_t n, std::string_view word) { return Cat(n, " ", word, n == 1 ? "" : "s"); }

bool SamePlace(const ReportedAccess& a, const ReportedAccess& b) {
  return a.source == b.source && a.text_line == b.text_line;
}

class TextReport {
 public:
  TextReport(const Report& report, const TextOptions& options) : report_(report), options_(options) {}

  std::string Text() {
    for (const char* severity : {"defect", "warning", "note"}) {
      for (const ReportedFinding& finding : report_.findings) {
        if (finding.severity == severity && finding.suppressed.empty()) Full(finding);
      }
    }
    for (const ReportedFinding& finding : report_.findings) {
      if (!finding.suppressed.empty()) Suppressed(finding);
    }
    if (report_.error.has_value()) {
      Line(Styled(Style::kError, Cat("error[", report_.error->kind, "]")), ": ", report_.error->message);
      if (!report_.kernel.empty())
        Line("kernel @", report_.kernel, ": ",
             report_.findings.empty() ? "nothing can be said" : "nothing more can be said: it did not run");
    } else if (report_.checked) {
      Summary();
    } else {
      Line("kernel @", report_.kernel, " on ", report_.target, ": ", Plural(report_.programs, "program"),
           " ran, not checked (palladion check does); ",
           report_.findings.empty() ? "no findings"
                                    : Plural(static_cast<std::int64_t>(report_.findings.size()), "finding"));
    }
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
      if (line.size() > label.size() && line.size() + end > kParagraphWidth) {
        Line(line.substr(0, line.size() - 1));
        line = indent;
      }
      Append(&line, words.substr(0, end), " ");
      words.remove_prefix(std::min(end + 1, words.size()));
    }
    Line(line.substr(0, line.size() - 1));
  }

  std::string Styled(Style style, std::string_view text) const {
    if (!options_.color) return std::string(text);
    constexpr const char* kCodes[] = {"1", "2", "1;31", "1;33", "1;36", "1;32", "34"};
    return Cat("\x1b[", kCodes[static_cast<int>(style)], "m", text, "\x1b[0m");
  }

  void Full(const ReportedFinding& finding) {
    std::string folded;
    if (finding.count > 1) folded = Styled(Style::kDim, Cat("  (", finding.count, " times, the first is shown)"));
    const std::string head = Cat(SeverityWord(finding.severity), "[", finding.code, "]");
    Line(Styled(StyleOf(finding.severity), head), Styled(Style::kBold, Cat(": ", finding.message)), folded);
    if (finding.first.has_value()) Access(1, *finding.first, nullptr);
    if (finding.second.has_value()) Access(2, *finding.second, finding.first.has_value() ? &*finding.first : nullptr);
    if (!finding.first.has_value() && !finding.second.has_value())
      Place(finding.source, finding.frames, finding.text_line, "  ");
    Paragraph("  why: ", finding.why);
    Paragraph("  fix: ", finding.fix);
    if (!finding.confidence.empty() && finding.confidence != "proved") Line("  confidence: ", finding.confidence);
    if (!finding.replay.empty()) Line("  replay: ", options_.command, " --replay ", finding.replay);
    if (explained_.insert(finding.code).second && report_.checked)
      Line("  rule: ", finding.rule, Styled(Style::kDim, Cat(" (palladion explain ", finding.code, ")")));
    Line();
  }

  void Access(int number, const ReportedAccess& access, const ReportedAccess* other) {
    Line("  ", Styled(Style::kBold, Cat("(", number, ")")), " ", access.kind, access.object.empty() ? "" : " of ",
         access.object, access.box, access.agent.empty() ? "" : " by ", access.agent,
         other != nullptr && SamePlace(*other, access) ? ", at the same place" : "");
    if (other == nullptr || !SamePlace(*other, access)) Place(access.source, access.frames, access.text_line, "      ");
  }

  // Where, the line itself, and who called it.
  void Place(std::string_view source, const std::vector<SourceFrame>& frames, int text_line, std::string_view indent) {
    if (frames.empty()) {
      if (!source.empty()) Line(indent, "at ", Styled(Style::kPlace, source));
    } else {
      Line(indent, "at ", Styled(Style::kPlace, FrameText(frames[0])));
    }
    if (frames.empty() || !PythonLine(frames[0], indent)) {
      const std::optional<std::string> line = LineOf(options_.kernel_text, text_line);
      if (text_line > 0)
        Line(indent, line.has_value() ? Cat(options_.kernel_path, ":", text_line)
                                      : Cat("line ", text_line, " of the kernel text"));
      if (line.has_value()) ShowLine(*line, text_line, 0, indent);
    }
    for (std::size_t i = 1; i < frames.size() && i <= kMaxCallers; ++i)
      Line(indent, Styled(Style::kDim, Cat("called from ", FrameText(frames[i]))));
    if (frames.size() > kMaxCallers + 1)
      Line(indent, Styled(Style::kDim, Cat("and ", frames.size() - kMaxCallers - 1, " more")));
  }

  static std::string FrameText(const SourceFrame& frame) {
    std::string text = Cat(frame.file, ":", frame.line);
    if (frame.column > 0) Append(&text, ":", frame.column);
    if (!frame.function.empty()) Append(&text, " in ", frame.function);
    return text;
  }

  bool PythonLine(const SourceFrame& frame, std::string_view indent) {
    if (!options_.source_line) return false;
    const std::optional<std::string> line = options_.source_line(frame.file, frame.line);
    if (!line.has_value()) return false;
    ShowLine(*line, frame.line, frame.column, indent);
    return true;
  }

  void ShowLine(std::string_view line, int number, int column, std::string_view indent) {
    const Excerpt excerpt = MakeExcerpt(line, column, kExcerptWidth);
    const std::string digits = Cat(number);
    const std::string gutter(std::max<std::size_t>(digits.size(), 4) - digits.size(), ' ');
    Line(indent, Styled(Style::kDim, Cat(gutter, digits, " | ")), excerpt.text);
    Line(indent, Styled(Style::kDim, Cat(std::string(gutter.size() + digits.size(), ' '), " | ")),
         std::string(excerpt.caret, ' '), Styled(Style::kError, "^"));
  }

  void Suppressed(const ReportedFinding& finding) {
    Line(Styled(Style::kDim, Cat("suppressed[", finding.code, "]: ", finding.message)));
    if (!finding.source.empty()) Line("  at ", finding.source);
    Line("  reason: ", finding.suppressed);
    Line();
  }

  void Summary() {
    const Verdict verdict = VerdictOf(report_);
    const bool good = verdict == Verdict::kProved || verdict == Verdict::kClean;
    const bool doubtful = verdict == Verdict::kWarning || (report_.interrupted && good);
    const Style style = doubtful ? Style::kWarning : good ? Style::kGood : Style::kError;
    Line(Styled(style, Cat("verdict: ", Name(verdict), report_.interrupted ? ", stopped early" : "")), Tally());
    Line("  kernel @", report_.kernel, " on ", report_.target, ": ", Plural(report_.programs, "program"), ", ",
         Plural(report_.schedules, "schedule"), " tried");
    Paragraph("  ", report_.argument);
    if (report_.interrupted) Line("  stopped before the schedules were through: this is what is known so far");
    if (!report_.checks.empty()) {
      Line("  looked at: ", absl::StrJoin(report_.checks, ", ", [](std::string* out, const CheckTally& check) {
             Append(out, check.name, " ", check.times, check.times == 1 ? " time" : " times");
           }));
    }
    NeverRanLines();
    for (const std::string& unused : report_.unused_suppressions)
      Line("  ", Styled(Style::kWarning, "unused suppression"), ": ", unused);
  }

  std::string Tally() const {
    std::int64_t defects = 0, warnings = 0, notes = 0, suppressed = 0;
    for (const ReportedFinding& finding : report_.findings) {
      ++(!finding.suppressed.empty()     ? suppressed
         : finding.severity == "defect"  ? defects
         : finding.severity == "warning" ? warnings
                                         : notes);
    }
    std::vector<std::string> parts;
    if (defects > 0) parts.push_back(Plural(defects, "defect"));
    if (warnings > 0) parts.push_back(Plural(warnings, "warning") + (report_.strict ? " (they count: --strict)" : ""));
    if (notes > 0) parts.push_back(Plural(notes, "note"));
    if (suppressed > 0) parts.push_back(Cat(suppressed, " suppressed"));
    return parts.empty() ? "" : ": " + absl::StrJoin(parts, ", ");
  }

  void NeverRanLines() {
    for (std::size_t i = 0; i < std::min(report_.never_ran.size(), kMaxNeverRan); ++i) {
      const NeverRan& part = report_.never_ran[i];
      const std::string place = !part.frames.empty()   ? " at " + FrameText(part.frames[0])
                                : !part.source.empty() ? " at " + part.source
                                : part.text_line > 0   ? Cat(" at ", options_.kernel_path, ":", part.text_line)
                                                       : "";
      Line("  ", Styled(Style::kWarning, "never ran"), ": ", part.what, place);
    }
    if (report_.never_ran.size() > kMaxNeverRan)
      Line("  and ", report_.never_ran.size() - kMaxNeverRan, " more that never ran; --format=json has them all");
  }

  const Report& report_;
  const TextOptions& options_;
  std::set<std::string> explained_;
  std::string text_;
};

}  // namespace

std::string ToText(const Report& report, const TextOptions& options) { return TextReport(report, options).Text(); }

}  // namespace palladion
