// How Mosaic GPU spreads a value over the registers of a warpgroup: which lane of which warp has which element, and in
// which of its registers. Based on: JAX 0.10.2, jax/experimental/mosaic/gpu/fragmented_array.py (Tiling, TiledLayout,
// WGStridedFragLayout and its constants). Which value has which layout: layout_walk.h. Limits: layouts given with
// plgpu.Layout.TILED, SMEM_GMEM_COPY and M64_COLLECTIVE_NATIVE are not known; tmem_register_layouts.h reads the first
// and the last.
#ifndef PALLADION_EMU_CHIP_LAYOUTS_REGISTER_LAYOUTS_H_
#define PALLADION_EMU_CHIP_LAYOUTS_REGISTER_LAYOUTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "semantics/ir/module.h"

namespace palladion::layouts {

inline constexpr std::int64_t kLanesOfWarp = 32, kWarpsOfGroup = 4, kLanesOfGroup = kLanesOfWarp * kWarpsOfGroup;

// A value cut into tiles, each of which is cut again; dimensions of the result choose the warp, the lane and the place
// in a vector, the others the register. All in canonical form, so that equal layouts are equal here.
struct TiledLayout {
  std::vector<Shape> tiles;       // the first is the unit that a value is made of
  std::vector<int> warps, lanes;  // dimensions of the tiled shape, counted from its end; positive: so many copies
  int vector = -1;

  const Shape& Unit() const { return tiles.front(); }
  Shape Inside() const;  // of one unit after all cuts
  std::int64_t VectorLength() const;
  bool HasCopies() const;
  // By dimension of one unit and of what is inside of it: does it come from `dim` of the unit?
  std::vector<bool> DimensionsOf(std::size_t dim) const;
  TiledLayout Reduced(absl::Span<const std::int64_t> dims) const;  // TiledLayout.reduce
  TiledLayout InCanonicalForm() const;                             // TiledLayout.canonicalize
  friend bool operator==(const TiledLayout&, const TiledLayout&) = default;
};

enum class LayoutName : std::uint8_t {
  kUnknown,
  kSplat,    // the same everywhere
  kStrided,  // a vector to each lane, in the order of memory
  kWgmma,
  kWgmmaRow,     // one element for each row of it
  kWgmmaColumn,  // one for each column, as kTcgen05Column
  kWgmmaTransposed,
  kWgmma8Bit,
  kWgmmaUpcast2x,
  kWgmmaUpcast4x,
  kWgmmaAccumulator,  // WGMMA in vectors of one element
  kTcgen05,
  kTcgen05Row,
  kTcgen05Transposed,
  kTcgen05M64Collective,
  kTmemNative,
  kTmaIndices,
  kTmaIndices4,
};

struct RegisterLayout {
  enum class Kind : std::uint8_t { kUnknown, kSplat, kStrided, kTiled };
  Kind kind = Kind::kUnknown;
  std::int64_t vector = 0;  // kStrided: elements of one vector; 0: as many as JAX takes by itself
  TiledLayout tiled{};      // kTiled

  RegisterLayout() = default;
  // `number`: of kStrided and kTmemNative the elements of one vector, of kTcgen05M64Collective the columns; 0: the
  // usual.
  RegisterLayout(LayoutName name, std::int64_t number = 0);  // NOLINT: a name is a layout
  explicit RegisterLayout(TiledLayout layout) : kind(Kind::kTiled), tiled(std::move(layout)) {}

  bool known() const { return kind != Kind::kUnknown; }
  bool is_tiled() const { return kind == Kind::kTiled; }
  friend bool operator==(const RegisterLayout&, const RegisterLayout&) = default;
};

// "WGMMA.reduce(1)", "WG_STRIDED", "a tiled layout".
std::string NameOf(const RegisterLayout& layout);

// What JAX prints of a layout: Layout.WGMMA, ReducedLayout(layout=<Layout.WGMMA: 1>, axes=(1,)), ...
RegisterLayout LayoutFromText(std::string_view text);
// The shape that WG_STRIDED is written with there, where it is one.
std::optional<Shape> ShapeFromText(std::string_view text);

// What JAX takes for a vector of an array of `type` by itself (WGStridedFragLayout.from_shaped_type); none: it has no
// such layout.
std::optional<std::int64_t> StridedVector(const Type& type);
// Does an array of that shape have the layout?
bool Fits(const RegisterLayout& layout, const Type& type);

// ---- where the elements are

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

}  // namespace palladion::layouts

#endif  // PALLADION_EMU_CHIP_LAYOUTS_REGISTER_LAYOUTS_H_
