// Which policy a seed stands for. No single one finds everything: running until blocked finds what late engines break
// and never a deadlock of two locks, a random walk the reverse; so the seeds cycle through them.
#ifndef PALLADION_SCHEDULER_POLICIES_PORTFOLIO_H_
#define PALLADION_SCHEDULER_POLICIES_PORTFOLIO_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "absl/types/span.h"
#include "scheduler/policies/policies.h"

namespace palladion::scheduler {

enum class PolicyKind : std::uint8_t {
  kProgramOrder,
  kEnginesLate,
  kReverse,
  kPos,
  kPct1,
  kSticky1,
  kPct2,
  kSticky10,
  kPosEnginesLate,
  kPct3,
  kUrw,
  kStarveOne,
  kEnginesFirst,
  kRandomWalk,
  kSticky0,
};

struct PolicyRow {
  PolicyKind kind;
  std::string_view name;  // as in a schedule string: "pct2"
  std::string_view what;  // which agent goes next
  std::string_view finds;
  int pct_depth = 0;  // of a PCT policy
};
absl::Span<const PolicyRow> AllPolicies();  // in the order of the enumeration
const PolicyRow& RowOf(PolicyKind kind);
std::optional<PolicyKind> PolicyFromName(std::string_view name);

// Seed 0: program order, engines at once. 1: engines late. 2: reverse. From 3 on the cycle of ten.
PolicyKind PolicyOfSeed(std::uint64_t seed);

// `lengths` are those of seed 0 on the same kernel and inputs, so that a replay makes the same policy.
std::unique_ptr<Policy> MakePolicy(PolicyKind kind, std::uint64_t seed, const RunLengths& lengths);

}  // namespace palladion::scheduler

#endif  // PALLADION_SCHEDULER_POLICIES_PORTFOLIO_H_
