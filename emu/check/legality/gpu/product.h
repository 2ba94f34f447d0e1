// An operand of a matrix product in shared memory, as Mosaic GPU's lowering hands it to the tensor core: what the rules
// of wgmma and of tcgen05 look at. Based on: JAX 0.10.2, jax/_src/pallas/mosaic_gpu/primitives.py and
// jax/experimental/mosaic/gpu/mma_utils.py. Not known here: tiles and swizzles that the compiler finds by itself.
#ifndef PALLADION_EMU_CHECK_LEGALITY_GPU_PRODUCT_H_
#define PALLADION_EMU_CHECK_LEGALITY_GPU_PRODUCT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emu/chip/layouts/gpu_facts.h"

namespace palladion::legality {

// A view as the lowering hands it to the tensor core: its indices and reshapes taken inside the tiles.
struct ProductOperand {
  layouts::GpuView view;
  std::vector<std::int64_t> tile;
  bool transposed = false;
  std::optional<std::string> refused;  // a transform that has no such form here
  bool followed = true;                // false: one that has none anywhere (ViewLimits)
};

// With warpgroup semantics any transposition will do, but nothing after it; with lane semantics one of (1, 0), behind
// which an index moves. `reshapes`: whether the lowering takes them.
ProductOperand ProductOperandOf(const Kernel& kernel, const Arg& arg, bool lanes, bool reshapes);

// The operand's tile where it is not 8 rows of the swizzle's bytes; none where it is, or nothing is stated.
std::optional<std::string> WrongTile(const ProductOperand& operand, std::string_view name);

}  // namespace palladion::legality

#endif  // PALLADION_EMU_CHECK_LEGALITY_GPU_PRODUCT_H_
