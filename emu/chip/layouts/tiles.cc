#include "emu/chip/layouts/tiles.h"

#include <algorithm>

#include "semantics/base/saturating.h"
#include "semantics/program/program.h"

namespace palladion::layouts {
namespace {

std::int64_t BitsOf(DType dtype) { return IsBool(dtype) ? 32 : Info(dtype).bits; }

}  // namespace

std::int64_t PackingOf(DType dtype) { return std::max<std::int64_t>(1, 32 / BitsOf(dtype)); }

std::int64_t TileRows(std::int64_t rows, std::int64_t packing, std::int64_t sublanes) {
  std::int64_t tile = packing;
  while (tile < std::min(rows, sublanes)) tile *= 2;
  return tile;
}

std::int64_t TiledBytes(const Type& type, const Shape& shape, const machines::Chip& chip, PaddedAs as) {
  const std::int64_t bits = BitsOf(type.dtype), packing = PackingOf(type.dtype);
  if (shape.empty()) return 4;
  Shape padded = shape;
  if (padded.size() == 1) {
    const std::int64_t rows = (padded[0] + chip.lanes - 1) / chip.lanes;
    padded[0] = RoundUp(padded[0], TileRows(rows, packing, chip.sublanes) * chip.lanes);
  } else {
    std::int64_t& rows = padded[padded.size() - 2];
    const bool by_row = as == PaddedAs::kScoped && bits == 32 && padded.back() <= chip.lanes;
    if (!by_row) rows = RoundUp(rows, TileRows(rows, packing, chip.sublanes));
    padded.back() = RoundUp(padded.back(), chip.lanes);
  }
  return NumElements(padded) * bits / 8;
}

std::int64_t DenseBytes(const Type& type, const Shape& shape) {
  return static_cast<std::int64_t>(BytesPerElement(type)) * NumElements(shape);
}

Shape BlockShape(const Operand& operand, const Type& array) {
  if (!operand.block.has_value()) return array.shape;
  Shape shape;
  for (const BlockDim& dim : operand.block->dims) shape.push_back(dim.size);
  return shape;
}

}  // namespace palladion::layouts
