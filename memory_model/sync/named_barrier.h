// A barrier that every block has without allocating it, named by a number. Each arrival and each wait gives a count; a
// phase ends when as many lanes have arrived. An agent waits for the phase of its own arrival. After that the barrier
// can be used again, with any count. Based on bar.sync and bar.arrive of PTX. Not checked here: that hardware has its
// number and its count (semantics/ops/gpu/named_barrier.cc).
#ifndef PALLADION_MEMORY_MODEL_SYNC_NAMED_BARRIER_H_
#define PALLADION_MEMORY_MODEL_SYNC_NAMED_BARRIER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "memory_model/order/agents.h"
#include "memory_model/sync/wait_record.h"
#include "semantics/base/finding.h"

namespace palladion::memory_model {

class NamedBarrier {
 public:
  explicit NamedBarrier(std::string name) : name_(std::move(name)) {}

  struct Arrival {
    AgentId by;
    AgentId thread = by;     // whose lanes these are: of a warp the thread that has forked it
    std::int64_t lanes = 0;  // its own
    std::int64_t of = 0;     // that it says are needed
    bool waits = false;
    CodeSite site;
  };
  // A finding where it is not as the others of the phase.
  std::optional<Finding> Arrive(const Arrival& arrival, AgentTable* agents);

  // The thread ends, and no phase from here on waits for its lanes; no wait learns anything from that. What it, or a
  // warp of it, has brought to the phase under way is counted there already.
  void Leave(AgentId thread, std::int64_t lanes);

  bool CanWait(AgentId agent) const;  // of one that has arrived to wait: is that phase over?
  void Wait(AgentId agent, AgentTable* agents);
  WaitRecord Waiting(AgentId agent, const CodeSite& site) const;

  std::optional<Finding> End() const;  // of its block: a finding where a phase is not over

 private:
  struct Waiter {
    AgentId who;
    bool over = false;  // its phase; then `released`
    ClockBundle released;
  };
  void Complete();

  std::string name_;              // "named barrier 3 of block (0)"
  std::vector<Arrival> arrived_;  // in the current phase
  std::string first_;             // the name of the first of these, which may be gone by now
  std::int64_t lanes_ = 0;        // of these, and of the threads that have ended
  std::int64_t left_ = 0;         // lanes of threads that have ended
  ClockBundle gathering_;
  std::vector<Waiter> waiters_;  // until they have waited
};

}  // namespace palladion::memory_model

#endif  // PALLADION_MEMORY_MODEL_SYNC_NAMED_BARRIER_H_
