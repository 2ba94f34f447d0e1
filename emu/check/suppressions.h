// Reviewed and accepted findings, by code and place, each with a reason. One a line:
//
//   RACE_WW attention.py:120      # both programs store the same row; see the comment there
//   SAME_VALUE kernels/*.py       # any line of any file that matches
//   OOB_BLOCK @flash_forward:31   # line 31 of the kernel text of this kernel, for texts without source lines
//
// A file matches by its last components; * and ? stand for characters of one component. A line may be a range, 120-140.
// The place may be that of either access or of one of their callers. What is suppressed stays in the report with the
// reason and does not count; an entry that matched nothing is reported.
#ifndef PALLADION_EMU_CHECK_SUPPRESSIONS_H_
#define PALLADION_EMU_CHECK_SUPPRESSIONS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "emu/report.h"

namespace palladion::check {

class Suppressions {
 public:
  Suppressions() = default;
  // InvalidArgument, with `path` and the line: an unknown code, no place, no reason, a line that is no number.
  static absl::StatusOr<Suppressions> Parse(std::string_view text, std::string_view path);

  // Marks what matches, lists what did not, and forms the verdict again.
  void Apply(Report& report) const;

 private:
  struct Entry {
    FindingCode code = FindingCode::kOutOfBounds;
    std::string pattern, reason;        // pattern: a file, or a kernel with its @
    int first_line = 0, last_line = 0;  // 0: any
    std::string shown;                  // "supp.txt:3: RACE_WW attention.py:120"
  };
  static absl::Status ParseLine(std::string_view line, Entry& entry);
  static absl::Status ParsePlace(std::string_view place, Entry& entry);
  static bool Matches(const Entry& entry, const std::vector<SourceFrame>& frames);
  static bool Matches(const Entry& entry, const ReportedFinding& finding, const std::string& kernel);

  std::vector<Entry> entries_;
};

// Does `path` end in components that match `pattern`'s?
bool PathMatches(std::string_view pattern, std::string_view path);

// InvalidArgument: there is no such code; the message has one that is close.
absl::StatusOr<FindingCode> KnownCode(std::string_view name);

}  // namespace palladion::check

#endif  // PALLADION_EMU_CHECK_SUPPRESSIONS_H_
