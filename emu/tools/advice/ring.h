// Rings of slots in shared memory, recognised from the text: arrays of memory and barriers with one common leading
// dimension, indexed by a step modulo that dimension, or by the counter of a loop over all of it. With another number
// of slots other numbers change too: after how many steps a producer begins to wait, how many steps remain then, how
// far it is ahead. Based on: how rings are written for JAX's Mosaic GPU, and what jax.experimental.pallas.mosaic_gpu's
// emit_pipeline and emit_pipeline_warp_specialized trace to. Where a number is ambiguous, or an array is used in
// another way, the ring is marked uncertain, with the reason. Not seen at all: rings in tensor memory or global memory,
// rings whose slots a value decides.
#ifndef PALLADION_EMU_TOOLS_ADVICE_RING_H_
#define PALLADION_EMU_TOOLS_ADVICE_RING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "emu/tools/advice/origins.h"
#include "semantics/ir/module.h"

namespace palladion::advice {

// A number that changes with the slots: so many more for each slot more, 1 or -1.
struct SlotNumber {
  NumberRef number;
  int sign = 1;
};

struct Ring {
  std::vector<ValueId> arrays;  // memory and barriers, in the text's order
  std::string names;            // "a_smem, b_smem": the user's, of its memory; of its barriers where it has none
  std::int64_t slots = 0;
  int text_line = 0;  // of the allocation
  LocId loc;
  std::vector<SlotNumber> numbers;
  std::string unsure;  // where it is not sure, and why; "" where it is
};

// Of the module's one kernel, in the order of the text, the same in every copy. They point into it, and it has literals
// where loops began with numbers that were computed from literals.
std::vector<Ring> FindRings(Module& module);

// The ring with so many slots; the kernel is no other kernel until all of it is done.
void SetSlots(Kernel& kernel, const Ring& ring, std::int64_t slots);

}  // namespace palladion::advice

#endif  // PALLADION_EMU_TOOLS_ADVICE_RING_H_
