// Who goes next, of those who can: asked by a call at every visible operation. A policy decides from what it is shown
// and its own random numbers only, so the same policy on the same agents gives the same run.
#ifndef PALLADION_SCHEDULER_POLICY_H_
#define PALLADION_SCHEDULER_POLICY_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "scheduler/operation.h"

namespace palladion::scheduler {

struct Candidate {
  AgentOrdinal id;
  std::uint32_t slot = 0;  // small, used again after the agent is done
  AgentRole role = AgentRole::kProgram;
  const Operation* operation = nullptr;  // what it would do
};

struct Choice {
  static constexpr std::size_t kNone = ~std::size_t{0};
  absl::Span<const Candidate> candidates;  // at least one, by ascending number
  std::size_t current = kNone;             // the one that went last, if it is among them
  // It went last, could go on and is left out: it has gone so long that others go now, for it may spin on what they
  // have to do. A policy that keeps priorities lowers this agent's. Else invalid.
  AgentOrdinal tired;
};

// Without a policy: whoever runs goes on; else the agent with the lowest number, or the next one after a tired one.
std::size_t DefaultChoice(const Choice& choice);

class Policy {
 public:
  virtual ~Policy() = default;
  virtual std::size_t Choose(const Choice& choice) = 0;  // an index into the candidates; its operation is done next
};

}  // namespace palladion::scheduler

#endif  // PALLADION_SCHEDULER_POLICY_H_
