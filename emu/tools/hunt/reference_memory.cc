#include "emu/tools/hunt/reference_memory.h"

namespace palladion::hunt {

// Of a GPU: m, x, then of each block its shared memory, that of the second scope, the union; and where there is tensor
// memory, the operands of products and it. Of a TPU: m of each device, x of each, the scratch of each agent, two slots
// of an input's and two of an output's blocks; cores and tasks have one m and one x.
ReferenceMemory::ReferenceMemory(const ReferenceLayout& layout) {
  const bool one = !layout.is_tpu() || layout.shares();
  const int rows = layout.rows() * (one ? 1 : layout.blocks());
  for (int row = 0; row < rows; ++row) cells_.insert(cells_.end(), kCellsOfRow, {InputOfM(row), false});
  for (int row = 0; row < rows; ++row) cells_.insert(cells_.end(), kCellsOfRow, {InputOfX(row), false});
  const int others =
      layout.is_tpu() ? (layout.blocks() * layout.rows() + 4) * kCellsOfRow : layout.blocks() * layout.cells_of_block();
  cells_.insert(cells_.end(), static_cast<std::size_t>(others), {0, true});
}

CellValue ReferenceMemory::Read(const CellSpan& cells) const {
  CellValue value;
  for (int i = 0; i < cells.count; ++i) {
    const CellValue& cell = At(cells.cells[i]);
    const std::int64_t elements = cells.cells[i] % 2 == 0 ? 1 : 63;
    value = {WrapI32(value.number + elements * cell.number), value.undefined || cell.undefined};
  }
  return value;
}

}  // namespace palladion::hunt
