// The families of operations: each gives its rows of the registry; op_table.cc puts them together.
#ifndef PALLADION_SEMANTICS_OPS_FAMILIES_H_
#define PALLADION_SEMANTICS_OPS_FAMILIES_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "semantics/port/machine.h"
#include "semantics/registry/op_row.h"

namespace palladion {

absl::Span<const OpRow> ArithmeticOps();   // elementwise_arith.cc
absl::Span<const OpRow> BitwiseOps();      // elementwise_bits.cc
absl::Span<const OpRow> CallOps();         // calls.cc
absl::Span<const OpRow> CompareOps();      // elementwise_compare.cc: and select
absl::Span<const OpRow> ControlOps();      // control.cc
absl::Span<const OpRow> ConvertOps();      // elementwise_convert.cc
absl::Span<const OpRow> DotOps();          // dot.cc
absl::Span<const OpRow> GatherOps();       // gather.cc
absl::Span<const OpRow> GpuBarrierOps();   // gpu_barrier.cc
absl::Span<const OpRow> GpuWarpOps();      // gpu_warps.cc
absl::Span<const OpRow> GpuWgmmaOps();     // gpu_wgmma.cc
absl::Span<const OpRow> GpuTcgen05Ops();   // gpu_tcgen05.cc
absl::Span<const OpRow> GpuTmemOps();      // gpu_tmem.cc
absl::Span<const OpRow> GpuTmemCopyOps();  // gpu_tmem_copy.cc
absl::Span<const OpRow> GpuControlOps();   // gpu_control.cc
absl::Span<const OpRow> GpuCopyOps();      // gpu_copy.cc
absl::Span<const OpRow> TpuCopyOps();      // tpu/tpu_copy.cc
absl::Span<const OpRow> GpuMemoryOps();    // gpu_memory.cc
absl::Span<const OpRow> IdentityOps();     // elementwise_identity.cc
absl::Span<const OpRow> JoinOps();         // shape_join.cc
absl::Span<const OpRow> MathOps();         // elementwise_math.cc
absl::Span<const OpRow> Math2Ops();        // elementwise_math2.cc
absl::Span<const OpRow> ProgramOps();      // program_ops.cc
absl::Span<const OpRow> RandomOps();       // random.cc
absl::Span<const OpRow> ReduceOps();       // reduce.cc
absl::Span<const OpRow> RefOps();          // ref.cc
absl::Span<const OpRow> RingOps();         // ring.cc
absl::Span<const OpRow> RegisterMmaOps();  // gpu/register_mma.cc
absl::Span<const OpRow> RoundingOps();     // elementwise_round.cc
absl::Span<const OpRow> ScatterOps();      // scatter.cc
absl::Span<const OpRow> ScopeOps();        // scope.cc
absl::Span<const OpRow> ShapeOps();        // shape_move.cc
absl::Span<const OpRow> SliceOps();        // shape_slice.cc
absl::Span<const OpRow> SortOps();         // sort.cc
absl::Span<const OpRow> TpuBitOps();       // tpu_bits.cc
absl::Span<const OpRow> TpuMatrixOps();    // tpu/matrix_units.cc
absl::Span<const OpRow> TpuOps();          // tpu_values.cc
absl::Span<const OpRow> TpuRandomOps();    // tpu_random.cc
absl::Span<const OpRow> UnsupportedOps();  // unsupported.cc

// atomic.cc: one lane of an atomic: add, max, min, and, or, xor, xchg, cas. InvalidArgument where the type has none.
absl::StatusOr<AtomicFn> FindAtomic(std::string_view name, DType dtype);
// Of an element of a copy with a reduction: add, max, min, and, or, xor, and smin, smax, umin, umax, inc, dec.
absl::StatusOr<AtomicFn> FindCopyReduction(std::string_view name, DType dtype);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_OPS_FAMILIES_H_
