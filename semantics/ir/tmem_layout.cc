#include "semantics/ir/tmem_layout.h"

#include <array>
#include <optional>

#include "semantics/base/cat.h"
#include "semantics/ir/parser.h"

namespace palladion {
namespace {

constexpr std::array<std::string_view, 6> kNames = {
    "default", "half_lane", "m64_collective", "scales", "scales_m64_collective", "sparse_metadata"};

absl::Status Invalid(const std::string& message) { return absl::InvalidArgumentError(message); }

std::optional<TmemLayoutName> NameFrom(const Attr& attr) {
  const auto* word = std::get_if<AttrIdent>(&attr.value);
  for (std::size_t i = 0; word != nullptr && i < kNames.size(); ++i) {
    if (kNames[i] == word->name) return static_cast<TmemLayoutName>(i);
  }
  return std::nullopt;
}

bool IsPowerOfTwo(std::int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

// What the name alone decides: JAX's tiles, and how often an element is there.
void FillTile(const Shape& shape, TmemLayout* layout) {
  switch (layout->name) {
    case TmemLayoutName::kDefault:
      layout->tile_columns = layout->packing;
      return;
    case TmemLayoutName::kHalfLane:
    case TmemLayoutName::kM64Collective:
      layout->tile_rows = kTmemLanes / 2;
      layout->tile_columns = shape.empty() ? 1 : shape.back();
      return;
    case TmemLayoutName::kScales:
      layout->packing = layout->tile_columns = layout->copies = 4;
      return;
    case TmemLayoutName::kScalesM64Collective:
      layout->tile_rows = 2 * kTmemLanes;
      layout->packing = layout->tile_columns = 4;
      layout->copies = 2;
      return;
    case TmemLayoutName::kSparseMetadata:
      layout->packing = layout->tile_columns = 16;
      return;
  }
}

bool HasOwnTile(TmemLayoutName name) {
  return name == TmemLayoutName::kHalfLane || name == TmemLayoutName::kM64Collective;
}

absl::Status ReadEntry(const AttrEntry& entry, TmemLayout* layout, std::optional<std::int64_t>* tile) {
  if (entry.first == "layout") {
    const std::optional<TmemLayoutName> name = NameFrom(entry.second);
    if (name.has_value()) return layout->name = *name, absl::OkStatus();
    return Invalid(
        Cat("expected the layout of tensor memory, one of default half_lane m64_collective scales "
            "scales_m64_collective sparse_metadata; found ",
            ToString(entry.second)));
  }
  if (entry.first == "collective") {
    const auto* flag = std::get_if<bool>(&entry.second.value);
    if (flag != nullptr) return layout->collective = *flag, absl::OkStatus();
    return Invalid(Cat("expected collective=true or collective=false, found ", ToString(entry.second)));
  }
  const auto* number = std::get_if<std::int64_t>(&entry.second.value);
  if (entry.first == "packing") {
    if (number != nullptr && IsPowerOfTwo(*number) && *number <= kTmemCellBits) {
      return layout->packing = *number, absl::OkStatus();
    }
    return Invalid(
        Cat("expected packing of tensor memory as a power of two, at most 32; found ", ToString(entry.second)));
  }
  if (entry.first == "tile_columns") {
    if (number != nullptr && *number > 0) return *tile = *number, absl::OkStatus();
    return Invalid(Cat("expected the columns of a tile of tensor memory, found ", ToString(entry.second)));
  }
  return Invalid(Cat("expected layout, packing, tile_columns or collective of tensor memory, found ", entry.first));
}

}  // namespace

std::string_view Name(TmemLayoutName name) { return kNames[static_cast<std::size_t>(name)]; }

absl::StatusOr<TmemLayout> ReadTmemLayout(const AttrMap& attrs, const Shape& shape) {
  TmemLayout layout;
  std::optional<std::int64_t> tile;
  for (const AttrEntry& entry : attrs) PALLADION_RETURN_IF_ERROR(ReadEntry(entry, &layout, &tile));
  const std::int64_t packing = layout.packing;
  FillTile(shape, &layout);
  if (Find(attrs, "packing") != nullptr && packing != layout.packing) {
    return Invalid(Cat("expected packing=", layout.packing, ", which layout=", Name(layout.name),
                       " has, or none; found ", packing));
  }
  if (tile.has_value() && !HasOwnTile(layout.name)) {
    return Invalid(
        Cat("expected no tile_columns with layout=", Name(layout.name), ", which decides its own; found ", *tile));
  }
  if (tile.has_value()) layout.tile_columns = *tile;
  return layout;
}

absl::StatusOr<TmemLayout> TmemLayoutOf(const Type& type) {
  if (type.attrs.empty()) return ReadTmemLayout({}, type.shape);
  PALLADION_ASSIGN_OR_RETURN(const AttrMap attrs, ParseAttrMap(type.attrs));
  return ReadTmemLayout(attrs, type.shape);
}

absl::Status CheckTmemShape(const TmemLayout& layout, const Type& type) {
  if (type.rank() != 2) return Invalid(Cat("TMEM can only represent 2D shapes, got ", ToString(type.shape)));
  if (HasOwnTile(layout.name) && layout.tile_columns % 16 != 0) {
    return Invalid(Cat("Columns must be a multiple of 16, got: ", layout.tile_columns));
  }
  if (type.shape[0] % layout.tile_rows != 0 || type.shape[1] % layout.tile_columns != 0) {
    return Invalid(Cat(ToString(type.shape), " is not divisible into tiles of shape [", layout.tile_rows, ",",
                       layout.tile_columns, "] (layout=", Name(layout.name), ")"));
  }
  const std::int64_t full = kTmemCellBits / Info(type.dtype).bits;
  if (layout.packing == 1 || layout.packing == full) return absl::OkStatus();
  return Invalid(
      Cat("expected 1 or ", full, " elements of ", Name(type.dtype), " in a cell of 32 bits; found ", layout.packing));
}

std::int64_t TmemColumns(const TmemLayout& layout, const Shape& shape) {
  const std::int64_t cell = kTmemLanes * layout.packing;
  return (NumElements(shape) * layout.copies + cell - 1) / cell;
}

std::int64_t TmemColumns(const Type& type) {
  const absl::StatusOr<TmemLayout> layout = TmemLayoutOf(type);
  return layout.ok() ? TmemColumns(*layout, type.shape) : 0;
}

}  // namespace palladion
