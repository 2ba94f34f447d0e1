// The families of operations that threads of a GPU have besides those of families.h.
#ifndef PALLADION_SEMANTICS_OPS_GPU_FAMILIES_H_
#define PALLADION_SEMANTICS_OPS_GPU_FAMILIES_H_

#include "absl/types/span.h"
#include "semantics/registry/op_row.h"

namespace palladion {

absl::Span<const OpRow> ClusterCancelOps();  // gpu/cluster_cancel.cc
absl::Span<const OpRow> GpuStoreOps();       // gpu/store.cc
absl::Span<const OpRow> MultimemOps();       // gpu/multimem.cc
absl::Span<const OpRow> NamedBarrierOps();   // gpu/named_barrier.cc
absl::Span<const OpRow> SemaphoreOps();      // gpu/semaphore.cc

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_OPS_GPU_FAMILIES_H_
