// Which findings of a report follow from another one: one mistake is one entry, and the others are its symptoms. A
// symptom keeps its own data, its replay and its place in the report's list; verdict and exit code count it as before.
// Based on the findings' codes, objects and places alone, so that a report that is read back has the same ones. It does
// not know whether a symptom would exist without its cause: where that is possible, it is not a symptom.
#ifndef PALLADION_EMU_FRONT_REPORTS_CAUSES_H_
#define PALLADION_EMU_FRONT_REPORTS_CAUSES_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "emu/report.h"

namespace palladion::reports {

// For each finding of the report the number of the one that it follows from, which follows from none itself; nothing
// for a finding that stands for itself. A cause counts at least as much as each of its symptoms.
std::vector<std::optional<std::size_t>> CausesOf(const Report& report);

}  // namespace palladion::reports

#endif  // PALLADION_EMU_FRONT_REPORTS_CAUSES_H_
