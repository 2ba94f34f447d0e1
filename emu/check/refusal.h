// The report of a kernel that cannot be prepared: why, and what its target refuses in any case.
#ifndef PALLADION_EMU_CHECK_REFUSAL_H_
#define PALLADION_EMU_CHECK_REFUSAL_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "emu/emulate.h"
#include "emu/report.h"

namespace palladion::check {

// An ErrorReport. Where `status`, of PrepareText on `text` and `options`, says that something is not supported or has
// not the form it should have, the report has the findings that need the parsed text alone (contracts.h): a kernel that
// its target refuses is wrong whether or not it runs here.
Report RefusalReport(const absl::Status& status, std::string_view text, const PrepareOptions& options);

}  // namespace palladion::check

#endif  // PALLADION_EMU_CHECK_REFUSAL_H_
