#include "emu/check/legality/tpu/block_copies.h"

#include <algorithm>
#include <vector>

#include "emu/chip/layouts/tiles.h"
#include "emu/chip/layouts/windows.h"
#include "semantics/base/saturating.h"

namespace palladion::legality {
namespace {

bool IsCopied(const Operand& operand, Space space) {
  if (operand.role == Role::kScratch || operand.role == Role::kBound) return false;
  return space == Space::kVmem || space == Space::kDefault || (space == Space::kSmem && operand.block.has_value());
}

// Programs at which the block's index is another than before: those of all dimensions down to the last one that its map
// depends on.
std::int64_t CopiesOf(const Kernel& kernel, const std::vector<std::size_t>& depends_on) {
  std::size_t outer = 0;
  for (const std::size_t d : depends_on) {
    if (layouts::GridMoves(kernel, d)) outer = std::max(outer, d + 1);
  }
  std::int64_t copies = 1;
  for (std::size_t d = 0; d < outer; ++d) copies = SaturatingMultiply(copies, kernel.launch.grid[d].size);
  return copies;
}

// The part of all blocks that lies in the array, where each index is the grid's.
double Inside(const Kernel& kernel, const BlockSpec& block, const Shape& array) {
  double inside = 1;
  for (std::size_t k = 0; k < block.dims.size() && k < array.size() && k < block.map.results.size(); ++k) {
    const Arg& at = block.map.results[k];
    for (std::size_t d = 0; d < kernel.launch.grid.size() && d < block.map.params.size(); ++d) {
      if (at.kind != Arg::Kind::kValue || at.value != block.map.params[d].value) continue;
      const double covered = static_cast<double>(kernel.launch.grid[d].size) * static_cast<double>(block.dims[k].size);
      inside *= std::min(1.0, static_cast<double>(array[k]) / std::max(1.0, covered));
    }
  }
  return inside;
}

}  // namespace

std::optional<std::int64_t> ProgramsOf(const Kernel& kernel) {
  std::int64_t programs = 1;
  for (const GridDim& dim : kernel.launch.grid) {
    if (dim.bound.valid()) return std::nullopt;
    programs = SaturatingMultiply(programs, dim.size);
  }
  return programs;
}

std::optional<std::int64_t> BlockBytesCopied(const Legality& legality) {
  const Kernel& kernel = legality.kernel();
  if (!ProgramsOf(kernel).has_value()) return std::nullopt;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < kernel.operands.size(); ++i) {
    const Operand& operand = kernel.operands[i];
    const Type& type = kernel.values[operand.value.index()].type;
    if (type.element != ElementKind::kData || !IsCopied(operand, legality.SpaceOf(i))) continue;
    std::int64_t bytes = layouts::DenseBytes(type, layouts::BlockShape(operand, type));
    if (operand.block.has_value()) {
      bytes = SaturatingMultiply(bytes, CopiesOf(kernel, layouts::DependsOn(kernel, *operand.block)));
      const double inside = Inside(kernel, *operand.block, type.shape);
      if (inside < 1) bytes = static_cast<std::int64_t>(static_cast<double>(bytes) * inside);
    }
    sum = SaturatingAdd(sum, bytes);
  }
  return sum;
}

}  // namespace palladion::legality
