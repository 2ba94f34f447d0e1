// How blocks of a TPU's operands are copied: the default of a launch, and other ways, for tests and for the clock,
// because the choice must not show in any report (conformance/block_pipeline_test.cc).
#ifndef PALLADION_SEMANTICS_BASE_BLOCK_WAYS_H_
#define PALLADION_SEMANTICS_BASE_BLOCK_WAYS_H_

#include <cstdint>

namespace palladion {

enum class BlockWays : std::uint8_t {
  // In kernels that have engines, beside the bodies where something else reaches their array too; all other blocks
  // while the core waits: nothing shows it, unless copies of shared ones meet (emu/run/launch/meeting_blocks.h).
  kAsItShows,
  kOverEngines,   // those of shared arrays beside the bodies in every kernel, over engines
  kBesideBodies,  // all blocks, over engines
  // All blocks by the steps of the pipeline, for clocks. In kernels without engines whose blocks share no array each
  // copy is complete when it is issued, because no later completion could show: a quarter of the time that engines
  // take.
  kInSteps,
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_BASE_BLOCK_WAYS_H_
