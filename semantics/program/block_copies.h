// Common parts of copies of blocks: of those that complete before a body begins (blocks.cc) and those that overlap with
// it (block_pipeline.cc).
#ifndef PALLADION_SEMANTICS_PROGRAM_BLOCK_COPIES_H_
#define PALLADION_SEMANTICS_PROGRAM_BLOCK_COPIES_H_

#include "semantics/program/builder.h"

namespace palladion {

// The index maps' results must be defined.
void UseIndex(const OperandInfo& info, const Step& step, Frame& frame);
// Puts the window where they say.
void PlaceWindow(const OperandInfo& info, RefId window, const Step& step, Frame& frame);
// From here on they are the index of the resident block; and are they that already?
void KeepIndex(const OperandInfo& info, Frame& frame);
bool IsKept(const OperandInfo& info, Frame& frame);
// All elements of a ref.
void WholeOperand(RefId id, const Step& step, Frame& frame, AsyncOperand& operand);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PROGRAM_BLOCK_COPIES_H_
