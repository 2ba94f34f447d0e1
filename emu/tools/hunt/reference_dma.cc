#include "emu/tools/hunt/reference_dma.h"

namespace palladion::hunt {
namespace {

void Count(const Copy& copy, int semaphore, std::int64_t amount, ReferenceState& state) {
  if (state.listener != nullptr) state.listener->Credit(copy.number, copy.halves, semaphore, amount);
  state.CountOf(semaphore) += amount;
}

int TargetOf(int agent, const Op& op, const ReferenceState& state) {
  return op.peer ? (agent + 1) % state.layout->blocks() : agent;
}

}  // namespace

void StartDma(int agent, const Instr& instr, ReferenceState& state) {
  const Op& op = *instr.op;
  const Copy copy{.issuer = agent, .op = &op, .what = What::kDma, .line = instr.line, .number = state.copy_count++};
  if (state.listener != nullptr) {
    const int who = state.WhoOf(copy);
    const Scoped from{agent, false}, to{TargetOf(agent, op, state), false};
    state.listener->Issue(agent, copy.number, -1);
    state.listener->Touch(who, Access::kRead, state.CellsOf(from, op.array, op.row, op.part), copy.line);
    state.listener->Touch(who, Access::kWrite, state.CellsOf(to, op.there, op.to, op.part), copy.line);
  }
  state.copies.push_back(copy);
}

void DoDmaHalf(std::size_t at, ReferenceState& state) {
  const ReferenceLayout& layout = *state.layout;
  Copy& copy = state.copies[at];
  const Op& op = *copy.op;
  const int target = TargetOf(copy.issuer, op, state);
  if (++copy.halves == 1) {
    state.MoveHalf(&copy, state.CellsOf({copy.issuer, false}, op.array, op.row, op.part), /*reads=*/true);
    if (op.peer) Count(copy, layout.DmaSemaphoreOf(copy.issuer, op.other), BytesOf(op.part), state);
    return;
  }
  state.MoveHalf(&copy, state.CellsOf({target, false}, op.there, op.to, op.part), /*reads=*/false);
  const Copy done = state.Take(at);
  if (op.flag) return Count(done, layout.SemaphoreOfAgent(target, op.object), 1, state);
  Count(done, layout.DmaSemaphoreOf(target, op.object), BytesOf(op.part), state);
}

bool IsInFlight(What what, int slot, const ReferenceState& state) {
  for (const Copy& copy : state.copies) {
    if (copy.what == what && copy.number == slot) return true;
  }
  return false;
}

// Of a copy of the pipeline `sequence` is the row, `number` the slot.
void DoPipeline(const Instr& instr, ReferenceState& state) {
  static const Op kNone{};
  switch (instr.what) {
    case What::kFetchStart:
    case What::kFlushStart: {
      const int line = 1000 * static_cast<int>(instr.what) + 8 * instr.place + instr.slot;
      state.copies.push_back(
          {.sequence = instr.place, .op = &kNone, .what = instr.what, .line = line, .number = instr.slot});
      return;
    }
    case What::kFetchWait:
      state.slots.in = instr.slot;
      return;
    case What::kNewBlock: {
      state.slots.out = instr.slot;
      const CellSpan cells = ReferenceLayout::RowOfCells(state.layout->SlotRow(true, instr.slot));
      for (int i = 0; i < cells.count; ++i) state.memory.At(cells.cells[i]) = {0, true};
      return;
    }
    default:
      return;
  }
}

void DoPipelineHalf(std::size_t at, ReferenceState& state) {
  Copy& copy = state.copies[at];
  const bool reads = copy.halves++ == 0, flush = copy.what == What::kFlushStart;
  const int row = reads == flush ? state.layout->SlotRow(flush, copy.number) : copy.sequence;
  state.MoveHalf(&copy, ReferenceLayout::RowOfCells(row), reads);
  if (!reads) state.Take(at);
}

}  // namespace palladion::hunt
