#include "emu/tools/hunt/reference_machine.h"

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
ReferenceMachine::ReferenceMachine(const HuntKernel& kernel, const Written& written, Mutation mutation)
    : written_(written), mutation_(mutation) {
  const std::size_t agents = written.code.size();
  tpu_ = kernel.family == Family::kTpu;
  programs_ = kernel.family == Family::kPrograms;
  shares_ = kernel.cores != Cores::kDevices;
  blocks_ = kernel.blocks;
  threads_ = static_cast<int>(tpu_ ? agents : kernel.agents.size()) / blocks_;
  rows_ = kernel.rows;
  barriers_per_ = static_cast<int>(kernel.arrivals.size());
  pc_.assign(agents, 0);
  sums_.assign(agents, {});
  results_.assign(kernel.agents.size(), 0);
  copies_out_.assign(agents, 0);
  together_.resize(agents);
  begun_.assign(agents, false);
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
  const std::vector<int> queues = QueuesOf(agent);
  return std::none_of(copies_.begin(), copies_.end(), [&](const Copy& copy) {
    return copy.op->what == What::kCopyOut && copy.halves < (op.flag ? 1 : 2) &&
           std::find(queues.begin(), queues.end(), copy.queue) != queues.end() &&
           copy.sequence < copies_out_[static_cast<std::size_t>(copy.queue)] - op.amount;
  });
}

bool ReferenceMachine::CanGo(int agent) const {
  const Instr* next = Next(agent);
  if (next == nullptr || !HasBegun(agent)) return false;
  if (next->what == What::kJoin) return WarpsEnded(agent);
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
  if (copy.what == What::kCopyIn || copy.what == What::kMulticast || copy.what == What::kDma || OfPipeline(copy.what))
    return true;
  if (copy.what != What::kCopyOut) return TensorMayGo(copy);
  return std::none_of(copies_.begin(), copies_.end(), [&](const Copy& other) {
    return other.op->what == What::kCopyOut && other.queue == copy.queue && other.sequence < copy.sequence &&
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

void ReferenceMachine::Sync(int agent, const Op& op) {
  const int barrier = BarrierOf(agent, op.object), semaphore = SemaphoreOf(agent, op);
  std::int64_t* const count = sems_per_ == 0 ? nullptr : &semaphores_[static_cast<std::size_t>(semaphore)];
  switch (op.what) {
    case What::kArrive:
      return ArriveFrom(agent, op.object);
    case What::kWait:
      CheckUneven(agent, barrier);
      return TakePhase(agent, barrier);
    case What::kTest: {
      CheckUneven(agent, barrier);
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
      if (!op.flag && mutation_ != Mutation::kCreditsStay) *count -= amount;
      return;
    }
    case What::kSemRead:
      if (listener_ != nullptr) listener_->SemRead(agent, semaphore);
      return Add(agent, {*count, false});
    default:
      return;
  }
}

void ReferenceMachine::StartCopy(int agent, const Instr& instr) {
  Copy copy{.issuer = agent,
            .op = instr.op,
            .what = instr.what,
            .line = instr.line,
            .number = copy_count_++,
            .later = instr.later};
  const bool in = instr.what == What::kCopyIn;
  if (!in) copy.queue = QueuesOf(agent).front();
  if (!in) copy.sequence = copies_out_[static_cast<std::size_t>(copy.queue)]++;
  if (listener_ != nullptr) {
    const int who = agents() + copy.number;
    const Scoped where{agent, false};  // both scopes have the same bytes
    listener_->Issue(agent, copy.number, copy.queue);
    listener_->Touch(who, Access::kRead, CellsOf(where, in ? Array::kX : Array::kShared, copy.op->row, Part::kRow),
                     copy.line);
    listener_->Touch(who, Access::kWrite, CellsOf(where, in ? Array::kShared : Array::kM, copy.op->to, Part::kRow),
                     copy.line);
  }
  copies_.push_back(copy);
}

void ReferenceMachine::MoveHalf(Copy* copy, const CellSpan& cells, bool reads) {
  for (int i = 0; i < cells.count; ++i) {
    Value& cell = cells_[static_cast<std::size_t>(cells.cells[i])];
    const unsigned bit = 1u << i;
    if (reads) {
      copy->values[i] = cell.number;
      copy->undefined |= cell.undefined ? bit : 0u;
    } else {
      cell = {copy->values[i], (copy->undefined & bit) != 0};
    }
  }
}

void ReferenceMachine::DoHalf(std::size_t at) {
  Copy& copy = copies_[at];
  if (copy.what == What::kDma) return DoDmaHalf(at);
  if (copy.what == What::kMulticast) return DoMulticastHalf(at);
  if (OfPipeline(copy.what)) return DoPipelineHalf(at);
  if (copy.what != What::kCopyIn && copy.what != What::kCopyOut) return DoTensorHalf(at);
  const bool in = copy.op->what == What::kCopyIn;
  const bool reads = copy.halves++ == 0;
  const Array from = in ? Array::kX : Array::kShared, to = in ? Array::kShared : Array::kM;
  const CellSpan cells =
      CellsOf({copy.issuer, copy.later}, reads ? from : to, reads ? copy.op->row : copy.op->to, Part::kRow);
  MoveHalf(&copy, cells, reads);
  if (reads) return;
  const int who = agents() + copy.number, barrier = BarrierOf(copy.issuer, copy.op->object);
  copies_.erase(copies_.begin() + static_cast<std::ptrdiff_t>(at));
  if (in) ArriveAt(who, barrier, nullptr);
}

void ReferenceMachine::NotifyAwaited(int agent, const Op& op) {
  for (const int queue : QueuesOf(agent)) {
    const int count = copies_out_[static_cast<std::size_t>(queue)] - static_cast<int>(op.amount);
    if (listener_ != nullptr) listener_->Await(agent, queue, count, op.flag ? 1 : 2);
  }
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
    case What::kMulticast:
      StartMulticast(choice.agent, instr);
      break;
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
      NotifyAwaited(choice.agent, *instr.op);
      break;
    case What::kFork:
    case What::kJoin:
      instr.what == What::kFork ? Fork(choice.agent) : Join(choice.agent);
      break;
    default:
      OfPipeline(instr.what) ? Pipeline(instr) : Sync(choice.agent, *instr.op);
  }
  ++pc_[agent];
  Settle(choice.agent);
}

}  // namespace palladion::hunt
