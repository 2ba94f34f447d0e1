// The reference machine's copies of a TPU: two phases, each atomic and at any time, after which a semaphore counts the
// copy. Rules: docs/spec/tpu-copies.md.
#include "emu/tools/hunt/reference_machine.h"

namespace palladion::hunt {
namespace {

constexpr int kCellsOfRow = 4;

}  // namespace

// The cells: m of each device, x of each, the scratch of each agent, two slots of an input's and
// two of an output's blocks. Cores and tasks have one m and one x.
void ReferenceMachine::AddTpuCells() {
  const int rows = rows_ * (shares_ ? 1 : blocks_);
  for (int row = 0; row < rows; ++row) cells_.insert(cells_.end(), kCellsOfRow, {InputOfM(row), false});
  for (int row = 0; row < rows; ++row) cells_.insert(cells_.end(), kCellsOfRow, {InputOfX(row), false});
  cells_.insert(cells_.end(), static_cast<std::size_t>((blocks_ * rows_ + 4) * kCellsOfRow), {0, true});
  for (int i = 0; i < agents(); ++i) Settle(i);
}

CellSpan ReferenceMachine::TpuCellsOf(int agent, Array array, int row, Part part) const {
  const int matrix = rows_ * kCellsOfRow, device = shares_ ? 0 : agent, devices = shares_ ? 1 : blocks_;
  const bool block = array == Array::kBlockIn || array == Array::kBlockOut;
  const int slot = array == Array::kBlockIn ? in_slot_ : out_slot_;
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

int ReferenceMachine::SemaphoreOf(int agent, const Op& op) const {
  if (!tpu_) return op.object;
  if (op.what == What::kDmaWait || (op.what == What::kSemRead && op.flag)) return DmaSemaphoreOf(agent, op.object);
  return (op.peer ? (agent + 1) % blocks_ : agent) * sems_per_ + op.object;
}

void ReferenceMachine::StartDma(int agent, const Instr& instr) {
  const Op& op = *instr.op;
  const Copy copy{.issuer = agent, .op = &op, .what = What::kDma, .line = instr.line, .number = copy_count_++};
  if (listener_ != nullptr) {
    const int who = agents() + copy.number, target = op.peer ? (agent + 1) % blocks_ : agent;
    listener_->Issue(agent, copy.number, -1);
    listener_->Touch(who, Access::kRead, TpuCellsOf(agent, op.array, op.row, op.part), copy.line);
    listener_->Touch(who, Access::kWrite, TpuCellsOf(target, op.there, op.to, op.part), copy.line);
  }
  copies_.push_back(copy);
}

void ReferenceMachine::Count(const Copy& copy, int semaphore, std::int64_t amount) {
  if (listener_ != nullptr) listener_->Credit(copy.number, copy.halves, semaphore, amount);
  semaphores_[static_cast<std::size_t>(semaphore)] += amount;
}

void ReferenceMachine::DoDmaHalf(std::size_t at) {
  Copy& copy = copies_[at];
  const Op& op = *copy.op;
  const int target = op.peer ? (copy.issuer + 1) % blocks_ : copy.issuer;
  if (++copy.halves == 1) {
    MoveHalf(&copy, TpuCellsOf(copy.issuer, op.array, op.row, op.part), /*reads=*/true);
    if (op.peer) Count(copy, DmaSemaphoreOf(copy.issuer, op.other), BytesOf(op.part));
    return;
  }
  MoveHalf(&copy, TpuCellsOf(target, op.there, op.to, op.part), /*reads=*/false);
  const Copy done = copy;
  copies_.erase(copies_.begin() + static_cast<std::ptrdiff_t>(at));
  if (op.flag) return Count(done, target * sems_per_ + op.object, 1);
  Count(done, DmaSemaphoreOf(target, op.object), BytesOf(op.part));
}

bool ReferenceMachine::InFlight(What what, int slot) const {
  for (const Copy& copy : copies_) {
    if (copy.what == what && copy.number == slot) return true;
  }
  return false;
}

// Of a copy of the pipeline `sequence` is the row, `number` the slot.
void ReferenceMachine::Pipeline(const Instr& instr) {
  static const Op kNone{};
  switch (instr.what) {
    case What::kFetchStart:
    case What::kFlushStart: {
      const int line = 1000 * static_cast<int>(instr.what) + 8 * instr.place + instr.slot;
      copies_.push_back(
          {.sequence = instr.place, .op = &kNone, .what = instr.what, .line = line, .number = instr.slot});
      return;
    }
    case What::kFetchWait:
      in_slot_ = instr.slot;
      return;
    case What::kNewBlock: {
      out_slot_ = instr.slot;
      const CellSpan cells = RowOfCells(SlotRow(true, instr.slot));
      for (int i = 0; i < cells.count; ++i) cells_[static_cast<std::size_t>(cells.cells[i])] = {0, true};
      return;
    }
    default:
      return;
  }
}

void ReferenceMachine::DoPipelineHalf(std::size_t at) {
  Copy& copy = copies_[at];
  const bool reads = copy.halves++ == 0, flush = copy.what == What::kFlushStart;
  MoveHalf(&copy, RowOfCells(reads == flush ? SlotRow(flush, copy.number) : copy.sequence), reads);
  if (!reads) copies_.erase(copies_.begin() + static_cast<std::ptrdiff_t>(at));
}

bool ReferenceMachine::LeavesSemaphores() const {
  for (const std::int64_t count : semaphores_) {
    if (count != 0) return true;
  }
  return false;
}

}  // namespace palladion::hunt
