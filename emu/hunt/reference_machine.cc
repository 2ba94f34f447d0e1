#include "emu/hunt/reference_machine.h"

#include <algorithm>

#include "semantics/base/cat.h"

namespace palladion::hunt {
namespace {

constexpr int kCellsOfRow = 4, kCellsOfUnion = 8;

// Arithmetic of i32.
std::int64_t Wrap(std::int64_t value) { return static_cast<std::int32_t>(static_cast<std::uint32_t>(value)); }

}  // namespace

// The cells: m, x, then of each block its shared memory, that of the second scope, the union; and where there is tensor
// memory, the operands of products and it.
ReferenceMachine::ReferenceMachine(const HuntKernel& kernel, const Written& written) : written_(written) {
  const std::size_t agents = written.code.size();
  tpu_ = kernel.family == Family::kTpu;
  programs_ = kernel.family == Family::kPrograms;
  shares_ = kernel.cores != Cores::kDevices;
  blocks_ = kernel.blocks;
  threads_ = static_cast<int>(agents) / blocks_;
  rows_ = kernel.rows;
  barriers_per_ = static_cast<int>(kernel.arrivals.size());
  pc_.assign(agents, 0);
  sums_.assign(agents, {});
  results_.assign(kernel.agents.size(), 0);
  copies_out_.assign(agents, 0);
  met_.assign(static_cast<std::size_t>(blocks_), 0);
  semaphores_per_ = kernel.semaphores;
  sems_per_ = semaphores_per_ + kernel.dmas;
  semaphores_.assign(static_cast<std::size_t>(sems_per_ * (tpu_ ? blocks_ : 1)), 0);
  if (tpu_) {
    AddTpuCells();
    return;
  }
  for (int row = 0; row < rows_; ++row) cells_.insert(cells_.end(), kCellsOfRow, {InputOfM(row), false});
  for (int row = 0; row < rows_; ++row) cells_.insert(cells_.end(), kCellsOfRow, {InputOfX(row), false});
  tensor_ = kernel.tensor;
  cells_of_block_ = (tensor_ ? 4 : 2) * rows_ * kCellsOfRow + kCellsOfUnion;
  named_per_ = static_cast<int>(kernel.named.size());
  for (std::size_t i = 0; i < kernel.arrivals.size(); ++i) orders_.push_back(hunt::OrdersTensorCore(kernel, i));
  issues_.resize(agents);
  loads_.resize(agents);
  stores_.resize(agents);
  core_.resize(agents);
  for (int block = 0; block < blocks_; ++block) {
    cells_.insert(cells_.end(), static_cast<std::size_t>(cells_of_block_), {0, true});
    for (const int arrivals : kernel.arrivals)
      barriers_.push_back({arrivals == 0 ? blocks_ : arrivals, 0, 0, std::vector<int>(agents, 0), {Issues()}});
    for (const int of : kernel.named)
      named_.push_back({of, 0, 0, std::vector<int>(agents, 0), std::vector<int>(agents, -1)});
  }
  for (const int arrivals : kernel.arrivals) of_cluster_.push_back(arrivals == 0);
  for (int i = 0; i < this->agents(); ++i) Settle(i);
}

CellSpan ReferenceMachine::CellsOf(const Scoped& where, Array array, int row, Part part) const {
  if (tpu_) return TpuCellsOf(where.agent, array, row, part);
  const int matrix = rows_ * kCellsOfRow, own = Instance(where.agent);
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

CellSpan ReferenceMachine::CellsOf(const Scoped& where, const Op& op) {
  if (!op.dynamic || op.array == Array::kUnion) return CellsOf(where, op.array, op.row, op.part);
  const Value& sum = sums_[static_cast<std::size_t>(where.agent)];
  leaked_ |= sum.undefined;
  return CellsOf(where, op.array, static_cast<int>((op.row + (sum.number & 1)) % rows_), op.part);
}

// On to the next operation that others can see.
void ReferenceMachine::Settle(int agent) {
  const std::vector<Instr>& code = written_.code[static_cast<std::size_t>(agent)];
  int& pc = pc_[static_cast<std::size_t>(agent)];
  for (; pc < static_cast<int>(code.size()); ++pc) {
    const Instr& instr = code[static_cast<std::size_t>(pc)];
    if (instr.what != What::kIf && instr.what != What::kJump) return;
    const Value& sum = sums_[static_cast<std::size_t>(agent)];
    if (instr.what == What::kIf) leaked_ |= sum.undefined;
    if (instr.what == What::kJump || (sum.number & 1) == 0) pc += instr.skip;
  }
}

const Instr* ReferenceMachine::Next(int agent) const {
  const std::vector<Instr>& code = written_.code[static_cast<std::size_t>(agent)];
  const auto pc = static_cast<std::size_t>(pc_[static_cast<std::size_t>(agent)]);
  return pc < code.size() ? &code[pc] : nullptr;
}

bool ReferenceMachine::AwaitDone(int agent, const Op& op) const {
  return std::none_of(copies_.begin(), copies_.end(), [&](const Copy& copy) {
    return copy.op->what == What::kCopyOut && copy.issuer == agent && copy.halves < (op.flag ? 1 : 2) &&
           copy.sequence < copies_out_[static_cast<std::size_t>(agent)] - op.amount;
  });
}

bool ReferenceMachine::CanGo(int agent) const {
  const Instr* next = Next(agent);
  if (next == nullptr) return false;
  if (next->what == What::kWait) {
    const BarrierState& barrier = barriers_[static_cast<std::size_t>(BarrierOf(agent, next->op->object))];
    return barrier.completed > barrier.seen[static_cast<std::size_t>(agent)];
  }
  if (next->what == What::kSemWait)
    return semaphores_[static_cast<std::size_t>(SemaphoreOf(agent, *next->op))] >= next->op->amount;
  if (next->what == What::kFetchWait) return !InFlight(What::kFetchStart, next->slot);
  if (next->what == What::kFlushWait) return !InFlight(What::kFlushStart, next->slot);
  if (next->what == What::kSpin) return SpinEnds(agent, *next->op);
  if (next->what == What::kDmaWait)
    return semaphores_[static_cast<std::size_t>(DmaSemaphoreOf(agent, next->op->object))] >= BytesOf(next->op->part);
  if (next->what == What::kEnter) return met_[static_cast<std::size_t>(Instance(agent))] == threads_;
  if (next->what == What::kAwait) return AwaitDone(agent, *next->op);
  if (next->what == What::kNamedWait) {
    const NamedState& named = named_[static_cast<std::size_t>(NamedOf(agent, next->op->object))];
    return named.completed > named.joined[static_cast<std::size_t>(agent)];
  }
  if (next->what == What::kTensorSettle)
    return std::none_of(copies_.begin(), copies_.end(),
                        [&](const Copy& copy) { return copy.what == What::kTensorStore && copy.issuer == agent; });
  return true;
}

// Copies out of one agent read in the order of issue, and write in it; copies in have no order.
bool ReferenceMachine::MayGo(const Copy& copy) const {
  if (copy.what == What::kCopyIn || copy.what == What::kDma || OfPipeline(copy.what)) return true;
  if (copy.what != What::kCopyOut) return TensorMayGo(copy);
  return std::none_of(copies_.begin(), copies_.end(), [&](const Copy& other) {
    return other.op->what == What::kCopyOut && other.issuer == copy.issuer && other.sequence < copy.sequence &&
           other.halves <= copy.halves;
  });
}

std::vector<Choice> ReferenceMachine::Choices() const {
  std::vector<Choice> choices;
  if (broken_) return choices;
  for (int i = 0; i < agents(); ++i) {
    if (CanGo(i)) choices.push_back({i, -1});
  }
  for (std::size_t i = 0; i < copies_.size(); ++i) {
    if (MayGo(copies_[i])) choices.push_back({copies_[i].issuer, static_cast<int>(i)});
  }
  return choices;
}

bool ReferenceMachine::Done() const {
  for (int i = 0; i < agents(); ++i) {
    if (Next(i) != nullptr) return false;
  }
  return true;
}

void ReferenceMachine::Add(int agent, const Value& value) {
  Value& sum = sums_[static_cast<std::size_t>(agent)];
  sum = {Wrap(3 * sum.number + value.number), sum.undefined || value.undefined};
}

ReferenceMachine::Value ReferenceMachine::Read(const CellSpan& cells) const {
  Value value;
  for (int i = 0; i < cells.count; ++i) {
    const Value& cell = cells_[static_cast<std::size_t>(cells.cells[i])];
    const std::int64_t elements = cells.cells[i] % 2 == 0 ? 1 : 63;
    value = {Wrap(value.number + elements * cell.number), value.undefined || cell.undefined};
  }
  return value;
}

void ReferenceMachine::Memory(int agent, const Instr& instr) {
  const Op& op = *instr.op;
  const CellSpan cells = CellsOf({agent, instr.later}, op);
  const bool reads = op.what != What::kStore && op.what != What::kAtomicAdd, writes = op.what != What::kLoad;
  const bool updates = writes && op.what != What::kStore;
  if (listener_ != nullptr) {
    const CellSpan bytes = CellsOf({agent, false}, op);  // both scopes have the same
    if (updates) listener_->Acquire(agent, bytes);
    listener_->Touch(agent, updates ? Access::kUpdate : writes ? Access::kWrite : Access::kRead, bytes, instr.line);
    if (updates) listener_->Release(agent, bytes);
  }
  const Value sum = sums_[static_cast<std::size_t>(agent)];
  if (reads) Add(agent, Read(cells));
  const Value stored = op.amount == 0 ? sum : Value{op.amount, false};
  for (int i = 0; i < cells.count && writes; ++i) {
    Value& cell = cells_[static_cast<std::size_t>(cells.cells[i])];
    const bool adds = op.what == What::kAtomicAdd || op.what == What::kAtomicSee;
    cell = {adds ? Wrap(cell.number + stored.number) : stored.number, stored.undefined || (adds && cell.undefined)};
  }
}

// `told`: the operations of tensor cores that are known; nullptr: none are told of.
void ReferenceMachine::ArriveAt(int who, int barrier, const Issues* told) {
  BarrierState& state = barriers_[static_cast<std::size_t>(barrier)];
  const bool tells = told != nullptr && OrdersTensorCore(barrier);
  if (listener_ != nullptr) listener_->Arrive(who, {barrier, state.completed}, tells);
  if (tells) state.told.back() |= *told;
  if (++state.arrived < state.arrivals) return;
  state.arrived = 0;
  broken_ |= std::all_of(state.seen.begin(), state.seen.end(), [&](int seen) { return seen < state.completed; });
  ++state.completed;
  state.told.emplace_back();
}

// An arrival at a cluster's barrier counts in each block.
void ReferenceMachine::ArriveFrom(int agent, int object) {
  const bool of_cluster = of_cluster_[static_cast<std::size_t>(object)];
  for (int block = 0; block < blocks_; ++block) {
    if (of_cluster || block == Instance(agent))
      ArriveAt(agent, block * barriers_per_ + object, &issues_[static_cast<std::size_t>(agent)]);
  }
}

void ReferenceMachine::TakePhase(int agent, int barrier) {
  BarrierState& state = barriers_[static_cast<std::size_t>(barrier)];
  int& seen = state.seen[static_cast<std::size_t>(agent)];
  if (listener_ != nullptr) listener_->Wait(agent, {barrier, seen});
  issues_[static_cast<std::size_t>(agent)] |= state.told[static_cast<std::size_t>(seen)];
  ++seen;
}

void ReferenceMachine::Sync(int agent, const Op& op) {
  const int barrier = BarrierOf(agent, op.object), semaphore = SemaphoreOf(agent, op);
  std::int64_t* const count = sems_per_ == 0 ? nullptr : &semaphores_[static_cast<std::size_t>(semaphore)];
  switch (op.what) {
    case What::kArrive:
      return ArriveFrom(agent, op.object);
    case What::kWait:
      return TakePhase(agent, barrier);
    case What::kTest: {
      const BarrierState& state = barriers_[static_cast<std::size_t>(barrier)];
      const bool can = state.completed > state.seen[static_cast<std::size_t>(agent)];
      if (can) TakePhase(agent, barrier);
      return Add(agent, {can ? 1 : 0, false});
    }
    case What::kFence:
      if (listener_ != nullptr) listener_->Fence(agent);
      return;
    case What::kSignal:
      if (listener_ != nullptr) listener_->Signal(agent, semaphore, op.amount);
      *count += op.amount;
      return;
    case What::kSemWait:
    case What::kDmaWait: {
      const std::int64_t amount = op.what == What::kDmaWait ? BytesOf(op.part) : op.amount;
      if (listener_ != nullptr) listener_->SemWait(agent, semaphore, amount, !op.flag);
      if (!op.flag) *count -= amount;
      return;
    }
    case What::kSemRead:
      if (listener_ != nullptr) listener_->SemRead(agent, semaphore);
      return Add(agent, {*count, false});
    default:
      return;
  }
}

// All threads of a block come before any goes on: told as a barrier of its own. Then the first scope's memory is the
// second's, and no copy may have it in hand.
void ReferenceMachine::Meet(int agent, bool enters) {
  const int block = Instance(agent), barrier = static_cast<int>(barriers_.size()) + block;
  if (!enters) ++met_[static_cast<std::size_t>(block)];
  if (listener_ != nullptr && !enters) listener_->Arrive(agent, {barrier, 0}, false);
  if (listener_ != nullptr && enters) listener_->Wait(agent, {barrier, 0});
  for (const Copy& copy : copies_) {
    const bool reads_it = copy.what == What::kCopyOut || copy.what == What::kTensorCopy;
    const int halves = reads_it ? 1 : copy.what == What::kCopyIn ? 2 : 0;
    stale_ |= enters && !copy.later && Instance(copy.issuer) == block && copy.halves < halves;
  }
}

void ReferenceMachine::StartCopy(int agent, const Instr& instr) {
  Copy copy{.issuer = agent,
            .op = instr.op,
            .what = instr.what,
            .line = instr.line,
            .number = copy_count_++,
            .later = instr.later};
  if (instr.what == What::kCopyOut) copy.sequence = copies_out_[static_cast<std::size_t>(agent)]++;
  const bool in = instr.what == What::kCopyIn;
  if (listener_ != nullptr) {
    const int who = agents() + copy.number;
    const Scoped where{agent, false};  // both scopes have the same bytes
    listener_->Issue(agent, copy.number, !in);
    listener_->Touch(who, Access::kRead, CellsOf(where, in ? Array::kX : Array::kShared, copy.op->row, Part::kRow),
                     copy.line);
    listener_->Touch(who, Access::kWrite, CellsOf(where, in ? Array::kShared : Array::kM, copy.op->to, Part::kRow),
                     copy.line);
  }
  copies_.push_back(copy);
}

void ReferenceMachine::DoHalf(std::size_t at) {
  Copy& copy = copies_[at];
  if (copy.what == What::kDma) return DoDmaHalf(at);
  if (OfPipeline(copy.what)) return DoPipelineHalf(at);
  if (copy.what != What::kCopyIn && copy.what != What::kCopyOut) return DoTensorHalf(at);
  const bool in = copy.op->what == What::kCopyIn;
  const bool reads = copy.halves++ == 0;
  const Array from = in ? Array::kX : Array::kShared, to = in ? Array::kShared : Array::kM;
  const CellSpan cells =
      CellsOf({copy.issuer, copy.later}, reads ? from : to, reads ? copy.op->row : copy.op->to, Part::kRow);
  for (int i = 0; i < kCellsOfRow; ++i) {
    Value& cell = cells_[static_cast<std::size_t>(cells.cells[i])];
    const unsigned bit = 1u << i;
    if (reads) {
      copy.values[i] = cell.number;
      copy.undefined |= cell.undefined ? bit : 0u;
    } else {
      cell = {copy.values[i], (copy.undefined & bit) != 0};
    }
  }
  if (reads) return;
  const int who = agents() + copy.number, barrier = BarrierOf(copy.issuer, copy.op->object);
  copies_.erase(copies_.begin() + static_cast<std::ptrdiff_t>(at));
  if (in) ArriveAt(who, barrier, nullptr);
}

void ReferenceMachine::Do(const Choice& choice) {
  if (choice.copy >= 0) return DoHalf(static_cast<std::size_t>(choice.copy));
  const Instr& instr = *Next(choice.agent);
  const auto agent = static_cast<std::size_t>(choice.agent);
  switch (instr.what) {
    case What::kResult:
      results_[static_cast<std::size_t>(instr.place)] = sums_[agent].number;
      leaked_ |= sums_[agent].undefined;
      sums_[agent] = {};
      break;
    case What::kLoad:
    case What::kStore:
    case What::kAtomicAdd:
    case What::kAtomicSee:
    case What::kExchange:
      Memory(choice.agent, instr);
      break;
    case What::kSpin:
      return Look(choice.agent);
    case What::kDma:
      StartDma(choice.agent, instr);
      break;
    case What::kCopyIn:
    case What::kCopyOut:
      StartCopy(choice.agent, instr);
      break;
    case What::kTensorLoad:
    case What::kTensorStore:
    case What::kTensorAwait:
    case What::kTensorSettle:
    case What::kTensorCopy:
    case What::kProduct:
    case What::kTensorCommit:
    case What::kNamedArrive:
    case What::kNamedWait:
      Tensor(choice.agent, instr);
      break;
    case What::kMeet:
    case What::kEnter:
      Meet(choice.agent, instr.what == What::kEnter);
      break;
    case What::kAwait:
      if (listener_ != nullptr)
        listener_->Await(choice.agent, copies_out_[agent] - static_cast<int>(instr.op->amount), instr.op->flag ? 1 : 2);
      break;
    default:
      if (OfPipeline(instr.what)) {
        Pipeline(instr);
      } else {
        Sync(choice.agent, *instr.op);
      }
  }
  ++pc_[agent];
  Settle(choice.agent);
}

}  // namespace palladion::hunt
