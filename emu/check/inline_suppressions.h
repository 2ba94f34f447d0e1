// Accepted findings, in a comment on the Python line of either access or of one of their callers:
//
//   o_ref[0] = x_ref[i]  # palladion: ignore[RACE_WW, NONDET] any of the values will do
//
// What is suppressed stays in the report with the reason and does not count, and a code that matched nothing is
// reported, as with a file of suppressions (suppressions.h). A comment that cannot be read is an error of the report.
// A plain run, which does not look for most mistakes, reads the lines of its findings alone and calls no code unused:
// so a call without findings reads no file.
//
// Limits: only lines are read that the kernel's operations, or its findings, name as theirs; of a statement over
// several lines that is the line that reports show. A file that was changed since the kernel was traced is read as it
// is now.
#ifndef PALLADION_EMU_CHECK_INLINE_SUPPRESSIONS_H_
#define PALLADION_EMU_CHECK_INLINE_SUPPRESSIONS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "emu/report.h"
#include "semantics/ir/module.h"

namespace palladion::check {

struct InlineSuppression {
  std::vector<FindingCode> codes;
  std::string reason;
};

// Of one line of Python; nothing where it has no such comment. InvalidArgument: one that cannot be read.
absl::StatusOr<std::optional<InlineSuppression>> ParseInlineSuppression(std::string_view line);

// Marks what matches, lists what did not, and forms the verdict again. `module` is the kernel's, or nullptr where there
// is none: then only the lines of findings are read.
void ApplyInlineSuppressions(const Module* module, Report& report);

}  // namespace palladion::check

#endif  // PALLADION_EMU_CHECK_INLINE_SUPPRESSIONS_H_
