// What a TPU kernel holds in VMEM against what it may have: the finding CAPACITY, and the words that `palladion fit`
// shares with it. VMEM is counted as the TPU's compiler counts it (vmem.h): what is held for certain must fit, and what
// may not fit with what the compiler adds is a note.
#ifndef PALLADION_EMU_CHECK_LEGALITY_TPU_VMEM_CAPACITY_H_
#define PALLADION_EMU_CHECK_LEGALITY_TPU_VMEM_CAPACITY_H_

#include <string>

#include "emu/check/legality/legality.h"
#include "emu/check/legality/tpu/block_search.h"
#include "emu/check/legality/tpu/vmem.h"

namespace palladion::legality {

void CheckTpuVmem(Legality& legality);

// Whose limit it is that holds: "the kernel's vmem_limit_bytes".
std::string VmemLimitText(const VmemUse& use, const machines::Chip& chip);
// What would make it fit for certain, each way by itself: a larger limit, one buffer, smaller blocks.
std::string VmemFix(const Legality& legality, const VmemUse& use, const BlockSearch& search);

}  // namespace palladion::legality

#endif  // PALLADION_EMU_CHECK_LEGALITY_TPU_VMEM_CAPACITY_H_
