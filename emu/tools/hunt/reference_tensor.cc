#include "emu/tools/hunt/reference_tensor.h"

#include <algorithm>

#include "semantics/base/cat.h"

namespace palladion::hunt {
namespace {

bool OfCore(What what) { return what == What::kProduct || what == What::kTensorCopy || what == What::kTensorCommit; }

void Complete(int agent, const std::vector<int>& copies, const ReferenceState& state) {
  for (const int copy : copies) {
    if (state.listener != nullptr) state.listener->Complete(agent, copy);
  }
}

void ReportTouches(const Copy& copy, ReferenceState& state) {
  const Scoped where{copy.issuer, false};  // both scopes have the same bytes
  const Op& op = *copy.op;
  const auto touch = [&](Access access, const CellSpan& cells) {
    state.listener->Touch(state.WhoOf(copy), access, cells, copy.line);
  };
  if (copy.what == What::kTensorStore) return touch(Access::kWrite, state.CellsOf(where, op));
  if (copy.what == What::kTensorCopy) {
    touch(Access::kRead, state.CellsOf(where, Array::kShared, op.row, Part::kRow));
  } else {
    if (op.flag) touch(Access::kRead, state.CellsOf(where, Array::kTensor, op.to, Part::kRow));
    touch(Access::kRead, state.CellsOf(where, Array::kOperands, op.row, Part::kRow));
  }
  touch(Access::kWrite, state.CellsOf(where, Array::kTensor, op.to, Part::kRow));
}

}  // namespace

void TensorCores::Do(int agent, const Instr& instr, ReferenceState& state) {
  switch (instr.what) {
    case What::kTensorLoad:
      return Load(agent, instr, state);
    case What::kTensorAwait:
      return Complete(agent, loads_[static_cast<std::size_t>(agent)], state);
    case What::kTensorSettle:
      return Complete(agent, stores_[static_cast<std::size_t>(agent)], state);
    case What::kTensorCommit:
      return StartCommit(agent, instr, state);
    default:
      Start(agent, instr, state);
      if (instr.what == What::kProduct && instr.op->amount != 0) StartCommit(agent, instr, state);
  }
}

bool TensorCores::AreStoresDone(int agent, const ReferenceState& state) {
  return std::none_of(state.copies.begin(), state.copies.end(),
                      [&](const Copy& copy) { return copy.what == What::kTensorStore && copy.issuer == agent; });
}

// The value is what is there now; that another operation still reads it matters to races only.
void TensorCores::Load(int agent, const Instr& instr, ReferenceState& state) {
  const CellSpan cells = state.CellsOf({agent, instr.later}, *instr.op);
  const int copy = state.copy_count++;
  loads_[static_cast<std::size_t>(agent)].push_back(copy);
  if (state.listener != nullptr) {
    state.listener->Issue(agent, copy, -1);
    state.listener->Touch(state.layout->agents() + copy, Access::kRead, cells, instr.line);
  }
  state.Add(agent, state.memory.Read(cells));
}

void TensorCores::Start(int agent, const Instr& instr, ReferenceState& state) {
  const Op& op = *instr.op;
  Copy copy{.issuer = agent,
            .op = &op,
            .what = instr.what,
            .line = instr.line,
            .number = state.copy_count++,
            .later = instr.later,
            .halves = instr.what == What::kTensorStore ? 1 : 0};
  if (state.listener != nullptr) state.listener->Issue(agent, copy.number, -1);
  if (instr.what == What::kTensorStore) {
    const CellValue stored = op.amount == 0 ? state.SumOf(agent) : CellValue{op.amount, false};
    for (std::int64_t& value : copy.values) value = stored.number;
    copy.undefined = stored.undefined ? 0xfu : 0u;
    stores_[static_cast<std::size_t>(agent)].push_back(copy.number);
  } else {
    if (instr.what == What::kProduct) FollowEarlier(&copy, state);
    copy.tensor = static_cast<int>(ops_.size());
    ops_.push_back({copy.number, instr.what, op.to});
    known_[static_cast<std::size_t>(agent)].set(static_cast<std::size_t>(copy.tensor));
    given_[static_cast<std::size_t>(agent)].push_back(copy.number);
  }
  if (state.listener != nullptr) ReportTouches(copy, state);
  state.copies.push_back(copy);
}

// gpu-order.md#tmem.4
void TensorCores::FollowEarlier(Copy* product, const ReferenceState& state) const {
  const Issues& known = KnownOf(product->issuer);
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    const TensorOp& earlier = ops_[i];
    if (!known.test(i) || (earlier.what == What::kProduct && earlier.row != product->op->to)) continue;
    product->known.set(i);
    if (state.listener != nullptr) state.listener->Follow(product->number, earlier.copy);
  }
}

void TensorCores::StartCommit(int agent, const Instr& instr, ReferenceState& state) {
  Copy copy{.issuer = agent,
            .op = instr.op,
            .what = What::kTensorCommit,
            .known = KnownOf(agent),
            .line = instr.line,
            .number = state.copy_count++,
            .later = instr.later,
            .halves = 1};
  std::vector<int>& earlier = given_[static_cast<std::size_t>(agent)];
  if (state.listener != nullptr) {
    state.listener->Issue(agent, copy.number, -1);
    for (const int other : earlier) state.listener->Follow(copy.number, other);
  }
  earlier.push_back(copy.number);
  state.copies.push_back(copy);
}

void TensorCores::DoHalf(std::size_t at, ReferenceState& state) {
  Copy& copy = state.copies[at];
  const Op& op = *copy.op;
  const Scoped where{copy.issuer, copy.later};
  const auto cell = [&](const CellSpan& span, int i) -> CellValue& { return state.memory.At(span.cells[i]); };
  if (copy.halves++ == 0) {
    const bool product = copy.what == What::kProduct;
    const CellSpan from = state.CellsOf(where, product ? Array::kOperands : Array::kShared, op.row, Part::kRow);
    const CellSpan to = state.CellsOf(where, Array::kTensor, op.to, Part::kRow);
    for (int i = 0; i < kCellsOfRow; ++i) {
      CellValue value = cell(from, i);
      if (product) value = {value.number * cell(from, 0).number, value.undefined || cell(from, 0).undefined};
      if (product && op.flag) value = {value.number + cell(to, i).number, value.undefined || cell(to, i).undefined};
      copy.values[i] = WrapI32(value.number);
      copy.undefined |= value.undefined ? 1u << i : 0u;
    }
    return;
  }
  Copy done = state.Take(at);
  if (done.what == What::kTensorCommit)
    return state.barriers.Arrive(state.WhoOf(done), state.layout->BarrierOf(done.issuer, op.object), &done.known);
  const bool store = done.what == What::kTensorStore;
  const CellSpan to = store ? state.CellsOf(where, op) : state.CellsOf(where, Array::kTensor, op.to, Part::kRow);
  state.MoveHalf(&done, to, /*reads=*/false);
}

bool TensorCores::MayGo(const Copy& copy, const ReferenceState& state) {
  return std::none_of(state.copies.begin(), state.copies.end(), [&](const Copy& other) {
    if (copy.what == What::kProduct)
      return other.tensor >= 0 && copy.known.test(static_cast<std::size_t>(other.tensor));
    return copy.what == What::kTensorCommit && OfCore(other.what) && other.issuer == copy.issuer &&
           other.number < copy.number;
  });
}

// Of what is known only that matters which is under way.
void TensorCores::AddState(const ReferenceState& state, std::string* text) const {
  const auto add = [&](const Issues& issues) {
    for (const Copy& copy : state.copies) {
      if (copy.tensor >= 0) Append(text, issues.test(static_cast<std::size_t>(copy.tensor)) ? "1" : "0");
    }
    Append(text, ",");
  };
  for (const Issues& issues : known_) add(issues);
  state.barriers.VisitReleased(add);
  for (const Copy& copy : state.copies) {
    Append(text, static_cast<int>(copy.what), ":");
    add(copy.known);
  }
  state.barriers.AddNamedState(text);
}

}  // namespace palladion::hunt
