// Which of a check's findings is the cause of another one, to be shown first.
#ifndef PALLADION_EMU_CHECK_CAUSES_H_
#define PALLADION_EMU_CHECK_CAUSES_H_

#include <vector>

#include "emu/check/log.h"
#include "emu/report.h"
#include "semantics/ir/module.h"

namespace palladion::check {

// What a check has found, with the user's lines and replays, causes first.
std::vector<ReportedFinding> FindingsOf(const CheckLog& log, const Module& module);

// A block that is visited again holds nothing (OUT_REVISIT), so a read of it is undefined (UNINIT). Such a UNINIT comes
// after its OUT_REVISIT, and its fix is to fix that one.
void PutCausesFirst(std::vector<ReportedFinding>& findings);

}  // namespace palladion::check

#endif  // PALLADION_EMU_CHECK_CAUSES_H_
