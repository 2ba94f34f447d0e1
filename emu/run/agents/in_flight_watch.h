// Watches an operand into which a copy of an earlier launch is still in flight, in a launch that does not take the
// copy's semaphore and so cannot wait for it: no access may touch what the copy writes. Spec:
// docs/spec/tpu-sessions.md#copies.
#ifndef PALLADION_EMU_RUN_AGENTS_IN_FLIGHT_WATCH_H_
#define PALLADION_EMU_RUN_AGENTS_IN_FLIGHT_WATCH_H_

#include <memory>
#include <string>
#include <vector>

#include "emu/run/agents/session_state.h"
#include "memory_model/bytes/events.h"
#include "memory_model/bytes/memory.h"
#include "memory_model/sets/access_set.h"

namespace palladion::agents {

class InFlightWatch final : public memory_model::MemoryWatcher {
 public:
  // The memory outlives it.
  InFlightWatch(memory_model::Memory& memory, BufferId array, const HeldCopy& copy);

  memory_model::EventSet wants() const override { return {memory_model::EventKind::kAccess}; }
  void Box(const Who& who, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
           const std::byte* value) override;
  void Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte* value) override;

 private:
  void Look(AccessKind kind, const memory_model::AccessSet& set, const Site& site);

  memory_model::Memory& memory_;
  const BufferId array_;
  const std::string copy_;  // its name
  memory_model::AccessSet written_;
};

}  // namespace palladion::agents

#endif  // PALLADION_EMU_RUN_AGENTS_IN_FLIGHT_WATCH_H_
