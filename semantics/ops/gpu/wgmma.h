// What other operations need of wgmma.
#ifndef PALLADION_SEMANTICS_OPS_GPU_WGMMA_H_
#define PALLADION_SEMANTICS_OPS_GPU_WGMMA_H_

#include "semantics/program/builder.h"

namespace palladion {

// The thread waits until all its matrix products are complete.
void EmitAwaitMma(Builder& builder);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_OPS_GPU_WGMMA_H_
