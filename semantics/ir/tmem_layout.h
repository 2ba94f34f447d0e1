// How an array lies in tensor memory, as the type of its ref says: `ref<tmem,f16[128,64] {layout=default, packing=2}>`.
// Based on: TMEMLayout and its constructors in jax/experimental/mosaic/gpu/tcgen05.py; docs/spec/kernel-text.md,
// "Tensor memory". Where an element lies: semantics/program/view_walk.cc (Cells). What it does not catch: JAX says
// itself that its layout of sparse metadata is not the one in which tcgen05.cp leaves them; the cells are the same.
#ifndef PALLADION_SEMANTICS_IR_TMEM_LAYOUT_H_
#define PALLADION_SEMANTICS_IR_TMEM_LAYOUT_H_

#include <cstdint>
#include <string_view>

#include "semantics/base/status.h"
#include "semantics/ir/module.h"

namespace palladion {

inline constexpr std::int64_t kTmemLanes = 128;
inline constexpr std::int64_t kTmemCellBits = 32;

enum class TmemLayoutName : std::uint8_t {
  kDefault,
  kHalfLane,
  kM64Collective,
  kScales,
  kScalesM64Collective,
  kSparseMetadata,
};
std::string_view Name(TmemLayoutName name);

struct TmemLayout {
  TmemLayoutName name = TmemLayoutName::kDefault;
  std::int64_t packing = 1;  // elements of a cell of 32 bits
  // The layout repeats in tiles of this many rows and columns. Of half_lane and m64_collective the columns are the
  // array's before batch dimensions were folded into them.
  std::int64_t tile_rows = kTmemLanes;
  std::int64_t tile_columns = 1;
  std::int64_t copies = 1;  // times that each element is stored, in different lanes
  bool collective = false;  // allocated by both blocks of a pair
  friend bool operator==(const TmemLayout&, const TmemLayout&) = default;
};

// Of a ref in tensor memory. InvalidArgument where its attributes are not those of a layout.
absl::StatusOr<TmemLayout> TmemLayoutOf(const Type& type);
// The same of attributes that are read already, for an array of `shape`.
absl::StatusOr<TmemLayout> ReadTmemLayout(const AttrMap& attrs, const Shape& shape);

// Whether the layout can hold such an array: InvalidArgument says what JAX says (TMEMLayout.check_type).
absl::Status CheckTmemShape(const TmemLayout& layout, const Type& type);

// Columns of 128 cells that an array of the type takes, of the 512 of a block; type and layout are checked ones.
std::int64_t TmemColumns(const Type& type);
std::int64_t TmemColumns(const TmemLayout& layout, const Shape& shape);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_IR_TMEM_LAYOUT_H_
