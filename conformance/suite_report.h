// What a suite has to say: as text, JSON, JUnit XML and SARIF 2.1.0. SARIF and text hold no time, so equal results are
// equal texts. Based on nlohmann-json, OASIS SARIF 2.1.0 (errata 01), and the JUnit XML that CI systems read.
#ifndef PALLADION_CONFORMANCE_SUITE_REPORT_H_
#define PALLADION_CONFORMANCE_SUITE_REPORT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "conformance/case_record.h"

namespace palladion::conformance {

struct SuiteReport {
  std::string backend;  // the command; "" for our own interpreter
  std::string tier;
  std::vector<CaseRecord> records;  // by name
  std::size_t not_run = 0;          // it was stopped before
};

std::size_t Count(const SuiteReport& report, Outcome outcome);

// A case with what differs in it. `place`: SelectedCase's.
std::string CaseText(const CaseRecord& record, const std::string& place);

// "3 passed, 1 failed, 2 unsupported": what no backend can answer is only counted where one was asked.
std::string Summary(const SuiteReport& report);

std::string ToJson(const SuiteReport& report);
std::string ToJUnit(const SuiteReport& report);
std::string ToSarif(const SuiteReport& report);

}  // namespace palladion::conformance

#endif  // PALLADION_CONFORMANCE_SUITE_REPORT_H_
