// What became of one case: what the reports are written from, and a line of the results file that a run which was
// stopped goes on from.
#ifndef PALLADION_CONFORMANCE_CASE_RECORD_H_
#define PALLADION_CONFORMANCE_CASE_RECORD_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace palladion::conformance {

// The order is that of AllOutcomes.
enum class Outcome : std::uint8_t { kPassed, kFailed, kUnsupported };
std::string_view Name(Outcome outcome);  // "passed", "failed", "unsupported"

// Finding codes of a case that a backend was judged by. Nothing in all three: the case has none, and none was reported.
struct CodeTally {
  std::vector<std::string> found;   // expected, and reported
  std::vector<std::string> missed;  // expected, and not reported
  std::vector<std::string> wrong;   // reported, and not expected
};

struct CaseRecord {
  std::string name;                // "elementwise/add"
  std::string hash;                // of its text: a case that was changed since runs again
  std::vector<std::string> specs;  // "elementwise.md#add"
  Outcome outcome = Outcome::kPassed;
  std::vector<std::string> messages;  // what differs, or why it is not supported
  double seconds = 0;
  bool judged_findings = false;
  CodeTally codes;
  std::string file;  // "elementwise/add.case", and where the case begins in it: not in the line, which other cases
  int line = 1;      // of the file would change
};

// On one line, without its end.
std::string RecordLine(const CaseRecord& record);

// InvalidArgument: no JSON, or a member is missing or of another type.
absl::StatusOr<CaseRecord> ParseRecord(std::string_view line);

}  // namespace palladion::conformance

#endif  // PALLADION_CONFORMANCE_CASE_RECORD_H_
