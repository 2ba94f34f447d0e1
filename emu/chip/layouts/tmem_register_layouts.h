// The layouts of registers in which an array of tensor memory is loaded and stored as it lies there: each lane of a
// warp has what its lane of tensor memory has. Based on: JAX 0.10.2, jax/experimental/mosaic/gpu/tcgen05.py (TMEMLayout
// and its constructors, as_tiled_layout) and jax/_src/pallas/mosaic_gpu/core.py (Layout.to_mgpu).
#ifndef PALLADION_EMU_CHIP_LAYOUTS_TMEM_REGISTER_LAYOUTS_H_
#define PALLADION_EMU_CHIP_LAYOUTS_TMEM_REGISTER_LAYOUTS_H_

#include <optional>
#include <string_view>

#include "emu/chip/layouts/register_layouts.h"
#include "semantics/ir/tmem_layout.h"

namespace palladion::layouts {

// TMEMLayout.as_tiled_layout, in canonical form. None: JAX's layout of sparse metadata stands for another one.
std::optional<TiledLayout> AsRegisters(const TmemLayout& layout);

// What JAX prints of plgpu.Layout.TILED(...) and TCGEN05_M64_COLLECTIVE_NATIVE(...), in canonical form.
std::optional<TiledLayout> GivenLayout(std::string_view text);

}  // namespace palladion::layouts

#endif  // PALLADION_EMU_CHIP_LAYOUTS_TMEM_REGISTER_LAYOUTS_H_
