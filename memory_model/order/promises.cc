#include "memory_model/order/promises.h"

namespace palladion::memory_model {

void Promises::Make(QueueId queue, AgentId operation, const CodeSite& site) {
  if (made_.try_emplace(operation.value, Made{site, {}}).second) open_[queue.value].push_back(operation);
}

void Promises::Keep(QueueId queue, std::size_t may_remain, Epoch when) {
  const auto found = open_.find(queue.value);
  if (found == open_.end()) return;
  for (std::deque<AgentId>& open = found->second; open.size() > may_remain; open.pop_front()) {
    const auto made = made_.find(open.front().value);
    if (made != made_.end()) made->second.kept = when;
  }
}

void Promises::Forget(const std::vector<AgentId>& gone) {
  if (made_.empty()) return;
  for (const AgentId operation : gone) made_.erase(operation.value);
}

}  // namespace palladion::memory_model
