// Which value of a Mosaic GPU kernel has which layout of registers, for the rules and for the model of time. Based on:
// JAX 0.10.2, jax/_src/pallas/mosaic_gpu/lowering.py (get, swap, select_n, broadcast_in_dim, reshape, reductions,
// loops, cond, layout_cast) and jax/experimental/mosaic/gpu/fragmented_array.py (_pointwise, to_layout,
// broadcast_in_dim). With lane semantics a layout is propagated as JAX's lowering does, and what it refuses on the way
// is a clash. With warpgroup semantics, where the compiler infers layouts, there are no clashes, and no read of a tiled
// ref has a known layout without a cast. Unknown layouts are not judged. Limits: what inline_mgpu returns and the
// layouts that register_layouts.h does not know; whether a transfer has bank conflicts.
#ifndef PALLADION_EMU_CHIP_LAYOUTS_LAYOUT_WALK_H_
#define PALLADION_EMU_CHIP_LAYOUTS_LAYOUT_WALK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "emu/chip/layouts/register_layouts.h"
#include "semantics/ir/module.h"

namespace palladion::layouts {

// What JAX refuses where layouts meet.
enum class Clash : std::uint8_t {
  kOperands,    // of an operation that goes element by element
  kCast,        // to a layout that JAX does not convert to
  kCastBack,    // from WGMMA to WGMMA_UPCAST_2X, which newer JAX does
  kBroadcast,   // from a layout that has no form for it
  kReshape,     // or a slice
  kTiles,       // a ref in tiles, by a layout that has none
  kTransposed,  // a transposed layout and a ref that is not, or the other way
  kPrinted,     // debug_print of one number that is everywhere
  kNarrow,      // a conversion of one, from or to 8-bit floats
  kBarrier,     // vectors of optimization_barrier that do not fill registers
  kCarry,       // of a loop
  kBranches,    // of a conditional
};

struct LayoutClash {
  const Instr* op = nullptr;
  Clash clash = Clash::kOperands;
  std::string found;  // as a limit says it (limit_row.h)
};

struct KernelLayouts {
  std::vector<RegisterLayout> values;  // by value of the kernel
  std::vector<LayoutClash> clashes;    // in the order of the text

  RegisterLayout Of(const Arg& arg) const {  // a literal is the same everywhere
    if (arg.kind == Arg::Kind::kDense) return {};
    return arg.kind == Arg::Kind::kValue ? values[arg.value.index()] : RegisterLayout(LayoutName::kSplat);
  }
};

KernelLayouts LayoutsOf(const Kernel& kernel);

}  // namespace palladion::layouts

#endif  // PALLADION_EMU_CHIP_LAYOUTS_LAYOUT_WALK_H_
