// The two ways in which blocks of a TPU are copied, for tests that hold one against the other: while the core waits,
// and as the pipeline does (semantics/program/block_pipeline.h). Either runs over a machine with engines.
#ifndef PALLADION_EMU_BLOCK_WAYS_H_
#define PALLADION_EMU_BLOCK_WAYS_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "emu/emulate.h"

namespace palladion {

enum class BlockCopies { kWhileTheCoreWaits, kBesideBodies };

// NotFound: no core of a TPU walks a grid there, or its operands have no blocks of their own.
absl::StatusOr<PreparedKernel> PrepareWith(BlockCopies copies, std::string_view text, const PrepareOptions& options);

// Does the kernel, as PrepareText makes it, run over a machine with engines?
bool HasEngines(const PreparedKernel& kernel);

}  // namespace palladion

#endif  // PALLADION_EMU_BLOCK_WAYS_H_
