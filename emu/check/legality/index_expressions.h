// Which accesses of a Triton kernel name their elements by the same index expression. Triton gives an access its layout
// by what it knows of the pointers: where they are contiguous, and what divides them. That comes from the expression,
// not from the numbers of a run. So instructions are numbered as value numbering does: constants, programs of the grid,
// counters of loops, and all that is computed of these, by their form; what was loaded by where it was loaded from, and
// single loaded numbers as one, since nothing is known of any. Sums of iotas are what a slice is: t[arange(128)] and
// t[0:128] are one expression. Based on: Triton's AxisInfo and Coalesce passes. Limits: expressions that are equal by
// arithmetic but not by form have two numbers; so have views that are not made of indices alone.
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
