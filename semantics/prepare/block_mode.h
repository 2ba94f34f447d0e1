// How the programs of a kernel see an operand: the array itself, a window of it, or a block of its own that is fetched
// and flushed. Based on: docs/spec/grid.md#residency.
#ifndef PALLADION_SEMANTICS_PREPARE_BLOCK_MODE_H_
#define PALLADION_SEMANTICS_PREPARE_BLOCK_MODE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "semantics/ir/module.h"
#include "semantics/program/program.h"

namespace palladion {

// grid.md#alias: `arrays` names operands of the kernel, and memory of a core.
absl::Status ExpectArrays(const Kernel& kernel);

// The program's target and the order of its grid's dimensions are known already.
BlockMode ModeOf(const Operand& operand, Space space, const Kernel& kernel, const Program& program);

// grid.md#residency: is an operand without a block in the memory of a TPU's core, or of a GPU's block, which has it
// from its start to its end?
bool LiesInCore(const Operand& operand, Space space, const Kernel& kernel, const Program& program);

// How many blocks of the operand a TPU's pipeline keeps: two, unless `buffered` says otherwise; one of what has no
// blocks. With one, a copy is complete before anything else happens.
std::int64_t BuffersOf(const Operand& operand);

// grid.md#residency: an output whose block may be visited again at any time.
bool IsRestored(const Operand& operand, const Program& program);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_PREPARE_BLOCK_MODE_H_
