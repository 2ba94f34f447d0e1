// The reference machine's tensor memory and named barriers. Rules: docs/spec/gpu-order.md#tmem, gpu-tmem.md,
// gpu-tcgen05.md, gpu-named-barriers.md. A product is of one row of operands: its first element times each of them.
#include <algorithm>

#include "emu/tools/hunt/reference_machine.h"
#include "semantics/base/cat.h"

namespace palladion::hunt {
namespace {

constexpr int kCellsOfRow = 4;

std::int64_t Wrap(std::int64_t value) { return static_cast<std::int32_t>(static_cast<std::uint32_t>(value)); }

bool OfCore(What what) { return what == What::kProduct || what == What::kTensorCopy || what == What::kTensorCommit; }

}  // namespace

std::set<int> ReferenceMachine::CellsOfTensor() const {
  std::set<int> cells;
  for (int block = 0; tensor_ && block < blocks_; ++block) {
    for (int row = 0; row < rows_; ++row) {
      const CellSpan span = CellsOf({block * threads_, false}, Array::kTensor, row, Part::kRow);
      cells.insert(span.cells, span.cells + span.count);
    }
  }
  return cells;
}

int ReferenceMachine::NamedOf(int agent, int object) const { return Instance(agent) * named_per_ + object; }

// To come a second time before the phase is over, or one more than are counted, is not specified.
void ReferenceMachine::ArriveNamed(int agent, int object) {
  const int named = NamedOf(agent, object), barrier = static_cast<int>(barriers_.size()) + blocks_ + named;
  NamedState& state = named_[static_cast<std::size_t>(named)];
  int& here = state.here[static_cast<std::size_t>(agent)];
  broken_ |= here != 0;
  here = 1;
  state.joined[static_cast<std::size_t>(agent)] = state.completed;
  if (listener_ != nullptr) listener_->Arrive(agent, {barrier, state.completed}, false);
  if (++state.arrived < state.of) return;
  state.arrived = 0;
  ++state.completed;
  state.here.assign(state.here.size(), 0);
}

void ReferenceMachine::WaitNamed(int agent, int object) {
  const int named = NamedOf(agent, object), barrier = static_cast<int>(barriers_.size()) + blocks_ + named;
  const int joined = named_[static_cast<std::size_t>(named)].joined[static_cast<std::size_t>(agent)];
  if (listener_ != nullptr) listener_->Wait(agent, {barrier, joined});
}

void ReferenceMachine::Tensor(int agent, const Instr& instr) {
  const auto tell = [&](const std::vector<int>& copies) {
    for (const int copy : copies) {
      if (listener_ != nullptr) listener_->Complete(agent, copy);
    }
  };
  switch (instr.what) {
    case What::kTensorLoad:
      return LoadTensor(agent, instr);
    case What::kTensorAwait:
      return tell(loads_[static_cast<std::size_t>(agent)]);
    case What::kTensorSettle:
      return tell(stores_[static_cast<std::size_t>(agent)]);
    case What::kNamedArrive:
      return ArriveNamed(agent, instr.op->object);
    case What::kNamedWait:
      return WaitNamed(agent, instr.op->object);
    case What::kTensorCommit:
      return StartCommit(agent, instr);
    default:
      StartTensor(agent, instr);
      if (instr.what == What::kProduct && instr.op->amount != 0) StartCommit(agent, instr);
  }
}

// The value is what is there now; that another operation still reads it matters to races only.
void ReferenceMachine::LoadTensor(int agent, const Instr& instr) {
  const CellSpan cells = CellsOf({agent, instr.later}, *instr.op);
  const int copy = copy_count_++;
  loads_[static_cast<std::size_t>(agent)].push_back(copy);
  if (listener_ != nullptr) {
    listener_->Issue(agent, copy, -1);
    listener_->Touch(agents() + copy, Access::kRead, cells, instr.line);
  }
  Add(agent, Read(cells));
}

void ReferenceMachine::StartTensor(int agent, const Instr& instr) {
  const Op& op = *instr.op;
  Copy copy{.issuer = agent,
            .op = &op,
            .what = instr.what,
            .line = instr.line,
            .number = copy_count_++,
            .later = instr.later,
            .halves = instr.what == What::kTensorStore ? 1 : 0};
  if (listener_ != nullptr) listener_->Issue(agent, copy.number, -1);
  if (instr.what == What::kTensorStore) {
    const Value stored = op.amount == 0 ? sums_[static_cast<std::size_t>(agent)] : Value{op.amount, false};
    for (std::int64_t& value : copy.values) value = stored.number;
    copy.undefined = stored.undefined ? 0xfu : 0u;
    stores_[static_cast<std::size_t>(agent)].push_back(copy.number);
  } else {
    if (instr.what == What::kProduct) FollowEarlier(&copy);
    copy.tensor = static_cast<int>(tensor_ops_.size());
    tensor_ops_.push_back({copy.number, instr.what, op.to});
    issues_[static_cast<std::size_t>(agent)].set(static_cast<std::size_t>(copy.tensor));
    core_[static_cast<std::size_t>(agent)].push_back(copy.number);
  }
  if (listener_ != nullptr) TellTouches(copy);
  copies_.push_back(copy);
}

// gpu-order.md#tmem.4
void ReferenceMachine::FollowEarlier(Copy* product) {
  const Issues& known = issues_[static_cast<std::size_t>(product->issuer)];
  for (std::size_t i = 0; i < tensor_ops_.size(); ++i) {
    const TensorOp& earlier = tensor_ops_[i];
    if (!known.test(i) || (earlier.what == What::kProduct && earlier.row != product->op->to)) continue;
    product->known.set(i);
    if (listener_ != nullptr) listener_->Follow(product->number, earlier.copy);
  }
}

void ReferenceMachine::StartCommit(int agent, const Instr& instr) {
  Copy copy{.issuer = agent,
            .op = instr.op,
            .what = What::kTensorCommit,
            .known = issues_[static_cast<std::size_t>(agent)],
            .line = instr.line,
            .number = copy_count_++,
            .later = instr.later,
            .halves = 1};
  std::vector<int>& earlier = core_[static_cast<std::size_t>(agent)];
  if (listener_ != nullptr) {
    listener_->Issue(agent, copy.number, -1);
    for (const int other : earlier) listener_->Follow(copy.number, other);
  }
  earlier.push_back(copy.number);
  copies_.push_back(copy);
}

void ReferenceMachine::TellTouches(const Copy& copy) {
  const Scoped where{copy.issuer, false};  // both scopes have the same bytes
  const Op& op = *copy.op;
  const auto touch = [&](Access access, const CellSpan& cells) {
    listener_->Touch(agents() + copy.number, access, cells, copy.line);
  };
  if (copy.what == What::kTensorStore) return touch(Access::kWrite, CellsOf(where, op));
  if (copy.what == What::kTensorCopy) {
    touch(Access::kRead, CellsOf(where, Array::kShared, op.row, Part::kRow));
  } else {
    if (op.flag) touch(Access::kRead, CellsOf(where, Array::kTensor, op.to, Part::kRow));
    touch(Access::kRead, CellsOf(where, Array::kOperands, op.row, Part::kRow));
  }
  touch(Access::kWrite, CellsOf(where, Array::kTensor, op.to, Part::kRow));
}

void ReferenceMachine::DoTensorHalf(std::size_t at) {
  Copy& copy = copies_[at];
  const Op& op = *copy.op;
  const Scoped where{copy.issuer, copy.later};
  const auto cell = [&](const CellSpan& span, int i) -> Value& {
    return cells_[static_cast<std::size_t>(span.cells[i])];
  };
  if (copy.halves++ == 0) {
    const bool product = copy.what == What::kProduct;
    const CellSpan from = CellsOf(where, product ? Array::kOperands : Array::kShared, op.row, Part::kRow);
    const CellSpan to = CellsOf(where, Array::kTensor, op.to, Part::kRow);
    for (int i = 0; i < kCellsOfRow; ++i) {
      Value value = cell(from, i);
      if (product) value = {value.number * cell(from, 0).number, value.undefined || cell(from, 0).undefined};
      if (product && op.flag) value = {value.number + cell(to, i).number, value.undefined || cell(to, i).undefined};
      copy.values[i] = Wrap(value.number);
      copy.undefined |= value.undefined ? 1u << i : 0u;
    }
    return;
  }
  Copy done = copy;
  copies_.erase(copies_.begin() + static_cast<std::ptrdiff_t>(at));
  if (done.what == What::kTensorCommit)
    return ArriveAt(agents() + done.number, BarrierOf(done.issuer, op.object), &done.known);
  const bool store = done.what == What::kTensorStore;
  const CellSpan to = store ? CellsOf(where, op) : CellsOf(where, Array::kTensor, op.to, Part::kRow);
  MoveHalf(&done, to, /*reads=*/false);
}

bool ReferenceMachine::TensorMayGo(const Copy& copy) const {
  return std::none_of(copies_.begin(), copies_.end(), [&](const Copy& other) {
    if (copy.what == What::kProduct)
      return other.tensor >= 0 && copy.known.test(static_cast<std::size_t>(other.tensor));
    return copy.what == What::kTensorCommit && OfCore(other.what) && other.issuer == copy.issuer &&
           other.number < copy.number;
  });
}

// Of what is known, only operations in flight matter.
void ReferenceMachine::AddTensorState(std::string* state) const {
  const auto add = [&](const Issues& issues) {
    for (const Copy& copy : copies_) {
      if (copy.tensor >= 0) Append(state, issues.test(static_cast<std::size_t>(copy.tensor)) ? "1" : "0");
    }
    Append(state, ",");
  };
  for (const Issues& issues : issues_) add(issues);
  for (const BarrierState& barrier : barriers_) {
    for (const Issues& told : barrier.told) add(told);
  }
  for (const Copy& copy : copies_) {
    Append(state, static_cast<int>(copy.what), ":");
    add(copy.known);
  }
  for (const NamedState& named : named_) {
    Append(state, named.arrived, ",", named.completed, ",");
    for (const int here : named.here) Append(state, here);
    for (const int joined : named.joined) Append(state, ",", joined);
  }
}

}  // namespace palladion::hunt
