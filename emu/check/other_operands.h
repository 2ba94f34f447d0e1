// A race whose writers stored the same bytes: would they with other operands? A program that stores its own row of an
// input does no harm while all rows are ones. And a flush that leaves what is read
// beside it as it was: would it with other operands? So one schedule runs again with random operands; those whose
// values decide what the programs do (a branch, an index, a lock) are kept, which is seen by running: the random
// operands are those with which every agent makes the same accesses in the same order. Based on: nothing but that a
// schedule's path depends on values only through what it accesses. What it does not catch: writers that are equal for
// these random operands too, and differ for others.
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
