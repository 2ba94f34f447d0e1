// The arithmetic of one matrix instruction: accumulator plus product. The one place that says how its numbers come
// about, so that a mode that gives the bits of a chip's matrix unit has one place to be in. Today: exact (docs/spec/
// gpu-wgmma.md#wgmma_ref).
#ifndef PALLADION_SEMANTICS_OPS_GPU_MMA_H_
#define PALLADION_SEMANTICS_OPS_GPU_MMA_H_

#include <cstdint>
#include <vector>

#include "semantics/port/machine.h"
#include "semantics/registry/value_kernel.h"

namespace palladion {

// acc[m,n] += sum over k of a[m,k] * b[k,n]; all three dense and row-major.
class Mma {
 public:
  Mma(std::int64_t m, std::int64_t n, std::int64_t k, DType a, DType b, DType acc);

  // Bytes and marks of the accumulator after, from all three before. Allocates its scratch; any thread may call it.
  void Run(const AsyncValue& a, const AsyncValue& b, const AsyncValue& acc, AsyncValue* out) const;

 private:
  void AddIntegers(const std::byte* acc, std::byte* out) const;  // out has the product
  void MarkUndefined(const AsyncValue& a, const AsyncValue& b, const AsyncValue& acc, AsyncValue* out) const;

  std::int64_t m_, n_, k_;
  DType a_, b_, acc_;
  // Offsets of rows and columns, as simd::Dot takes them.
  std::vector<std::int64_t> a_row_, a_k_, b_column_, b_k_;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_OPS_GPU_MMA_H_
