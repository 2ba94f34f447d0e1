#include <cstdio>

#include "emu/front/reports/report_formats.h"
#include "semantics/base/cat.h"
#include "semantics/base/escapes.h"
#include "semantics/base/printable.h"

namespace palladion::reports {
namespace {

// What XML 1.0 cannot hold, and no terminal should get, is shown as an escape (printable.h).
std::string Xml(std::string_view text) { return XmlEscaped(PrintableLines(text)); }

std::string PlaceOf(const std::vector<SourceFrame>& frames, int text_line, const std::string& kernel_path) {
  if (!frames.empty()) return Cat(frames[UserFrame(frames)].file, ":", frames[UserFrame(frames)].line);
  return text_line > 0 ? Cat(kernel_path, ":", text_line) : kernel_path;
}

std::string Property(std::string_view name, std::string_view value) {
  return Cat("      <property name=\"palladion.", name, "\" value=\"", Xml(value), "\"/>\n");
}

class JUnitWriter {
 public:
  JUnitWriter(const Report& report, const std::string& kernel_path, const TextOptions& options, double seconds)
      : report_(report), path_(kernel_path), options_(options) {
    char text[32];
    std::snprintf(text, sizeof text, " time=\"%.3f\"", seconds);
    time_ = text;
  }

  std::string Write() const {
    std::size_t failures = 0, skipped = 0;
    std::string cases = CheckCase();
    const std::vector<std::string> prints = Fingerprints(report_);
    for (std::size_t i = 0; i < report_.findings.size(); ++i) {
      failures += Counts(report_.findings[i], report_) ? 1 : 0;
      skipped += report_.findings[i].suppressed.empty() ? 0 : 1;
      cases += FindingCase(report_.findings[i], prints[i]);
    }
    const std::string totals =
        Cat(" tests=\"", report_.findings.size() + 1, "\" failures=\"", failures, "\" errors=\"",
            report_.error.has_value() || report_.interrupted ? 1 : 0, "\" skipped=\"", skipped, "\"", time_);
    return Cat("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites", totals, ">\n  <testsuite name=\"",
               Xml(Cat("palladion check ", path_)), "\"", totals, ">\n", Properties(), cases,
               "  </testsuite>\n</testsuites>\n");
  }

 private:
  std::string Properties() const {
    return Cat("    <properties>\n", Property("version", PALLADION_VERSION), Property("kernel", report_.kernel),
               Property("target", report_.target), Property("verdict", Name(VerdictOf(report_))),
               Property("schedules", Cat(report_.schedules)), "    </properties>\n");
  }

  // What a reader of the CI page needs to act: the text report of this finding.
  std::string DetailOf(const ReportedFinding& finding) const {
    ReportDocument document;
    document.calls.push_back({.report = {.kernel = report_.kernel, .target = report_.target, .findings = {finding}},
                              .replay_before = options_.command + " --replay "});
    document.calls[0].report.checked = true;
    return ToText(
        document,
        {.kernel_text = options_.kernel_text, .kernel_path = options_.kernel_path, .source_line = options_.source_line},
        {.end = false});
  }

  std::string FindingCase(const ReportedFinding& finding, std::string_view fingerprint) const {
    const std::string place = PlaceOf(finding.frames, finding.text_line, path_);
    std::string xml =
        Cat("    <testcase classname=\"", Xml(report_.kernel), "\" name=\"", Xml(Cat(Code(finding.code), " ", place)),
            "\" time=\"0.000\">\n      <properties>\n  ", Property("severity", Name(finding.severity)), "  ",
            Property("fingerprint", fingerprint), "  ", Property("replay", finding.replay), "      </properties>\n");
    if (Counts(finding, report_)) {
      Append(&xml, "      <failure type=\"", Xml(Code(finding.code)), "\" message=\"", Xml(finding.message), "\">",
             Xml(DetailOf(finding)), "</failure>\n");
    } else if (!finding.suppressed.empty()) {
      Append(&xml, "      <skipped message=\"", Xml("suppressed: " + finding.suppressed), "\"/>\n");
    } else {
      Append(&xml, "      <system-out>", Xml(DetailOf(finding)), "</system-out>\n");
    }
    return xml + "    </testcase>\n";
  }

  // The check as a whole: an error where nothing could be said or not all was tried, else what it looked at.
  std::string CheckCase() const {
    std::string xml = Cat("    <testcase classname=\"", Xml(report_.kernel), "\" name=\"check\"", time_, ">\n");
    if (report_.error.has_value()) {
      Append(&xml, "      <error type=\"", Xml(Name(report_.error->kind)), "\" message=\"", Xml(report_.error->message),
             "\"/>\n");
    } else if (report_.interrupted) {
      xml += "      <error type=\"interrupted\" message=\"stopped before all schedules had run\"/>\n";
    }
    std::string text =
        Cat("verdict: ", Name(VerdictOf(report_)), "\n", report_.schedules, " schedules\n", report_.argument);
    for (const ReportedRemark& remark : report_.remarks)
      Append(&text, "\nremark: ", LineOf(remark, {.kernel_path = path_}));
    for (const CheckTally& check : report_.checks) Append(&text, "\n", Name(check.kind), ": ", check.times, " times");
    for (const NeverRan& part : report_.never_ran)
      Append(&text, "\ndid not run in program order: ", part.what, " ", part.source);
    for (const std::string& unused : report_.unused_suppressions) Append(&text, "\nunused suppression: ", unused);
    for (const std::string& line : report_.printed) Append(&text, "\nprinted: ", line);
    return xml + Cat("      <system-out>", Xml(text), "</system-out>\n    </testcase>\n");
  }

  const Report& report_;
  const std::string& path_;
  const TextOptions& options_;
  std::string time_;
};

}  // namespace

std::string ToJUnit(const Report& report, const std::string& kernel_path, const TextOptions& options, double seconds) {
  return JUnitWriter(report, kernel_path, options, seconds).Write();
}

}  // namespace palladion::reports
