// A report for other programs: SARIF 2.1.0 for code scanning, JUnit XML for CI. Neither holds a time, so equal reports
// are equal texts.
#ifndef PALLADION_EMU_REPORTS_REPORT_FORMATS_H_
#define PALLADION_EMU_REPORTS_REPORT_FORMATS_H_

#include <string>

#include "emu/report.h"

namespace palladion {

// Based on: OASIS SARIF 2.1.0 (errata 01). One run; a rule for every finding code; a place without Python is the line
// of the kernel text at `kernel_path`.
std::string ToSarif(const Report& report, const std::string& kernel_path);

// Based on: the JUnit XML that CI systems read (Ant's, as Jenkins and GitLab document it). A test case for the kernel,
// and one for each finding: failed where it counts, skipped where it is suppressed.
std::string ToJUnit(const Report& report, const std::string& kernel_path);

}  // namespace palladion

#endif  // PALLADION_EMU_REPORTS_REPORT_FORMATS_H_
