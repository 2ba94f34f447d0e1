// One tcgen05_mma, as the rules about it see it. Based on: JAX 0.10.2, jax/experimental/mosaic/gpu/tcgen05.py (mma),
// which cuts a product into instructions by M, by N and by K.
#ifndef PALLADION_EMU_CHECK_LEGALITY_GPU_TCGEN05_H_
#define PALLADION_EMU_CHECK_LEGALITY_GPU_TCGEN05_H_

#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "emu/check/legality/gpu/limits.h"
#include "emu/check/legality/gpu/product.h"
#include "emu/chip/layouts/gpu_facts.h"
#include "semantics/ir/tmem_layout.h"

namespace palladion::legality {

struct MmaSite {
  const layouts::GpuFacts& facts;
  const Instr& op;
  Type acc;  // of the part that is added to
  TmemLayout acc_layout{};
  std::optional<ProductOperand> a{};     // none: in tensor memory
  std::optional<TmemLayout> a_layout{};  // there
  ProductOperand b{};
  Shape a_shape{}, b_shape{};  // of this block: (M, K), or half of K where a is sparse; (K, N)
  DType a_dtype = DType::kF32;
  bool pair = false, scaled = false, sparse = false;

  std::int64_t m() const { return acc.shape[0]; }
  std::int64_t n() const { return b_shape[1]; }
  std::int64_t k() const { return b_shape[0]; }
  std::int64_t AllColumns() const { return n() * (pair ? 2 : 1); }
  std::int64_t LaneGroups() const { return m() == 64 && !pair ? 2 : 1; }
  std::int64_t ColumnsOfGroup() const;               // of one instruction, of this block
  std::optional<std::int64_t> DepthOfGroup() const;  // of K, at once; none: the compiler chooses the swizzle
  std::int64_t ScaleBlock() const;                   // elements of K that share a scale
};

absl::Span<const GpuLimit<MmaSite>> ScaledMmaLimits();  // of products with scales, or of a sparse a

}  // namespace palladion::legality

#endif  // PALLADION_EMU_CHECK_LEGALITY_GPU_TCGEN05_H_
