// How Mosaic GPU spreads a value over the registers of a warpgroup: which lane of which warp has which element, and in
// which of its registers. Based on: JAX 0.10.2, jax/experimental/mosaic/gpu/fragmented_array.py (TiledLayout,
// WGStridedFragLayout and its constants) and jax/_src/pallas/mosaic_gpu/lowering.py (which layout a read has). A layout
// is known where a value is read, cast, computed by tensor cores or reduced, and through elementwise operations, loops,
// branches and scopes. Limits: layouts of M64 pairs and those given with plgpu.Layout.TILED are not known; with
// warpgroup semantics, where the compiler infers layouts, no read of a tiled ref has a known one without a cast.
#ifndef PALLADION_EMU_TIME_REGISTER_LAYOUTS_H_
#define PALLADION_EMU_TIME_REGISTER_LAYOUTS_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "semantics/ir/module.h"

namespace palladion::time {

enum class LayoutName : std::uint8_t {
  kUnknown,
  kSplat,    // the same everywhere
  kStrided,  // a vector to each lane, in the order of memory
  kWgmma,
  kWgmmaRow,     // one element for each row of it
  kWgmmaColumn,  // one for each column
  kWgmmaTransposed,
  kWgmma8Bit,
  kWgmmaUpcast2x,
  kWgmmaUpcast4x,
  kTcgen05,
  kTcgen05Row,
  kTcgen05Column,
  kTcgen05Transposed,
  kTmemNative,
};

struct RegisterLayout {
  LayoutName name = LayoutName::kUnknown;
  std::int64_t vector = 0;  // kStrided, kTmemNative: elements of one vector; 0: as many as JAX takes by itself
  friend bool operator==(const RegisterLayout&, const RegisterLayout&) = default;
};

// What JAX prints of a layout: Layout.WGMMA, ReducedLayout(layout=<Layout.WGMMA: 1>, axes=(1,)), ...
RegisterLayout LayoutFromText(std::string_view text);

// By value of the kernel.
std::vector<RegisterLayout> LayoutsOf(const Kernel& kernel);

// ---- where the elements are

inline constexpr std::int64_t kLanesOfWarp = 32, kWarpsOfGroup = 4, kLanesOfGroup = kLanesOfWarp * kWarpsOfGroup;

// Steps of the elements along one logical dimension: `size` of them, each `step` elements further.
struct Steps {
  std::size_t dim = 0;
  std::int64_t step = 1, size = 1;
};

// A value cut into vectors: which steps choose the warp, which the lane, which the register; copies are lanes or warps
// that have the same elements.
struct Spread {
  Shape shape;
  std::int64_t vector = 1;  // elements of a vector, along dimension `vector_dim`
  std::size_t vector_dim = 0;
  std::vector<Steps> registers = {}, warps = {}, lanes = {};  // the last moves first; a step of 0 elements is a copy
  bool linear = false;  // kStrided: the steps are of the elements in the order of memory, as if of one dimension

  std::int64_t Registers() const;  // vectors of one lane
};

// None: the layout is not known, does not divide the shape, or has no vectors (kSplat).
std::optional<Spread> SpreadOf(const RegisterLayout& layout, const Type& type);

// Elements that one lane holds.
std::optional<std::int64_t> ElementsOfLane(const RegisterLayout& layout, const Type& type);

}  // namespace palladion::time

#endif  // PALLADION_EMU_TIME_REGISTER_LAYOUTS_H_
