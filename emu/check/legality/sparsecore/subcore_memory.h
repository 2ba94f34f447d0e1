// What a kernel over a mesh of vector subcores of SparseCores holds in the VMEM of one subcore (TileSpmem), as a lower
// bound: scratch and scopes without padding, and the subcore's part of what a core shares (VMEM_SHARED is the same
// memory). Based on: the machine files (sparsecore.vmem), and the message E3000 of the compiler in a
// public report: 140704 words "exceeds the legitimate user allocatable offset upper bound (131071 words)", so a kernel
// may not fill it. Does not know: tiles, what the compiler adds, and the SMEM of a subcore, whose size is not
// published.
#ifndef PALLADION_EMU_CHECK_LEGALITY_SPARSECORE_SUBCORE_MEMORY_H_
#define PALLADION_EMU_CHECK_LEGALITY_SPARSECORE_SUBCORE_MEMORY_H_

#include <vector>

#include "emu/check/legality/tpu/vmem.h"

namespace palladion::legality {

bool IsOfVectorSubcores(const Kernel& kernel);
std::vector<VmemPart> SubcoreVmemOf(const Legality& legality);

// CAPACITY, where `legality` is of such a kernel.
void CheckSubcoreVmem(Legality& legality);

}  // namespace palladion::legality

#endif  // PALLADION_EMU_CHECK_LEGALITY_SPARSECORE_SUBCORE_MEMORY_H_
