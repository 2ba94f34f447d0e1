// Which accesses of a Triton kernel name their elements by the same index expression. Triton chooses the layout of an
// access by the contiguity and divisibility of the pointers. These come from the expression, not from the numbers of a
// run. So instructions get value numbers: constants, programs of the grid, loop counters, and what is computed from
// these, by their form; loaded values by the place of the load, and single loaded numbers all the same number, since
// Triton knows nothing of them. Sums of iotas equal slices: t[arange(128)] and t[0:128] are one expression. Based on:
// Triton's AxisInfo and Coalesce passes. Limits: expressions that are equal by arithmetic but not by form have two
// numbers; so have views that are not made of indices alone.
#ifndef PALLADION_EMU_CHECK_LEGALITY_INDEX_EXPRESSIONS_H_
#define PALLADION_EMU_CHECK_LEGALITY_INDEX_EXPRESSIONS_H_

#include <cstdint>
#include <map>

#include "semantics/ir/module.h"

namespace palladion::legality {

// By instruction that reads or writes memory: equal numbers, from 1 on, are equal expressions and shapes.
std::map<const Instr*, std::uint32_t> IndexExpressionsOf(const Kernel& kernel);

}  // namespace palladion::legality

#endif  // PALLADION_EMU_CHECK_LEGALITY_INDEX_EXPRESSIONS_H_
