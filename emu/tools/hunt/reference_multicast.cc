#include "emu/tools/hunt/reference_multicast.h"

#include "semantics/base/cat.h"

namespace palladion::hunt {
namespace {

constexpr int kBytesOfHalf = 256;

}  // namespace

Multicasts::Together& Multicasts::TogetherOf(int agent, int number) {
  std::vector<Together>& all = together_[static_cast<std::size_t>(agent)];
  if (static_cast<int>(all.size()) <= number) all.resize(static_cast<std::size_t>(number) + 1);
  return all[static_cast<std::size_t>(number)];
}

void Multicasts::Start(int agent, const Instr& instr, ReferenceState& state) {
  const ReferenceLayout& layout = *state.layout;
  const Op& op = *instr.op;
  int number = 0;
  for (const Together& earlier : together_[static_cast<std::size_t>(agent)]) number += earlier.op != nullptr ? 1 : 0;
  Together& here = TogetherOf(agent, number);
  here.op = &op;
  const int barrier = layout.BarrierOf(agent, op.object);
  ExpectPhase(&here, state.barriers.completed(barrier), &state.faults);
  state.barriers.Expect(barrier, layout.blocks() * kBytesOfHalf);
  const Part part = layout.BlockOf(agent) == 0 ? Part::kLow : Part::kHigh;
  for (int block = 0; block < layout.blocks(); ++block) {
    const int other = block * layout.threads() + agent % layout.threads();
    const Together& there = TogetherOf(other, number);
    if (there.op != nullptr)  // another copy than this one
      state.faults.broken |= there.op->row != op.row || there.op->to != op.to || there.op->object != op.object;
    Copy copy{.issuer = agent,
              .sequence = number,
              .op = &op,
              .what = What::kMulticast,
              .line = instr.line,
              .number = state.copy_count++,
              .into = block};
    if (state.listener != nullptr) {
      const int who = state.WhoOf(copy);
      state.listener->Issue(agent, copy.number, -1);
      state.listener->Touch(who, Access::kRead, state.CellsOf({agent, false}, Array::kX, op.row, part), copy.line);
      state.listener->Touch(who, Access::kWrite, state.CellsOf({other, false}, Array::kShared, op.to, part), copy.line);
    }
    state.copies.push_back(copy);
  }
  state.barriers.Arrive(agent, barrier, nullptr);
}

void Multicasts::ExpectPhase(Together* together, int phase, Faults* faults) {
  const bool other = together->phase >= 0 && together->phase != phase;
  faults->broken |= other;
  faults->early |= other;
  together->phase = phase;
}

void Multicasts::DoHalf(std::size_t at, bool ended, ReferenceState& state) {
  const ReferenceLayout& layout = *state.layout;
  Copy& copy = state.copies[at];
  const Op& op = *copy.op;
  const int other = copy.into * layout.threads() + copy.issuer % layout.threads();
  const Part part = layout.BlockOf(copy.issuer) == 0 ? Part::kLow : Part::kHigh;
  const bool reads = copy.halves++ == 0;
  state.MoveHalf(&copy,
                 reads ? state.CellsOf({copy.issuer, false}, Array::kX, op.row, part)
                       : state.CellsOf({other, false}, Array::kShared, op.to, part),
                 reads);
  if (reads) return;
  const Copy done = state.Take(at);
  state.faults.lost |= ended;  // what the memory of a block that has ended holds is not defined
  state.faults.broken |= ended;
  const int barrier = layout.BarrierOf(other, op.object);
  Together& together = TogetherOf(other, done.sequence);
  ExpectPhase(&together, state.barriers.completed(barrier), &state.faults);
  ++together.landed;
  state.barriers.Land(state.WhoOf(done), barrier, kBytesOfHalf);
}

void Multicasts::AddState(int blocks, std::string* state) const {
  for (const std::vector<Together>& all : together_) {
    for (const Together& one : all) {
      if (one.landed < blocks) Append(state, one.phase, ".", one.landed, ".", one.op != nullptr ? 1 : 0, ",");
    }
    Append(state, "/");
  }
}

}  // namespace palladion::hunt
