// The reference machine's copies of a TPU: two phases, each atomic and at any time, after which a semaphore counts the
// copy; and those of its pipeline, whose slots the body has in turn. Rules: docs/spec/tpu-copies.md.
#ifndef PALLADION_EMU_TOOLS_HUNT_REFERENCE_DMA_H_
#define PALLADION_EMU_TOOLS_HUNT_REFERENCE_DMA_H_

#include <cstddef>

#include "emu/tools/hunt/reference_state.h"

namespace palladion::hunt {

void StartDma(int agent, const Instr& instr, ReferenceState& state);
void DoDmaHalf(std::size_t at, ReferenceState& state);

inline bool IsOfPipeline(What what) { return what >= What::kFetchStart; }
bool IsInFlight(What what, int slot, const ReferenceState& state);  // of the pipeline
void DoPipeline(const Instr& instr, ReferenceState& state);
void DoPipelineHalf(std::size_t at, ReferenceState& state);

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_TOOLS_HUNT_REFERENCE_DMA_H_
