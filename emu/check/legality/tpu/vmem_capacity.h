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

// Where the limit that holds comes from: "the kernel's vmem_limit_bytes".
std::string VmemLimitText(const VmemUse& use, const machines::Chip& chip);
// Changes each of which would certainly make it fit: a larger limit, one buffer, smaller blocks.
std::string VmemFix(const Legality& legality, const VmemUse& use, const BlockSearch& search);

}  // namespace palladion::legality

#endif  // PALLADION_EMU_CHECK_LEGALITY_TPU_VMEM_CAPACITY_H_
