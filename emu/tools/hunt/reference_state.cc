#include "emu/tools/hunt/reference_state.h"

#include <utility>

namespace palladion::hunt {

ReferenceState::ReferenceState(const HuntKernel& kernel, const Written& written)
    : layout(std::make_shared<const ReferenceLayout>(kernel, written)),
      memory(*layout),
      barriers(kernel, layout),
      semaphores(static_cast<std::size_t>(layout->semaphores()), 0),
      sums(static_cast<std::size_t>(layout->agents())) {}

CellSpan ReferenceState::CellsOf(const Scoped& where, const Op& op) {
  if (!op.dynamic || op.array == Array::kUnion) return CellsOf(where, op.array, op.row, op.part);
  const CellValue& sum = SumOf(where.agent);
  faults.leaked |= sum.undefined;
  return CellsOf(where, op.array, static_cast<int>((op.row + (sum.number & 1)) % layout->rows()), op.part);
}

void ReferenceState::Add(int agent, const CellValue& value) {
  CellValue& sum = SumOf(agent);
  sum = {WrapI32(3 * sum.number + value.number), sum.undefined || value.undefined};
}

Copy ReferenceState::Take(std::size_t at) {
  const auto place = copies.begin() + static_cast<std::ptrdiff_t>(at);
  Copy copy = std::move(*place);
  copies.erase(place);
  return copy;
}

void ReferenceState::MoveHalf(Copy* copy, const CellSpan& cells, bool reads) {
  for (int i = 0; i < cells.count; ++i) {
    CellValue& cell = memory.At(cells.cells[i]);
    const unsigned bit = 1u << i;
    if (reads) {
      copy->values[i] = cell.number;
      copy->undefined |= cell.undefined ? bit : 0u;
    } else {
      cell = {copy->values[i], (copy->undefined & bit) != 0};
    }
  }
}

}  // namespace palladion::hunt
