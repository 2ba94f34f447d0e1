// Memory use of a kernel against the capacities of the named chip: the finding CAPACITY, and the texts that `palladion
// fit` shares with it. A TPU's VMEM is counted as its compiler does (vmem.h): the certain part must fit, and where only
// the compiler's estimated additions exceed the limit it is a note. For GPUs it is a lower bound, based on JAX 0.10.2,
// jax/_src/pallas/mosaic_gpu/lowering.py (blocks in shared memory). Not counted: what Triton's compiler puts into
// shared memory.
#ifndef PALLADION_EMU_CHECK_LEGALITY_CAPACITY_H_
#define PALLADION_EMU_CHECK_LEGALITY_CAPACITY_H_

#include <string>
#include <vector>

#include "emu/check/legality/block_search.h"
#include "emu/check/legality/legality.h"
#include "emu/check/legality/vmem.h"

namespace palladion::legality {

void CheckTpuVmem(Legality& legality);

// Whose limit it is that holds: "the kernel's vmem_limit_bytes".
std::string VmemLimitText(const VmemUse& use, const machines::Chip& chip);
// What would make it fit for certain, each way by itself: a larger limit, one buffer, smaller blocks.
std::string VmemFix(const Legality& legality, const VmemUse& use, const BlockSearch& search);

}  // namespace palladion::legality

#endif  // PALLADION_EMU_CHECK_LEGALITY_CAPACITY_H_
