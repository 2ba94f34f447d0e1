// Whether a race whose writers stored the same bytes would show with other operands, and whether a flush that left the
// bytes of an unordered read unchanged would change them: a program that stores its own row of an input does no harm
// while all rows are ones. One schedule runs again with random operands. Operands whose values decide what the programs
// do (a branch, an index, a lock) are kept; a run shows which they are: an operand is random only if every agent then
// makes the same accesses in the same order. What it does not catch: writers that are equal for these random operands
// too, and differ for others.
#ifndef PALLADION_EMU_CHECK_OTHER_OPERANDS_H_
#define PALLADION_EMU_CHECK_OTHER_OPERANDS_H_

#include "emu/check/log.h"
#include "emu/check/trial.h"

namespace palladion::check {

// Each SAME_VALUE of the log whose writers store different bytes with other operands becomes RACE_WW, predicted; so
// does one that could not be tried. Each note of such a flush becomes the defect, predicted, that other operands
// show. `options`: those of the check, `lengths`: of its first schedule.
void ChallengeEqualValues(const Trials& runner, const CheckOptions& options, const scheduler::RunLengths& lengths,
                          CheckLog& log);

}  // namespace palladion::check

#endif  // PALLADION_EMU_CHECK_OTHER_OPERANDS_H_
