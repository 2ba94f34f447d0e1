#include "semantics/ops/gpu/tmem_packing.h"

namespace palladion {
namespace {

constexpr std::int64_t kRowsOfTile = 128, kQuarter = 32;
constexpr std::int64_t kM64Rows = 256;                     // of b's scales, however few columns b has
constexpr std::int64_t kScaleColumns = 4;                  // of a tile: the bytes of one cell
constexpr std::int64_t kScaleLine = 4 * kScaleColumns;     // one line of a tile: a cell of each quarter
constexpr std::int64_t kPositionColumns = 64;              // of a tile: four cells
constexpr std::int64_t kCoreRows = 8, kCorePositions = 8;  // of the pieces that operands of 16 bits are taken in

std::int64_t TileColumns(TmemLayoutName layout) {
  return layout == TmemLayoutName::kSparseMetadata ? kPositionColumns : kScaleColumns;
}

std::int64_t PackedElement(TmemLayoutName layout, std::int64_t row, std::int64_t column, std::int64_t columns) {
  const std::int64_t width = TileColumns(layout), tiles = columns / width;
  const std::int64_t column_tile = column / width, in_column = column % width;
  const std::int64_t row_tile = row / kRowsOfTile, in_row = row % kRowsOfTile;
  const std::int64_t in_line = in_row / kQuarter * kScaleColumns + in_column;
  if (layout == TmemLayoutName::kSparseMetadata) {
    return ((row_tile * tiles + column_tile) * kRowsOfTile + in_row) * kPositionColumns + in_column;
  }
  const std::int64_t line = layout == TmemLayoutName::kScales ? (row_tile * tiles + column_tile) * kQuarter
                                                              : (column_tile * 2 + row_tile) * kQuarter;
  return (line + in_row % kQuarter) * kScaleLine + in_line;
}

}  // namespace

std::vector<std::int64_t> PackedShape(TmemLayoutName layout, std::int64_t rows, std::int64_t columns) {
  const std::int64_t row_tiles = rows / kRowsOfTile, column_tiles = columns / TileColumns(layout);
  if (layout == TmemLayoutName::kSparseMetadata) return {row_tiles, column_tiles, kRowsOfTile, kPositionColumns};
  if (layout == TmemLayoutName::kScales) return {row_tiles, column_tiles, kQuarter, kScaleLine};
  return {1, column_tiles, 2 * kQuarter, kScaleLine};
}

bool IsWholeTiles(TmemLayoutName layout, std::int64_t rows, std::int64_t columns) {
  const bool fits = layout == TmemLayoutName::kScalesM64Collective ? rows == kM64Rows : rows % kRowsOfTile == 0;
  return fits && columns % TileColumns(layout) == 0;
}

std::vector<std::int64_t> PackedOrder(TmemLayoutName layout, std::int64_t rows, std::int64_t columns) {
  std::vector<std::int64_t> order;
  order.reserve(static_cast<std::size_t>(rows * columns));
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      order.push_back(PackedElement(layout, row, column, columns));
    }
  }
  return order;
}

std::int64_t ScaleRowOfColumn(TmemLayoutName layout, std::int64_t column, std::int64_t columns) {
  if (layout != TmemLayoutName::kScalesM64Collective) return column;
  const std::int64_t half = columns / 2;
  return column / half * kRowsOfTile + column % half;
}

std::int64_t PositionInTmem(std::int64_t row, std::int64_t entry, std::int64_t columns, int operand_bits) {
  if (operand_bits != 16) return row * columns + entry;
  // Of 16 rows and 16 entries, the pieces of 8 by 8 above and below the diagonal are swapped.
  const std::int64_t lower = row / kCoreRows % 2, right = entry / kCorePositions % 2;
  const std::int64_t swapped_row = row + (right - lower) * kCoreRows;
  const std::int64_t swapped_entry = entry + (lower - right) * kCorePositions;
  return swapped_row * columns + swapped_entry;
}

}  // namespace palladion
