// A report back from its JSON: Python keeps reports as JSON and asks for their text, page or log later, and one
// renderer serves it and the command. Based on nlohmann-json. Missing members are as in an empty report, so that parts
// of reports can be rendered too; invalid JSON, or a member of another type, is an error.
#ifndef PALLADION_EMU_FRONT_REPORTS_REPORT_FROM_JSON_H_
#define PALLADION_EMU_FRONT_REPORTS_REPORT_FROM_JSON_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace palladion::reports {

// `request` is an object:
//   form       "text", "findings" and "end" (the two parts of it), "parts" (JSON of report_view.h), "sarif"
//   calls      [{"report": {...}, "count": 2, "grid": [4], "replay": ["before", "after"]}]
//   dropped, difference, allow (codes), color, width, details, lines ({file: {"12": "text"}}, of files on no disk)
//   text, path the kernel text and its name, where the reader has that and no Python
//   tests      of SARIF: [{"test", "path", "allow", "calls", "dropped"}]; root: files below it are named from there
// InvalidArgument says what is wrong with it.
absl::StatusOr<std::string> RenderJson(std::string_view request);

}  // namespace palladion::reports

#endif  // PALLADION_EMU_FRONT_REPORTS_REPORT_FROM_JSON_H_
