// A part of a check as JSON: the transfer from the machine that ran it to the one that makes the report
// (docs/guides/sweeps.md). Based on nlohmann-json. The receiving check verifies that the part belongs to it.
#ifndef PALLADION_EMU_FRONT_REPORTS_PART_JSON_H_
#define PALLADION_EMU_FRONT_REPORTS_PART_JSON_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "emu/check.h"

namespace palladion::reports {

// {"made_for", "first", "last", "schedules", "checks": {NAME: TIMES}, "news": [...], "stopped"}
std::string PartJson(const CheckPart& part);

// Of a list of them. InvalidArgument: no list, a member is missing or of another type.
absl::StatusOr<std::vector<CheckPart>> PartsOfJson(std::string_view list);

}  // namespace palladion::reports

#endif  // PALLADION_EMU_FRONT_REPORTS_PART_JSON_H_
