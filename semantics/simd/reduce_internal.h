// What the files of the reductions offer each other.
#ifndef PALLADION_SEMANTICS_SIMD_REDUCE_INTERNAL_H_
#define PALLADION_SEMANTICS_SIMD_REDUCE_INTERNAL_H_

#include "semantics/simd/reduce.h"

namespace palladion::simd {

inline constexpr std::size_t kPartials = 16;

// The reference, with dtype, identity, empty, round, accumulate and start filled in.
ReduceKernel FindReduceScalar(ReduceOp op, DType dtype);

// Adds what this target has: rows, or row_sums and column_sums.
void AddReduceSimd(ReduceOp op, DType dtype, Target target, ReduceKernel& kernel);

}  // namespace palladion::simd

#endif  // PALLADION_SEMANTICS_SIMD_REDUCE_INTERNAL_H_
