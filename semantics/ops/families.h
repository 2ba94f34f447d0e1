// The families of operations: each gives its rows of the registry; op_table.cc puts them together.
#ifndef PALLADION_SEMANTICS_OPS_FAMILIES_H_
#define PALLADION_SEMANTICS_OPS_FAMILIES_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "semantics/port/machine.h"
#include "semantics/registry/op_row.h"

namespace palladion {

absl::Span<const OpRow> ArithmeticOps();   // value/elementwise_arith.cc
absl::Span<const OpRow> BitwiseOps();      // value/elementwise_bits.cc
absl::Span<const OpRow> CallOps();         // control/calls.cc
absl::Span<const OpRow> CompareOps();      // value/elementwise_compare.cc: and select
absl::Span<const OpRow> ControlOps();      // control/control.cc
absl::Span<const OpRow> ConvertOps();      // value/elementwise_convert.cc
absl::Span<const OpRow> DotOps();          // matrix/dot.cc
absl::Span<const OpRow> GatherOps();       // shape/gather.cc
absl::Span<const OpRow> GpuBarrierOps();   // gpu/barrier.cc
absl::Span<const OpRow> GpuWarpOps();      // gpu/warps.cc
absl::Span<const OpRow> GpuWgmmaOps();     // gpu/wgmma.cc
absl::Span<const OpRow> GpuTcgen05Ops();   // gpu/tcgen05.cc
absl::Span<const OpRow> GpuTmemOps();      // gpu/tmem.cc
absl::Span<const OpRow> GpuTmemCopyOps();  // gpu/tmem_copy.cc
absl::Span<const OpRow> GpuControlOps();   // gpu/control.cc
absl::Span<const OpRow> GpuCopyOps();      // gpu/copy.cc
absl::Span<const OpRow> TpuCopyOps();      // tpu/copy.cc
absl::Span<const OpRow> GpuMemoryOps();    // gpu/memory.cc
absl::Span<const OpRow> IdentityOps();     // value/elementwise_identity.cc
absl::Span<const OpRow> JoinOps();         // shape/shape_join.cc
absl::Span<const OpRow> MathOps();         // value/elementwise_math.cc
absl::Span<const OpRow> Math2Ops();        // value/elementwise_math2.cc
absl::Span<const OpRow> ProgramOps();      // control/program_ops.cc
absl::Span<const OpRow> RandomOps();       // value/random.cc
absl::Span<const OpRow> ReduceOps();       // shape/reduce.cc
absl::Span<const OpRow> RefOps();          // ref/ref.cc
absl::Span<const OpRow> RingOps();         // shape/ring.cc
absl::Span<const OpRow> RegisterMmaOps();  // gpu/register_mma.cc
absl::Span<const OpRow> RoundingOps();     // value/elementwise_round.cc
absl::Span<const OpRow> ScatterOps();      // shape/scatter.cc
absl::Span<const OpRow> ScopeOps();        // control/scope.cc
absl::Span<const OpRow> ShapeOps();        // shape/shape_move.cc
absl::Span<const OpRow> SliceOps();        // shape/shape_slice.cc
absl::Span<const OpRow> SortOps();         // shape/sort.cc
absl::Span<const OpRow> TpuBitOps();       // tpu/bits.cc
absl::Span<const OpRow> TpuMatrixOps();    // tpu/matrix_units.cc
absl::Span<const OpRow> TpuOps();          // tpu/values.cc
absl::Span<const OpRow> TpuRandomOps();    // tpu/random.cc
absl::Span<const OpRow> UnsupportedOps();  // unsupported.cc

// value/atomic.cc: one lane of an atomic: add, max, min, and, or, xor, xchg, cas. InvalidArgument where the type has
// none.
absl::StatusOr<AtomicFn> FindAtomic(std::string_view name, DType dtype);
// Of an element of a copy with a reduction: add, max, min, and, or, xor, and smin, smax, umin, umax, inc, dec.
absl::StatusOr<AtomicFn> FindCopyReduction(std::string_view name, DType dtype);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_OPS_FAMILIES_H_
