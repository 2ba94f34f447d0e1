// A report back from its JSON, of another process: what a worker of pytest-xdist found, or a report that was pickled.
// Next to the writer (report_json.cc), and the same members: what was read is written as it was, but for members that
// are not known. Based on docs/reference/report.schema.json and nlohmann-json. Members that may be absent are as in an
// empty report. Does not read what follows from the rest: the verdict, fingerprints, causes.
#ifndef PALLADION_EMU_FRONT_REPORTS_REPORT_READER_H_
#define PALLADION_EMU_FRONT_REPORTS_REPORT_READER_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "emu/report.h"

namespace palladion::reports {

// InvalidArgument: no JSON, a member of another type, a word that no such enumeration has.
absl::StatusOr<Report> ReadReport(std::string_view json);

}  // namespace palladion::reports

#endif  // PALLADION_EMU_FRONT_REPORTS_REPORT_READER_H_
