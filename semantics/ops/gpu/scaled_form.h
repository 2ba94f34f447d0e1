// Which scales and which positions a tcgen05_mma takes: what its operands a_scale=, b_scale= and a_sparse_metadata=
// have to be beside its acc=, a= and b=. Based on: tcgen05.mma of JAX 0.10.2, whose rules these are (docs/spec/
// gpu-tcgen05.md#block-scales, #a-sparse-operand). What it does not check: what a chip refuses of acc, a and b
// themselves (emu/check/legality).
#ifndef PALLADION_SEMANTICS_OPS_GPU_SCALED_FORM_H_
#define PALLADION_SEMANTICS_OPS_GPU_SCALED_FORM_H_

#include "absl/status/statusor.h"
#include "semantics/ir/tmem_layout.h"
#include "semantics/ops/gpu/scaled_mma.h"

namespace palladion {

// How the ref that a view is of lies in tensor memory, or the member of a union that it names.
absl::StatusOr<TmemLayout> LayoutOfView(const Kernel& kernel, const Arg& view);

// The product of an instruction whose acc=, a= and b= are known to be matrices in their memories. InvalidArgument where
// they do not fit together, or where a scale or a position is not what the instruction takes.
absl::StatusOr<ScaledMmaForm> FormOfProduct(const Instr& op, const Kernel& kernel);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_OPS_GPU_SCALED_FORM_H_
