// Operations that their issuer assumes complete because it has issued a later one: Pallas documents this of wgmma, and
// JAX's lowering does not wait for it. A real wait replaces the promise by an ordinary order, for every agent ordered
// after that wait. Based on: plgpu.wgmma's documentation, and JAX's lowering, which only commits.
#ifndef PALLADION_MEMORY_MODEL_ORDER_PROMISES_H_
#define PALLADION_MEMORY_MODEL_ORDER_PROMISES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "memory_model/order/clock.h"
#include "semantics/port/access.h"
#include "semantics/port/async.h"

namespace palladion::memory_model {

class Promises {
 public:
  bool empty() const { return made_.empty(); }

  // At `site` a later one is issued.
  void Make(QueueId queue, AgentId operation, const CodeSite& site);
  // A wait, at `when`, for all of these but the newest so many.
  void Keep(QueueId queue, std::size_t may_remain, Epoch when);

  // Does it need the promise, with what is known?
  bool Needs(AgentId operation, const VectorClock& known) const {
    if (made_.empty()) return false;
    const auto found = made_.find(operation.value);
    return found != made_.end() && !(found->second.kept.who.valid() && known.Covers(found->second.kept));
  }
  const CodeSite& MadeAt(AgentId operation) const { return made_.at(operation.value).site; }

  void Forget(const std::vector<AgentId>& gone);  // no query names them any more
  void Retire(QueueId queue) { open_.erase(queue.value); }

 private:
  struct Made {
    CodeSite site;
    Epoch kept;  // the wait; of no agent where there is none yet
  };
  absl::flat_hash_map<std::int32_t, Made> made_;                 // by operation
  absl::flat_hash_map<std::int32_t, std::deque<AgentId>> open_;  // by queue: not kept, in the order of issue
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_ORDER_PROMISES_H_
