// A rough cost of steps, so that a budget of loop iterations, which must not look at a clock, still ends an endless
// kernel within about a minute. What it does not know: what an access to memory costs a checked run, and operations
// that take longer than their elements say (a sort).
#ifndef PALLADION_SEMANTICS_PROGRAM_STEP_WORK_H_
#define PALLADION_SEMANTICS_PROGRAM_STEP_WORK_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "semantics/program/program.h"

namespace palladion {

// The elements of the largest operand or result.
double LargestOf(const Program& program, const std::vector<SlotId>& in, const std::vector<SlotId>& out);

void SetWork(Step& step, double work);  // Step::work

// As how many iterations one of a loop counts whose steps begin at `first` and are the program's last.
std::int64_t LoopWeight(const Program& program, std::size_t first);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PROGRAM_STEP_WORK_H_
