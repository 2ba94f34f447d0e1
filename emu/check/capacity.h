// Memory use of a kernel against the capacities of the named chip: the finding CAPACITY. A TPU's VMEM is in
// legality/tpu/vmem_capacity.h. For GPUs it is a lower bound, based on JAX 0.10.2,
// jax/_src/pallas/mosaic_gpu/lowering.py (blocks in shared memory). Not counted: what Triton's compiler puts into
// shared memory.
#ifndef PALLADION_EMU_CHECK_CAPACITY_H_
#define PALLADION_EMU_CHECK_CAPACITY_H_

#include "emu/check/legality/legality.h"

namespace palladion::check {

void CheckCapacity(legality::Legality& legality);

}  // namespace palladion::check

#endif  // PALLADION_EMU_CHECK_CAPACITY_H_
