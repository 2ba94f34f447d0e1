// A report for other programs: SARIF 2.1.0 for code scanning, JUnit XML for CI. A SARIF log holds no time, so equal
// reports are equal texts.
#ifndef PALLADION_EMU_FRONT_REPORTS_REPORT_FORMATS_H_
#define PALLADION_EMU_FRONT_REPORTS_REPORT_FORMATS_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "emu/front/reports/report_view.h"
#include "emu/report.h"

namespace palladion::reports {

// The subject of a log: a check by the command, whose test has no name and whose path is the kernel text's; or tests.
struct SarifTest {
  std::string name, path;
  std::set<FindingCode> allowed = {};  // that the test's marker lets pass
  ReportDocument document = {};
  std::string text = {};  // of the kernel, where `path` is the file that holds it
};
struct KernelTextFile {
  std::string path, text;
};
struct SarifLog {
  std::vector<SarifTest> tests;
  std::string root;  // files below it are named from there, by the uriBaseId %SRCROOT%
  std::optional<int> exit_code = {};
};

// Based on: OASIS SARIF 2.1.0 (errata 01). One run; a rule for every finding code; a place without Python is the line
// of the kernel text, or the file of the test. A finding that several tests have is one result, which names them.
std::string ToSarif(const SarifLog& log);
std::string ToSarif(const Report& report, const KernelTextFile& file, const std::string& root);

// Based on: the JUnit XML that CI systems read (Ant's, as Jenkins and GitLab document it). A test case for the kernel,
// and one for each finding: failed where it counts, skipped where it is suppressed. `seconds` is what the check took.
std::string ToJUnit(const Report& report, const std::string& kernel_path, const TextOptions& options, double seconds);

}  // namespace palladion::reports

#endif  // PALLADION_EMU_FRONT_REPORTS_REPORT_FORMATS_H_
