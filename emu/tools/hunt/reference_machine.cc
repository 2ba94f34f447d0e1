#include "emu/tools/hunt/reference_machine.h"

#include <algorithm>

#include "emu/tools/hunt/reference_dma.h"
#include "semantics/base/cat.h"

namespace palladion::hunt {
namespace {

// Of each thread: where its warps begin, and where they have ended.
constexpr int kForks = kMeshes, kJoins = 2 * kMeshes;

}  // namespace

ReferenceMachine::ReferenceMachine(const HuntKernel& kernel, const Written& written, Mutation mutation)
    : written_(written),
      mutation_(mutation),
      state_(kernel, written),
      bulk_(state_.layout->agents()),
      multicasts_(state_.layout->agents()),
      tensor_(state_.layout->agents()),
      pc_(written.code.size(), 0),
      begun_(written.code.size(), false),
      results_(kernel.agents.size(), 0) {
  for (int i = 0; i < agents(); ++i) Settle(i);
}

// On to the next operation that others can see.
void ReferenceMachine::Settle(int agent) {
  const std::vector<Instr>& code = written_.code[static_cast<std::size_t>(agent)];
  int& pc = pc_[static_cast<std::size_t>(agent)];
  for (; pc < static_cast<int>(code.size()); ++pc) {
    const Instr& instr = code[static_cast<std::size_t>(pc)];
    if (instr.what != What::kIf && instr.what != What::kJump) return;
    const CellValue& sum = state_.SumOf(agent);
    if (instr.what == What::kIf) state_.faults.leaked |= sum.undefined;
    if (instr.what == What::kJump || (sum.number & 1) == 0) pc += instr.skip;
  }
}

const Instr* ReferenceMachine::Next(int agent) const {
  const std::vector<Instr>& code = written_.code[static_cast<std::size_t>(agent)];
  const auto pc = static_cast<std::size_t>(pc_[static_cast<std::size_t>(agent)]);
  return pc < code.size() ? &code[pc] : nullptr;
}

bool ReferenceMachine::CanGo(int agent) const {
  const Instr* next = Next(agent);
  if (next == nullptr || !HasBegun(agent)) return false;
  switch (next->what) {
    case What::kJoin:
      return WarpsEnded(agent);
    case What::kWait:
      return state_.barriers.CanTake(agent, layout().BarrierOf(agent, next->op->object));
    case What::kSemWait:
      return state_.CountOf(layout().SemaphoreOf(agent, *next->op)) >= next->op->amount;
    case What::kFetchWait:
      return !IsInFlight(What::kFetchStart, next->slot, state_);
    case What::kFlushWait:
      return !IsInFlight(What::kFlushStart, next->slot, state_);
    case What::kSpin:
      return SpinEnds(agent, *next->op);
    case What::kDmaWait:
      return state_.CountOf(layout().DmaSemaphoreOf(agent, next->op->object)) >= BytesOf(next->op->part);
    case What::kEnter:
      return state_.barriers.HaveMet(layout().BlockOf(agent));
    case What::kAwait:
      return bulk_.AwaitDone(agent, *next->op, state_);
    case What::kNamedWait:
      return state_.barriers.CanGoNamed(agent, next->op->object);
    case What::kTensorSettle:
      return TensorCores::AreStoresDone(agent, state_);
    default:
      return true;
  }
}

bool ReferenceMachine::MayGo(const Copy& copy) const {
  if (copy.what == What::kMulticast || copy.what == What::kDma || IsOfPipeline(copy.what)) return true;
  if (copy.what == What::kCopyIn || copy.what == What::kCopyOut) return BulkCopies::MayGo(copy, state_);
  return TensorCores::MayGo(copy, state_);
}

std::vector<Choice> ReferenceMachine::Choices() const {
  std::vector<Choice> choices;
  if (broken()) return choices;
  for (int i = 0; i < agents(); ++i) {
    if (CanGo(i)) choices.push_back({i, -1});
  }
  for (std::size_t i = 0; i < copies().size(); ++i) {
    if (MayGo(copies()[i])) choices.push_back({copies()[i].issuer, static_cast<int>(i)});
  }
  return choices;
}

bool ReferenceMachine::Done() const {
  for (int i = 0; i < agents(); ++i) {
    if (Next(i) != nullptr) return false;
  }
  return true;
}

bool ReferenceMachine::BlockHasEnded(int block) const {
  bool ended = true;
  for (int i = block * layout().threads(); i < (block + 1) * layout().threads(); ++i)
    ended = ended && Next(i) == nullptr;
  return ended;
}

void ReferenceMachine::Memory(int agent, const Instr& instr) {
  const Op& op = *instr.op;
  const CellSpan cells = state_.CellsOf({agent, instr.later}, op);
  const bool reads = op.what != What::kStore && op.what != What::kAtomicAdd, writes = op.what != What::kLoad;
  const bool updates = writes && op.what != What::kStore;
  if (Listener* const listener = state_.listener) {
    const CellSpan bytes = state_.CellsOf({agent, false}, op);  // both scopes have the same
    if (updates) listener->Acquire(agent, bytes);
    listener->Touch(agent, updates ? Access::kUpdate : writes ? Access::kWrite : Access::kRead, bytes, instr.line);
    if (updates) listener->Release(agent, bytes);
  }
  const CellValue sum = state_.SumOf(agent);
  if (reads) state_.Add(agent, state_.memory.Read(cells));
  const CellValue stored = op.amount == 0 ? sum : CellValue{op.amount, false};
  for (int i = 0; i < cells.count && writes; ++i) {
    CellValue& cell = state_.memory.At(cells.cells[i]);
    const bool adds = op.what == What::kAtomicAdd || op.what == What::kAtomicSee;
    cell = {adds ? WrapI32(cell.number + stored.number) : stored.number, stored.undefined || (adds && cell.undefined)};
  }
}

void ReferenceMachine::TakePhase(int agent, int barrier) {
  tensor_.Acquire(agent, state_.barriers.Take(agent, barrier));
}

void ReferenceMachine::Sync(int agent, const Op& op) {
  const int barrier = layout().BarrierOf(agent, op.object), semaphore = layout().SemaphoreOf(agent, op);
  Listener* const listener = state_.listener;
  switch (op.what) {
    case What::kArrive:
      return state_.barriers.ArriveFrom(agent, op.object, tensor_.KnownOf(agent));
    case What::kWait:
      CheckUneven(agent, barrier);
      return TakePhase(agent, barrier);
    case What::kTest: {
      CheckUneven(agent, barrier);
      const bool can = state_.barriers.CanTake(agent, barrier);
      if (can) TakePhase(agent, barrier);
      return state_.Add(agent, {can ? 1 : 0, false});
    }
    case What::kFence:
      if (listener != nullptr) listener->Fence(agent);
      return;
    case What::kSignal:
      if (listener != nullptr) listener->Signal(agent, semaphore, op.amount);
      state_.CountOf(semaphore) += op.amount;
      return;
    case What::kSemWait:
    case What::kDmaWait: {
      const std::int64_t amount = op.what == What::kDmaWait ? BytesOf(op.part) : op.amount;
      if (listener != nullptr) listener->SemWait(agent, semaphore, amount, !op.flag);
      if (!op.flag && mutation_ != Mutation::kCreditsStay) state_.CountOf(semaphore) -= amount;
      return;
    }
    case What::kSemRead:
      if (listener != nullptr) listener->SemRead(agent, semaphore);
      return state_.Add(agent, {state_.CountOf(semaphore), false});
    default:
      return;
  }
}

bool ReferenceMachine::SpinEnds(int agent, const Op& op) const {
  if (!layout().is_of_programs()) return state_.CountOf(layout().SemaphoreOf(agent, op)) >= op.amount;
  const CellSpan cells = state_.CellsOf({agent, false}, Array::kM, op.row, Part::kFirst);
  return state_.memory.At(cells.cells[0]).number == op.amount;
}

// An atomic update by nothing, or a look at a semaphore.
void ReferenceMachine::Look(int agent) {
  const Instr& instr = *Next(agent);
  const Op& op = *instr.op;
  const bool ends = SpinEnds(agent, op), programs = layout().is_of_programs();
  const int semaphore = programs ? 0 : layout().SemaphoreOf(agent, op);
  const CellSpan cells = state_.CellsOf({agent, false}, Array::kM, op.row, Part::kFirst);
  Listener* const listener = state_.listener;
  if (listener != nullptr && programs) {
    listener->Acquire(agent, cells);
    listener->Touch(agent, Access::kUpdate, cells, instr.line);
    listener->Release(agent, cells);
  } else if (listener != nullptr) {
    listener->SemRead(agent, semaphore);
  }
  if (!ends) return;
  state_.Add(agent, programs ? state_.memory.Read(cells) : CellValue{state_.CountOf(semaphore), false});
  ++pc_[static_cast<std::size_t>(agent)];
  Settle(agent);
}

// All threads of a block come before any goes on: modelled as a barrier of its own. Then the first scope's memory is
// the second's, and no copy may have it in hand.
void ReferenceMachine::Enter(int agent) {
  state_.barriers.Enter(agent);
  for (const Copy& copy : copies()) {
    const bool reads_it = copy.what == What::kCopyOut || copy.what == What::kTensorCopy;
    const int halves = reads_it ? 1 : copy.what == What::kCopyIn ? 2 : 0;
    state_.faults.stale |= !copy.later && SameBlock(copy.issuer, agent) && copy.halves < halves;
  }
}

// ---- warps of a thread (docs/spec/gpu-warps.md)

bool ReferenceMachine::WarpsEnded(int thread) const {
  for (int w = 0; w < kWarpsOfThread; ++w) {
    if (Next(layout().WarpOf(thread, w)) != nullptr) return false;
  }
  return true;
}

// Warps begin with what their thread knows and has seen.
void ReferenceMachine::Fork(int thread) {
  begun_[static_cast<std::size_t>(thread)] = true;
  Listener* const listener = state_.listener;
  if (listener != nullptr) listener->Arrive(thread, {kForks + thread, 0}, true);
  for (int w = 0; w < kWarpsOfThread; ++w) {
    const int warp = layout().WarpOf(thread, w);
    if (listener != nullptr) listener->Wait(warp, {kForks + thread, 0});
    state_.SumOf(warp) = state_.SumOf(thread);
    state_.barriers.Fork(thread, warp);
    Settle(warp);
  }
}

void ReferenceMachine::Join(int thread) {
  Listener* const listener = state_.listener;
  if (listener == nullptr) return;
  for (int w = 0; w < kWarpsOfThread; ++w) listener->Arrive(layout().WarpOf(thread, w), {kJoins + thread, 0}, true);
  listener->Wait(thread, {kJoins + thread, 0});
}

void ReferenceMachine::CheckUneven(int agent, int barrier) {
  if (layout().IsWarp(agent) || !begun_[static_cast<std::size_t>(agent)]) return;
  if (layout().WarpOf(agent, 0) < agents()) state_.barriers.CheckUneven(agent, barrier);
}

// ---- one step

void ReferenceMachine::DoHalf(std::size_t at) {
  const Copy& copy = copies()[at];
  if (copy.what == What::kDma) return DoDmaHalf(at, state_);
  if (copy.what == What::kMulticast) return multicasts_.DoHalf(at, BlockHasEnded(copy.into), state_);
  if (IsOfPipeline(copy.what)) return DoPipelineHalf(at, state_);
  if (copy.what == What::kCopyIn || copy.what == What::kCopyOut) return BulkCopies::DoHalf(at, state_);
  TensorCores::DoHalf(at, state_);
}

void ReferenceMachine::Do(const Choice& choice) {
  if (choice.copy >= 0) return DoHalf(static_cast<std::size_t>(choice.copy));
  const int agent = choice.agent;
  const Instr& instr = *Next(agent);
  switch (instr.what) {
    case What::kResult:
      results_[static_cast<std::size_t>(instr.place)] = state_.SumOf(agent).number;
      state_.faults.leaked |= state_.SumOf(agent).undefined;
      state_.SumOf(agent) = {};
      break;
    case What::kLoad:
    case What::kStore:
    case What::kAtomicAdd:
    case What::kAtomicSee:
    case What::kExchange:
      Memory(agent, instr);
      break;
    case What::kSpin:
      return Look(agent);
    case What::kMulticast:
      multicasts_.Start(agent, instr, state_);
      break;
    case What::kDma:
      StartDma(agent, instr, state_);
      break;
    case What::kCopyIn:
    case What::kCopyOut:
      bulk_.Start(agent, instr, state_);
      break;
    case What::kTensorLoad:
    case What::kTensorStore:
    case What::kTensorAwait:
    case What::kTensorSettle:
    case What::kTensorCopy:
    case What::kProduct:
    case What::kTensorCommit:
      tensor_.Do(agent, instr, state_);
      break;
    case What::kNamedArrive:
    case What::kNamedWait:
      instr.what == What::kNamedArrive ? state_.barriers.ArriveNamed(agent, instr.op->object)
                                       : state_.barriers.WaitNamed(agent, instr.op->object);
      break;
    case What::kMeet:
    case What::kEnter:
      instr.what == What::kMeet ? state_.barriers.Meet(agent) : Enter(agent);
      break;
    case What::kAwait:
      bulk_.NotifyAwaited(agent, *instr.op, state_);
      break;
    case What::kFork:
    case What::kJoin:
      instr.what == What::kFork ? Fork(agent) : Join(agent);
      break;
    default:
      IsOfPipeline(instr.what) ? DoPipeline(instr, state_) : Sync(agent, *instr.op);
  }
  ++pc_[static_cast<std::size_t>(agent)];
  Settle(agent);
}

// ---- how it stands, and how it ended

std::string ReferenceMachine::State() const {
  std::string state;
  const auto add = [&](std::int64_t number) { Append(&state, number, ","); };
  for (const int pc : pc_) add(pc);
  for (const CellValue& sum : state_.sums) add(2 * sum.number + (sum.undefined ? 1 : 0));
  for (const std::int64_t result : results_) add(result);
  for (const CellValue& cell : state_.memory.cells()) add(2 * cell.number + (cell.undefined ? 1 : 0));
  state_.barriers.AddState(&state);
  for (const std::int64_t count : state_.semaphores) add(count);
  for (const Copy& copy : copies()) {
    for (const std::int64_t part :
         {static_cast<std::int64_t>(copy.issuer), static_cast<std::int64_t>(copy.line),
          static_cast<std::int64_t>(copy.halves), static_cast<std::int64_t>(copy.into), copy.values[0], copy.values[1],
          copy.values[2], copy.values[3], static_cast<std::int64_t>(copy.undefined)})
      add(part);
  }
  if (layout().has_tensor_memory()) tensor_.AddState(state_, &state);
  state_.barriers.AddBytesState(&state);
  multicasts_.AddState(layout().blocks(), &state);
  for (const bool begun : begun_) Append(&state, begun ? "1" : "0");
  return Cat(state, state_.faults.leaked ? "u" : "", state_.faults.stale ? "s" : "");
}

// m comes first, of each device that has one.
std::vector<std::int64_t> ReferenceMachine::CellsOfM() const {
  std::vector<std::int64_t> numbers;
  const int matrices = layout().is_tpu() && !layout().shares() ? layout().blocks() : 1;
  for (int i = 0; i < layout().rows() * kCellsOfRow * matrices; ++i) numbers.push_back(state_.memory.At(i).number);
  return numbers;
}

std::string ReferenceMachine::Outcome() const {
  const std::vector<std::int64_t> cells = CellsOfM();
  bool undefined = state_.faults.leaked;
  for (std::size_t i = 0; i < cells.size(); ++i) undefined |= state_.memory.At(static_cast<int>(i)).undefined;
  if (broken()) return "broken";
  if (state_.faults.stale) return "stale";
  if (!Done()) return "deadlock";
  if (undefined) return "undefined";
  std::string outcome;
  for (const std::int64_t result : results_) Append(&outcome, result, ",");
  for (const std::int64_t number : cells) Append(&outcome, number, ",");
  return outcome;
}

bool ReferenceMachine::LeavesSemaphores() const {
  for (const std::int64_t count : state_.semaphores) {
    if (count != 0) return true;
  }
  return false;
}

}  // namespace palladion::hunt
