// The fidelity of a run in a text report: one line, and a table on request.
#ifndef PALLADION_EMU_FRONT_REPORTS_FIDELITY_TEXT_H_
#define PALLADION_EMU_FRONT_REPORTS_FIDELITY_TEXT_H_

#include <string>

#include "emu/report.h"

namespace palladion::reports {

// "12 operations exact, 2 approximate (exp, dot_general), none of which reaches ..."; "" where all are exact.
std::string FidelityLine(const Report& report);

// A row for each kind of operation, then where approximate values may decide; "" on `generic`.
std::string FidelityTable(const Report& report);

}  // namespace palladion::reports

#endif  // PALLADION_EMU_FRONT_REPORTS_FIDELITY_TEXT_H_
