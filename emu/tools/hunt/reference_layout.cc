#include "emu/tools/hunt/reference_layout.h"

namespace palladion::hunt {

ReferenceLayout::ReferenceLayout(const HuntKernel& kernel, const Written& written)
    : agents_(static_cast<int>(written.code.size())),
      blocks_(kernel.blocks),
      rows_(kernel.rows),
      tpu_(kernel.family == Family::kTpu),
      programs_(kernel.family == Family::kPrograms),
      shares_(kernel.cores != Cores::kDevices),
      barriers_per_(static_cast<int>(kernel.arrivals.size())),
      semaphores_per_(kernel.semaphores),
      sems_per_(kernel.semaphores + kernel.dmas) {
  threads_ = (tpu_ ? agents_ : static_cast<int>(kernel.agents.size())) / blocks_;
  if (tpu_) return;
  tensor_ = kernel.tensor;
  cells_of_block_ = (tensor_ ? 4 : 2) * rows_ * kCellsOfRow + kCellsOfUnion;
  named_per_ = static_cast<int>(kernel.named.size());
  for (std::size_t i = 0; i < kernel.arrivals.size(); ++i) {
    orders_.push_back(hunt::OrdersTensorCore(kernel, i));
    of_cluster_.push_back(kernel.arrivals[i] == 0);
  }
}

std::vector<int> ReferenceLayout::QueuesOf(int agent) const {
  const int thread = ThreadOf(agent), second = WarpOf(thread, 1);
  if (second >= agents_) return {agent};
  if (!IsWarp(agent)) return {thread, second};
  return {agent == second ? second : thread};
}

int ReferenceLayout::SemaphoreOf(int agent, const Op& op) const {
  if (!tpu_) return op.object;
  if (op.what == What::kDmaWait || (op.what == What::kSemRead && op.flag)) return DmaSemaphoreOf(agent, op.object);
  return SemaphoreOfAgent(op.peer ? (agent + 1) % blocks_ : agent, op.object);
}

CellSpan ReferenceLayout::CellsOf(const Scoped& where, Array array, int row, Part part, const Slots& slots) const {
  if (tpu_) return TpuCellsOf(where.agent, array, row, part, slots);
  const int matrix = rows_ * kCellsOfRow, own = BlockOf(where.agent);
  const int block = array == Array::kPeer ? (own + 1) % blocks_ : own;
  int first = row * kCellsOfRow;
  if (array == Array::kX) first += matrix;
  if (array != Array::kM && array != Array::kX) first += 2 * matrix + block * cells_of_block_;
  if (array == Array::kOperands || array == Array::kTensor) first += 2 * matrix + kCellsOfUnion;
  if (array == Array::kTensor) first += matrix;
  if ((array == Array::kShared || array == Array::kPeer) && where.later) first += matrix;
  if (array == Array::kUnion) first += 2 * matrix + row * 2 - row * kCellsOfRow;  // members begin half a row apart
  const bool low = part != Part::kMiddle && part != Part::kHigh, high = part != Part::kFirst && part != Part::kLow;
  const bool whole = part == Part::kLow || part == Part::kHigh || part == Part::kRow;
  CellSpan span;
  for (int half = 0; half < 2; ++half) {
    if (!(half == 0 ? low : high)) continue;
    span.cells[span.count++] = first + 2 * half;
    if (whole) span.cells[span.count++] = first + 2 * half + 1;
  }
  return span;
}

CellSpan ReferenceLayout::TpuCellsOf(int agent, Array array, int row, Part part, const Slots& slots) const {
  const int matrix = rows_ * kCellsOfRow, device = shares_ ? 0 : agent, devices = shares_ ? 1 : blocks_;
  const bool block = array == Array::kBlockIn || array == Array::kBlockOut;
  const int slot = array == Array::kBlockIn ? slots.in : slots.out;
  const int first = block ? SlotRow(array == Array::kBlockOut, slot) * kCellsOfRow
                          : row * kCellsOfRow + matrix * (array == Array::kM   ? device
                                                          : array == Array::kX ? devices + device
                                                                               : 2 * devices + agent);
  switch (part) {
    case Part::kFirst:
      return {{first}, 1};
    case Part::kMiddle:
      return {{first + 2}, 1};
    case Part::kLow:
      return {{first, first + 1}, 2};
    case Part::kHigh:
      return {{first + 2, first + 3}, 2};
    default:
      return {{first, first + 1, first + 2, first + 3}, 4};
  }
}

std::set<int> ReferenceLayout::CellsOfTensor() const {
  std::set<int> cells;
  for (int block = 0; tensor_ && block < blocks_; ++block) {
    for (int row = 0; row < rows_; ++row) {
      const CellSpan span = CellsOf({block * threads_, false}, Array::kTensor, row, Part::kRow, {});
      cells.insert(span.cells, span.cells + span.count);
    }
  }
  return cells;
}

}  // namespace palladion::hunt
