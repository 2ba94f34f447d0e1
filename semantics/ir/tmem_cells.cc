#include "semantics/ir/tmem_cells.h"

#include <algorithm>

#include "semantics/base/cat.h"
#include "semantics/ir/tmem_layout.h"

namespace palladion {
namespace {

static_assert(TensorCells::kLanes == kTmemLanes && TensorCells::kCellBytes * 8 == kTmemCellBits);

struct Cell {
  std::int64_t lane = 0, column = 0;
};

// Of row r and column q of a tile.
Cell CellOf(const TmemLayout& layout, std::int64_t r, std::int64_t q) {
  const std::int64_t half = std::max<std::int64_t>(1, layout.tile_columns / 2), h = q / half, g = q % half;
  switch (layout.name) {
    case TmemLayoutName::kDefault:
      return {r, 0};
    case TmemLayoutName::kHalfLane:
      return {32 * (r / 16) + 16 * h + r % 16, g / layout.packing};
    case TmemLayoutName::kM64Collective:
      return {64 * h + r, g / layout.packing};
    case TmemLayoutName::kScales:
      return {r % 32, r / 32};
    case TmemLayoutName::kScalesM64Collective:
      return {32 * (r / 128) + r % 32, r % 128 / 32};
    case TmemLayoutName::kSparseMetadata:
      return {32 * (r / 32) + 4 * (r % 8) + 2 * (r / 8 % 2) + r / 16 % 2, 0};
  }
  return {};
}

// A table of cells has an entry for each element.
constexpr std::int64_t kMostElements = std::int64_t{1} << 24;

// Of an array that no layout holds, which legality reports: one element after the other.
TensorCells CellsInOrder(const Type& type) {
  const std::int64_t elements = NumElements(type.shape);
  TensorCells cells{
      .columns = std::max<std::int64_t>(1, (elements + kTmemLanes - 1) / kTmemLanes), .copies = 1, .of_element = {}};
  for (std::int64_t i = 0; i < elements; ++i) cells.of_element.push_back(static_cast<std::int32_t>(i));
  return cells;
}

}  // namespace

absl::StatusOr<TensorCells> TmemCells(const Type& type) {
  PALLADION_ASSIGN_OR_RETURN(const TmemLayout layout, TmemLayoutOf(type));
  if (const std::int64_t elements = NumElements(type.shape); elements > kMostElements) {
    return absl::ResourceExhaustedError(Cat("an array of ", elements, " elements in tensor memory, which has ",
                                            kTmemLanes, " lanes of 512 32-bit columns; use a smaller one"));
  }
  if (!CheckTmemShape(layout, type).ok()) return CellsInOrder(type);
  const std::int64_t rows = layout.tile_rows, columns = layout.tile_columns, across = type.shape[1] / columns;
  const std::int64_t columns_of_tile = TmemColumns(layout, {rows, columns});
  TensorCells cells{
      .columns = TmemColumns(layout, type.shape), .copies = static_cast<std::size_t>(layout.copies), .of_element = {}};
  cells.of_element.reserve(static_cast<std::size_t>(NumElements(type.shape) * layout.copies));
  for (std::int64_t r = 0; r < type.shape[0]; ++r) {
    for (std::int64_t c = 0; c < type.shape[1]; ++c) {
      const std::int64_t tile = r / rows * across + c / columns;
      const Cell cell = CellOf(layout, r % rows, c % columns);
      const std::int64_t first = cell.lane + kTmemLanes * (tile * columns_of_tile + cell.column);
      for (std::int64_t copy = 0; copy < layout.copies; ++copy)
        cells.of_element.push_back(static_cast<std::int32_t>(first + copy * (kTmemLanes / layout.copies)));
    }
  }
  return cells;
}

}  // namespace palladion
