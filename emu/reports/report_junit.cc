#include "emu/reports/json.h"
#include "emu/reports/report_formats.h"
#include "semantics/base/cat.h"

namespace palladion {
namespace {

// Characters that XML 1.0 cannot hold become '?'; what is no UTF-8 becomes U+FFFD, as in JSON.
std::string Xml(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = Utf8Length(text, i);
    const char c = text[i];
    if (length == 0) {
      out += "\xef\xbf\xbd";
      ++i;
      continue;
    }
    // U+FFFE and U+FFFF are no characters of XML.
    const bool outside =
        length == 3 && text.substr(i, 2) == "\xef\xbf" && static_cast<unsigned char>(text[i + 2]) >= 0xbe;
    if (outside || (length == 1 && static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t')) {
      out += '?';
    } else if (c == '&' || c == '<' || c == '>' || c == '"' || c == '\n' || c == '\t') {
      Append(&out, "&#", static_cast<int>(c), ";");
    } else {
      out += text.substr(i, length);
    }
    i += length;
  }
  return out;
}

std::string PlaceOf(const std::vector<SourceFrame>& frames, int text_line, const std::string& kernel_path) {
  if (!frames.empty()) return Cat(frames[0].file, ":", frames[0].line);
  return text_line > 0 ? Cat(kernel_path, ":", text_line) : kernel_path;
}

std::string AccessText(int number, const std::optional<ReportedAccess>& access, const std::string& kernel_path) {
  if (!access.has_value()) return "";
  return Cat("(", number, ") ", access->kind, " of ", access->object, access->box, " by ", access->agent, " at ",
             PlaceOf(access->frames, access->text_line, kernel_path), "\n");
}

// The body of a test case: what a reader of the CI page needs to act.
std::string DetailOf(const ReportedFinding& finding, const std::string& kernel_path) {
  std::string text = Cat(finding.message, "\nat ", PlaceOf(finding.frames, finding.text_line, kernel_path), "\n",
                         AccessText(1, finding.first, kernel_path), AccessText(2, finding.second, kernel_path));
  if (!finding.why.empty()) Append(&text, "why: ", finding.why, "\n");
  if (!finding.fix.empty()) Append(&text, "fix: ", finding.fix, "\n");
  if (!finding.replay.empty()) Append(&text, "replay: --replay ", finding.replay, "\n");
  return text + "rule: " + finding.rule;
}

std::string FindingCase(const Report& report, const ReportedFinding& finding, const std::string& kernel_path) {
  std::string xml = Cat("    <testcase classname=\"", Xml(report.kernel), "\" name=\"",
                        Xml(Cat(finding.code, " ", PlaceOf(finding.frames, finding.text_line, kernel_path))), "\">\n");
  if (Counts(finding, report)) {
    Append(&xml, "      <failure type=\"", finding.code, "\" message=\"", Xml(finding.message), "\">",
           Xml(DetailOf(finding, kernel_path)), "</failure>\n");
  } else if (!finding.suppressed.empty()) {
    Append(&xml, "      <skipped message=\"", Xml("suppressed: " + finding.suppressed), "\"/>\n");
  } else {
    Append(&xml, "      <system-out>", Xml(Cat(finding.severity, ": ", DetailOf(finding, kernel_path))),
           "</system-out>\n");
  }
  return xml + "    </testcase>\n";
}

// The check as a whole: an error where nothing could be said or not all was tried, else what it looked at.
std::string CheckCase(const Report& report) {
  std::string xml = Cat("    <testcase classname=\"", Xml(report.kernel), "\" name=\"check\">\n");
  if (report.error.has_value()) {
    Append(&xml, "      <error type=\"", report.error->kind, "\" message=\"", Xml(report.error->message), "\"/>\n");
  } else if (report.interrupted) {
    xml += "      <error type=\"interrupted\" message=\"stopped before the schedules were through\"/>\n";
  }
  std::string text = Cat("verdict: ", Name(VerdictOf(report)), "\n", report.schedules, " schedules\n", report.argument);
  for (const CheckTally& check : report.checks) Append(&text, "\n", check.name, ": ", check.times, " times");
  for (const NeverRan& part : report.never_ran) Append(&text, "\nnever ran: ", part.what, " ", part.source);
  for (const std::string& unused : report.unused_suppressions) Append(&text, "\nunused suppression: ", unused);
  return xml + Cat("      <system-out>", Xml(text), "</system-out>\n    </testcase>\n");
}

}  // namespace

std::string ToJUnit(const Report& report, const std::string& kernel_path) {
  std::size_t failures = 0, skipped = 0;
  std::string cases = CheckCase(report);
  for (const ReportedFinding& finding : report.findings) {
    failures += Counts(finding, report) ? 1 : 0;
    skipped += finding.suppressed.empty() ? 0 : 1;
    cases += FindingCase(report, finding, kernel_path);
  }
  const std::string totals =
      Cat(" tests=\"", report.findings.size() + 1, "\" failures=\"", failures, "\" errors=\"",
          report.error.has_value() || report.interrupted ? 1 : 0, "\" skipped=\"", skipped, "\"");
  return Cat("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites", totals, ">\n  <testsuite name=\"",
             Xml(Cat("palladion check ", kernel_path)), "\"", totals, ">\n", cases, "  </testsuite>\n</testsuites>\n");
}

}  // namespace palladion
