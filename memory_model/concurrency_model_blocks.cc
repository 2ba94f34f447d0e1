// The effect of switching a block's buffers on race checks (Machine::Turn).
#include "memory_model/concurrency_model.h"

namespace palladion::memory_model {

void ConcurrencyModel::Overwrite(AgentId agent, BufferId id, const CodeSite& site) {
  if (const Tracked* const buffer = Judged(id)) Touch(agent, id, AccessKind::kWrite, buffer->Whole(), site);
}

void ConcurrencyModel::CarryOver(AgentId agent, BufferId from, BufferId to) {
  const Tracked* const left = Judged(from);
  Tracked* const now = Judged(to);
  if (left == nullptr || now == nullptr || left == now) return;
  const Vantage vantage = VantageOf(agent);
  left->history.ForEachUse([&](const AccessEvent& use, const AccessSet& of) {
    const bool of_kernel = IsOperation(use.who) && agents_.BlockOf(use.who) == nullptr;
    if (of_kernel && !IsOrdered(vantage.Order(use))) now->history.Remember(use, of);
  });
}

}  // namespace palladion::memory_model
