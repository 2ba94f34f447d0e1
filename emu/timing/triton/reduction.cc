#include "emu/timing/triton/reduction.h"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "absl/status/statusor.h"
#include "semantics/registry/attrs.h"

namespace palladion::timing::triton {
namespace {

constexpr std::int64_t kLanes = 32, kVector = 4;

std::int64_t RoundsOf(std::int64_t lanes) {
  return std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(1, lanes))) - 1;
}

std::int64_t Parts(std::int64_t all, std::int64_t holders) {
  return std::max<std::int64_t>(1, (all + holders - 1) / holders);
}

// Lanes of a warp, and warps, along each of two dimensions.
struct Spread {
  std::int64_t lanes_down = 1, lanes_across = 1, warps_down = 1, warps_across = 1;
};

Spread SpreadOf(std::int64_t rows, std::int64_t columns, const TritonLayout& layout) {
  constexpr std::int64_t kProductLanes = 4, kProductRows = 16;
  Spread spread;
  if (layout.product) {
    spread.lanes_across = kProductLanes;
    spread.lanes_down = kLanes / kProductLanes;
    spread.warps_down = std::clamp<std::int64_t>(rows / kProductRows, 1, layout.warps);
  } else {
    const std::int64_t of_lane = std::clamp<std::int64_t>(rows * columns / (kLanes * layout.warps), 1, kVector);
    spread.lanes_across = std::clamp<std::int64_t>(columns / of_lane, 1, kLanes);
    spread.lanes_down = kLanes / spread.lanes_across;
    spread.warps_down = std::clamp<std::int64_t>(rows / spread.lanes_down, 1, layout.warps);
  }
  const std::int64_t left = layout.warps / spread.warps_down;
  spread.warps_across = std::clamp<std::int64_t>(columns / spread.lanes_across, 1, std::max<std::int64_t>(1, left));
  return spread;
}

}  // namespace

TritonTree TreeOf(const Shape& shape, const std::vector<bool>& reduced, const TritonLayout& layout) {
  const std::int64_t columns = shape.empty() ? 1 : shape.back();
  const std::int64_t rows = NumElements(shape) / std::max<std::int64_t>(1, columns);
  bool down = false;
  const bool across = !reduced.empty() && reduced.back();
  for (std::size_t d = 0; d + 1 < reduced.size(); ++d) down |= reduced[d] && shape[d] > 1;
  const Spread spread = SpreadOf(rows, columns, layout);
  TritonTree tree;
  if (down) {
    tree.rounds += RoundsOf(std::min(spread.lanes_down, rows));
    tree.warps *= spread.warps_down;
  } else {
    tree.of_lane *= Parts(rows, spread.lanes_down * spread.warps_down);
  }
  if (across) {
    tree.rounds += RoundsOf(std::min(spread.lanes_across, columns));
    tree.warps *= spread.warps_across;
  } else {
    tree.of_lane *= Parts(columns, spread.lanes_across * spread.warps_across);
  }
  return tree;
}

std::vector<bool> ReducedAxes(const Instr& instr, const Shape& shape) {
  std::vector<bool> reduced(shape.size());
  std::vector<std::int64_t> axes;
  if (const auto all = IntsAttr(instr, "axes"); all.ok()) axes = *all;
  if (const auto one = IntAttr(instr, "axis"); one.ok()) axes = {*one};
  if (axes.empty()) return std::vector<bool>(shape.size(), true);
  for (const std::int64_t axis : axes) {
    if (axis >= 0 && axis < static_cast<std::int64_t>(shape.size())) reduced[static_cast<std::size_t>(axis)] = true;
  }
  return reduced;
}

}  // namespace palladion::timing::triton
