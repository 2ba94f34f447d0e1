#include "memory_model/order/atomic_order.h"

#include "memory_model/sets/region.h"

namespace palladion::memory_model {

void AtomicOrder::Acquire(AgentId who, const PointAccess& update, AgentTable& agents) const {
  const ClockBundle* last = nullptr;
  VisitBytes(update, [&](std::int64_t first, std::int64_t end) {
    for (std::int64_t e = first / element_bytes_; e * element_bytes_ < end; ++e) {
      const auto released = released_.find(e);
      if (released == released_.end() || released->second.get() == last) continue;
      last = released->second.get();
      agents.Acquire(who, *last);
    }
  });
}

void AtomicOrder::Update(AgentId who, const PointAccess& update, AgentTable& agents) {
  std::shared_ptr<const ClockBundle> clock;
  VisitBytes(update, [&](std::int64_t first, std::int64_t end) {
    if (clock == nullptr) clock = std::make_shared<const ClockBundle>(agents.ClockOf(who));
    for (std::int64_t e = first / element_bytes_; e * element_bytes_ < end; ++e) released_[e] = clock;
  });
  if (clock != nullptr) agents.Tick(who, CodeSite::Of(update.site));
}

}  // namespace palladion::memory_model
