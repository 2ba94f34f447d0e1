// Where the elements of a value lie: each dimension of its shape in steps over warps, lanes, registers and vectors.
// Based on and limited as register_layouts.h.
#include <cstddef>
#include <optional>
#include <vector>

#include "emu/chip/layouts/register_layouts.h"

namespace palladion::layouts {
namespace {

std::optional<std::vector<Steps>> Tiled(const Shape& shape, const std::vector<Shape>& tiles) {
  std::vector<Steps> steps;
  for (std::size_t d = 0; d < shape.size(); ++d) steps.push_back({.dim = d, .step = 1, .size = shape[d]});
  for (const Shape& tile : tiles) {
    if (steps.size() < tile.size()) return std::nullopt;
    const std::size_t first = steps.size() - tile.size();
    for (std::size_t i = 0; i < tile.size(); ++i) {
      Steps& whole = steps[first + i];
      if (whole.size % tile[i] != 0) return std::nullopt;
      steps.push_back({.dim = whole.dim, .step = whole.step, .size = tile[i]});
      steps[first + i] = {.dim = steps[first + i].dim,
                          .step = steps[first + i].step * tile[i],
                          .size = steps[first + i].size / tile[i]};
    }
  }
  return steps;
}

std::optional<Spread> SpreadOfTiles(const TiledLayout& layout, const Shape& shape) {
  std::optional<std::vector<Steps>> steps = Tiled(shape, layout.tiles);
  if (!steps.has_value()) return std::nullopt;
  const auto at = [&](int dim) -> Steps& { return (*steps)[steps->size() - static_cast<std::size_t>(-dim)]; };
  Spread spread{.shape = shape};
  spread.vector = at(layout.vector).size;
  spread.vector_dim = at(layout.vector).dim;
  for (const int dim : layout.warps) spread.warps.push_back(dim < 0 ? at(dim) : Steps{.step = 0, .size = dim});
  for (const int dim : layout.lanes) spread.lanes.push_back(dim < 0 ? at(dim) : Steps{.step = 0, .size = dim});
  at(layout.vector).size = 1;
  for (const std::vector<int>* dims : {&layout.warps, &layout.lanes}) {
    for (const int dim : *dims) {
      if (dim < 0) at(dim).size = 1;
    }
  }
  for (const Steps& left : *steps) {
    if (left.size > 1) spread.registers.push_back(left);
  }
  return spread;
}

std::optional<Spread> SpreadInOrder(std::int64_t vector, const Type& type) {
  const std::int64_t elements = NumElements(type.shape);
  if (vector == 0) vector = StridedVector(type).value_or(0);
  if (vector <= 0 || elements <= 0 || elements % (vector * kLanesOfGroup) != 0) return std::nullopt;
  Spread spread{.shape = type.shape, .vector = vector, .vector_dim = type.shape.size() - 1, .linear = true};
  spread.registers = {{.step = vector * kLanesOfGroup, .size = elements / (vector * kLanesOfGroup)}};
  spread.warps = {{.step = vector * kLanesOfWarp, .size = kWarpsOfGroup}};
  spread.lanes = {{.step = vector, .size = kLanesOfWarp}};
  return spread;
}

}  // namespace

std::int64_t Spread::Registers() const {
  std::int64_t count = 1;
  for (const Steps& steps : registers) count *= steps.size;
  return count;
}

std::optional<Spread> SpreadOf(const RegisterLayout& layout, const Type& type) {
  if (layout.kind == RegisterLayout::Kind::kStrided) return SpreadInOrder(layout.vector, type);
  return layout.is_tiled() ? SpreadOfTiles(layout.tiled, type.shape) : std::nullopt;
}

std::optional<std::int64_t> ElementsOfLane(const RegisterLayout& layout, const Type& type) {
  if (layout.kind == RegisterLayout::Kind::kSplat || type.shape.empty()) return 1;
  const std::optional<Spread> spread = SpreadOf(layout, type);
  if (!spread.has_value()) return std::nullopt;
  return spread->Registers() * spread->vector;
}

}  // namespace palladion::layouts
