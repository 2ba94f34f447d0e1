// The order made by the atomic updates of one array: an update of an element acquires what the element's earlier
// updates released, and releases what its agent did before. JAX lowers Triton's atomics with acquire and release order
// at the scope of the device, so a lock and a counter of arrivals order what they guard. Limits: it uses the order in
// which the updates happen in this schedule; other orders are found in other schedules.
#ifndef PALLADION_MEMORY_MODEL_ORDER_ATOMIC_ORDER_H_
#define PALLADION_MEMORY_MODEL_ORDER_ATOMIC_ORDER_H_

#include <cstdint>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "memory_model/order/agents.h"
#include "memory_model/order/clock.h"
#include "semantics/base/units.h"

namespace palladion::memory_model {

class AtomicOrder {
 public:
  explicit AtomicOrder(ElementSize element) : element_bytes_(element.value()) {}

  // Around whatever judges the update: before it, and after it.
  void Acquire(AgentId who, const PointAccess& update, AgentTable& agents) const;
  void Update(AgentId who, const PointAccess& update, AgentTable& agents);

 private:
  std::int64_t element_bytes_;
  // By element: what its last update released, which includes the earlier ones' releases. Elements of one update share
  // it.
  absl::flat_hash_map<std::int64_t, std::shared_ptr<const ClockBundle>> released_;
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_ORDER_ATOMIC_ORDER_H_
