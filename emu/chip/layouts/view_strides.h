// The memory layout of a chain of views, as JAX computes it: the strides of each dimension. Based on: JAX 0.10.2,
// jax/experimental/mosaic/gpu/utils.py (memref_slice, memref_transpose, memref_reshape, memref_fold, memref_unfold) and
// fragmented_array.py (transfer_strided); MLIR's verification of memref.collapse_shape. For refs that are stored row by
// row: not for those in tiles or swizzled. Offsets do not matter here.
#ifndef PALLADION_EMU_CHIP_LAYOUTS_VIEW_STRIDES_H_
#define PALLADION_EMU_CHIP_LAYOUTS_VIEW_STRIDES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emu/chip/layouts/gpu_facts.h"

namespace palladion::layouts {

struct Strided {
  Shape shape;
  std::vector<std::int64_t> strides;  // in elements
};

struct StridedView {
  std::optional<Strided> lies;             // none: the chain is not followed to its end
  std::optional<std::string> bad_reshape;  // the first .reshape that would merge what is apart
};
StridedView StridedViewOf(const GpuView& view);

// Why vectors of so many elements do not move between registers and what lies so, each lane the next vector.
enum class StridedMove : std::uint8_t { kMoves, kOutOfOrder, kCutsVectors };
StridedMove MoveOf(const Strided& memory, std::int64_t vector);

std::string TextOf(const Strided& strided);  // "[8,4] with strides [1,8]"

}  // namespace palladion::layouts

#endif  // PALLADION_EMU_CHIP_LAYOUTS_VIEW_STRIDES_H_
