// Residency of blocks: from the index maps' results to the windows or copies a program works on.
// generic, Triton: a block is a window of its array. TPU, Mosaic GPU: a block is memory of its own; it is fetched when
// its index differs from the last program's, and an output is flushed when it is left. Based on: reference semantics of
// pallas_call's grid and BlockSpec (docs/spec/grid.md).
#ifndef PALLADION_SEMANTICS_PROGRAM_BLOCKS_H_
#define PALLADION_SEMANTICS_PROGRAM_BLOCKS_H_

#include "absl/status/status.h"
#include "semantics/program/builder.h"

namespace palladion {

struct OperandParams {
  std::size_t operand;  // Program::operand_infos
  std::size_t slot = 0;
};

// Steps; their parameters are OperandParams.
absl::Status RunAllocBlock(const void* params, const Step& step, Frame& frame);  // kResident: the block's own memory
absl::Status RunFreeBlock(const void* params, const Step& step, Frame& frame);
absl::Status RunBeginProgram(const void* params, const Step& step, Frame& frame);  // reports to the machine
absl::Status RunBindWindow(const void* params, const Step& step, Frame& frame);    // kView
absl::Status RunUseIndex(const void* params, const Step& step, Frame& frame);      // its index must be defined
absl::Status RunFlushIfLeft(const void* params, const Step& step, Frame& frame);
absl::Status RunFetchIfNew(const void* params, const Step& step,
                           Frame& frame);  // inputs and restored outputs fetch, others start as poison
absl::Status RunFlush(const void* params, const Step& step, Frame& frame);
absl::Status RunAwaitBlocks(const void* params, const Step& step, Frame& frame);  // no copy of a block is in flight
WaitTarget WaitsForBlocks(const void* params, const Step& step, Frame& frame);    // its Step::waits

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PROGRAM_BLOCKS_H_
