// Products that a compiler fuses with the one sum that uses them: a fused multiply-add. Based on: the facts of their
// rows; an H200, where `x * 0.5 + 0.25` takes as long as one instruction (docs/explanation/time.md). This affects time
// only: the computed values are a product and a sum, each rounded. Limits: 32-bit floats only; a product that two sums
// use is fused into both by the compiler, and counted once more here.
#ifndef PALLADION_EMU_TIMING_GPU_FUSED_PRODUCTS_H_
#define PALLADION_EMU_TIMING_GPU_FUSED_PRODUCTS_H_

#include "absl/container/flat_hash_set.h"
#include "semantics/ir/module.h"

namespace palladion::timing::gpu {

// Of the instructions of the region itself, not of those inside them.
absl::flat_hash_set<const Instr*> FusedProducts(const Region& region);

}  // namespace palladion::timing::gpu

#endif  // PALLADION_EMU_TIMING_GPU_FUSED_PRODUCTS_H_
