#include "emu/tools/hunt/reference_bulk.h"

#include <algorithm>

namespace palladion::hunt {

void BulkCopies::Start(int agent, const Instr& instr, ReferenceState& state) {
  Copy copy{.issuer = agent,
            .op = instr.op,
            .what = instr.what,
            .line = instr.line,
            .number = state.copy_count++,
            .later = instr.later};
  const bool in = instr.what == What::kCopyIn;
  if (!in) copy.queue = state.layout->QueuesOf(agent).front();
  if (!in) copy.sequence = IssuedOf(copy.queue)++;
  if (state.listener != nullptr) {
    const int who = state.WhoOf(copy);
    const Scoped where{agent, false};  // both scopes have the same bytes
    state.listener->Issue(agent, copy.number, copy.queue);
    state.listener->Touch(who, Access::kRead,
                          state.CellsOf(where, in ? Array::kX : Array::kShared, copy.op->row, Part::kRow), copy.line);
    state.listener->Touch(who, Access::kWrite,
                          state.CellsOf(where, in ? Array::kShared : Array::kM, copy.op->to, Part::kRow), copy.line);
  }
  state.copies.push_back(copy);
}

bool BulkCopies::MayGo(const Copy& copy, const ReferenceState& state) {
  if (copy.what == What::kCopyIn) return true;
  return std::none_of(state.copies.begin(), state.copies.end(), [&](const Copy& other) {
    return other.op->what == What::kCopyOut && other.queue == copy.queue && other.sequence < copy.sequence &&
           other.halves <= copy.halves;
  });
}

void BulkCopies::DoHalf(std::size_t at, ReferenceState& state) {
  Copy& copy = state.copies[at];
  const bool in = copy.op->what == What::kCopyIn;
  const bool reads = copy.halves++ == 0;
  const Array from = in ? Array::kX : Array::kShared, to = in ? Array::kShared : Array::kM;
  const Scoped where{copy.issuer, copy.later};
  state.MoveHalf(&copy, state.CellsOf(where, reads ? from : to, reads ? copy.op->row : copy.op->to, Part::kRow), reads);
  if (reads) return;
  const Copy done = state.Take(at);
  if (in) state.barriers.Arrive(state.WhoOf(done), state.layout->BarrierOf(done.issuer, done.op->object), nullptr);
}

bool BulkCopies::AwaitDone(int agent, const Op& op, const ReferenceState& state) const {
  const std::vector<int> queues = state.layout->QueuesOf(agent);
  return std::none_of(state.copies.begin(), state.copies.end(), [&](const Copy& copy) {
    return copy.op->what == What::kCopyOut && copy.halves < (op.flag ? 1 : 2) &&
           std::find(queues.begin(), queues.end(), copy.queue) != queues.end() &&
           copy.sequence < IssuedOf(copy.queue) - op.amount;
  });
}

void BulkCopies::NotifyAwaited(int agent, const Op& op, const ReferenceState& state) const {
  if (state.listener == nullptr) return;
  for (const int queue : state.layout->QueuesOf(agent))
    state.listener->Await(agent, queue, IssuedOf(queue) - static_cast<int>(op.amount), op.flag ? 1 : 2);
}

}  // namespace palladion::hunt
