// The reference machine's copies that the two blocks of a cluster make together: each block sends its half of a row to
// both, and each half lands in each block at a time of its own. Rules: docs/spec/gpu-copies.md#copy_gmem_to_smem.
#include "emu/tools/hunt/reference_machine.h"
#include "semantics/base/cat.h"

namespace palladion::hunt {
namespace {

constexpr int kBytesOfHalf = 256;

}  // namespace

ReferenceMachine::Together& ReferenceMachine::TogetherOf(int agent, int number) {
  std::vector<Together>& all = together_[static_cast<std::size_t>(agent)];
  if (static_cast<int>(all.size()) <= number) all.resize(static_cast<std::size_t>(number) + 1);
  return all[static_cast<std::size_t>(number)];
}

// The call is an arrival, which expects both halves; it and what has landed before it have to be of one phase.
void ReferenceMachine::StartMulticast(int agent, const Instr& instr) {
  const Op& op = *instr.op;
  int number = 0;
  for (const Together& earlier : together_[static_cast<std::size_t>(agent)]) number += earlier.op != nullptr ? 1 : 0;
  Together& here = TogetherOf(agent, number);
  here.op = &op;
  const int barrier = BarrierOf(agent, op.object);
  ExpectPhase(&here, barriers_[static_cast<std::size_t>(barrier)].completed);
  barriers_[static_cast<std::size_t>(barrier)].bytes += blocks_ * kBytesOfHalf;
  const Part part = Instance(agent) == 0 ? Part::kLow : Part::kHigh;
  for (int block = 0; block < blocks_; ++block) {
    const int other = block * threads_ + agent % threads_;
    const Together& there = TogetherOf(other, number);
    if (there.op != nullptr)  // another copy than this one
      broken_ |= there.op->row != op.row || there.op->to != op.to || there.op->object != op.object;
    Copy copy{.issuer = agent,
              .sequence = number,
              .op = &op,
              .what = What::kMulticast,
              .line = instr.line,
              .number = copy_count_++,
              .into = block};
    if (listener_ != nullptr) {
      const int who = agents() + copy.number;
      listener_->Issue(agent, copy.number, -1);
      listener_->Touch(who, Access::kRead, CellsOf({agent, false}, Array::kX, op.row, part), copy.line);
      listener_->Touch(who, Access::kWrite, CellsOf({other, false}, Array::kShared, op.to, part), copy.line);
    }
    copies_.push_back(copy);
  }
  ArriveAt(agent, barrier, nullptr);
}

void ReferenceMachine::ExpectPhase(Together* together, int phase) {
  const bool other = together->phase >= 0 && together->phase != phase;
  broken_ |= other;
  early_ |= other;
  together->phase = phase;
}

void ReferenceMachine::DoMulticastHalf(std::size_t at) {
  Copy& copy = copies_[at];
  const Op& op = *copy.op;
  const int other = copy.into * threads_ + copy.issuer % threads_;
  const Part part = Instance(copy.issuer) == 0 ? Part::kLow : Part::kHigh;
  const bool reads = copy.halves++ == 0;
  MoveHalf(&copy,
           reads ? CellsOf({copy.issuer, false}, Array::kX, op.row, part)
                 : CellsOf({other, false}, Array::kShared, op.to, part),
           reads);
  if (reads) return;
  const Copy done = copy;
  copies_.erase(copies_.begin() + static_cast<std::ptrdiff_t>(at));
  bool ended = true;
  for (int i = done.into * threads_; i < (done.into + 1) * threads_; ++i) ended = ended && Next(i) == nullptr;
  lost_ |= ended;  // what the memory of a block that has ended holds is not defined
  broken_ |= ended;
  const int barrier = BarrierOf(other, op.object);
  BarrierState& state = barriers_[static_cast<std::size_t>(barrier)];
  Together& together = TogetherOf(other, done.sequence);
  ExpectPhase(&together, state.completed);
  ++together.landed;
  if (listener_ != nullptr) listener_->Arrive(agents() + done.number, {barrier, state.completed}, false);
  state.bytes -= kBytesOfHalf;
  Complete(&state);
}

void ReferenceMachine::AddClusterState(std::string* state) const {
  for (const BarrierState& barrier : barriers_) {
    if (barrier.bytes != 0) Append(state, "b", barrier.bytes);
    Append(state, ";");
  }
  for (const std::vector<Together>& all : together_) {
    for (const Together& one : all) {
      if (one.landed < blocks_) Append(state, one.phase, ".", one.landed, ".", one.op != nullptr ? 1 : 0, ",");
    }
    Append(state, "/");
  }
}

}  // namespace palladion::hunt
