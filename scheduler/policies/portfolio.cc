#include "scheduler/policies/portfolio.h"

#include <array>
#include <cstddef>

namespace palladion::scheduler {
namespace {

constexpr PolicyRow kRows[] = {
    {PolicyKind::kProgramOrder, "program-order", "the lowest number, until it waits; engines at once",
     "what is wrong in every order"},
    {PolicyKind::kEnginesLate, "engines-late", "any agent, until it waits; engines only when no other agent can run",
     "a copy without a wait, a slot that is filled again too early"},
    {PolicyKind::kReverse, "reverse", "the highest number, until it waits", "programs that rely on program order"},
    {PolicyKind::kPos, "pos", "a random priority for each operation, drawn again after a conflicting operation",
     "the best single policy: an access between a read and a write, two orders of a conflict"},
    {PolicyKind::kPct1, "pct1", "random priorities of agents", "one agent that runs completely before another", 1},
    {PolicyKind::kSticky1, "sticky1", "the agent that runs; any other with a chance of 1 %",
     "bugs that need one switch, in long runs"},
    {PolicyKind::kPct2, "pct2", "random priorities, one lowered at a random operation", "bugs of depth 2, with a bound",
     2},
    {PolicyKind::kSticky10, "sticky10", "the agent that runs; any other with a chance of 10 %",
     "bugs that need several switches"},
    {PolicyKind::kPosEnginesLate, "pos-engines-late", "pos, and engines only when no other agent can run",
     "a missing wait together with an unlucky order"},
    {PolicyKind::kPct3, "pct3", "random priorities, two lowered at random operations", "bugs of depth 3, with a bound",
     3},
    {PolicyKind::kUrw, "urw", "agents in proportion to the operations they have left",
     "deadlocks of locks taken in opposite orders"},
    {PolicyKind::kStarveOne, "starve-one", "all agents but one, for intervals that grow",
     "an agent that is left behind"},
    {PolicyKind::kEnginesFirst, "engines-first", "engines at once, else any agent",
     "a destination that is still in use when its copy starts"},
    {PolicyKind::kRandomWalk, "random-walk", "any agent at every operation", "in the end everything, but slowly"},
    {PolicyKind::kSticky0, "sticky0", "the agent that runs, until it waits; then any other",
     "as engines-late, without engines"},
};

constexpr std::array kCycle = {
    PolicyKind::kPos,       PolicyKind::kPct1,           PolicyKind::kSticky1, PolicyKind::kPct2,
    PolicyKind::kSticky10,  PolicyKind::kPosEnginesLate, PolicyKind::kPct3,    PolicyKind::kUrw,
    PolicyKind::kStarveOne, PolicyKind::kEnginesFirst,
};

}  // namespace

absl::Span<const PolicyRow> AllPolicies() { return kRows; }

const PolicyRow& RowOf(PolicyKind kind) { return kRows[static_cast<std::size_t>(kind)]; }

std::optional<PolicyKind> PolicyFromName(std::string_view name) {
  for (const PolicyRow& row : kRows) {
    if (row.name == name) return row.kind;
  }
  return std::nullopt;
}

PolicyKind PolicyOfSeed(std::uint64_t seed) {
  constexpr std::array kFirst = {PolicyKind::kProgramOrder, PolicyKind::kEnginesLate, PolicyKind::kReverse};
  if (seed < kFirst.size()) return kFirst[seed];
  return kCycle[(seed - kFirst.size()) % kCycle.size()];
}

std::unique_ptr<Policy> MakePolicy(PolicyKind kind, std::uint64_t seed, const RunLengths& lengths) {
  switch (kind) {
    case PolicyKind::kProgramOrder:
      return MakeProgramOrder();
    case PolicyKind::kEnginesLate:
      return MakeEnginesLate(MakeSticky(seed, 0));
    case PolicyKind::kReverse:
      return MakeReverse();
    case PolicyKind::kPos:
      return MakePos(seed);
    case PolicyKind::kPct1:
    case PolicyKind::kPct2:
    case PolicyKind::kPct3:
      return MakePct(seed, RowOf(kind).pct_depth, lengths.steps);
    case PolicyKind::kSticky1:
      return MakeSticky(seed, 10);
    case PolicyKind::kSticky10:
      return MakeSticky(seed, 100);
    case PolicyKind::kPosEnginesLate:
      return MakeEnginesLate(MakePos(seed));
    case PolicyKind::kUrw:
      return MakeUrw(seed, lengths);
    case PolicyKind::kStarveOne:
      return MakeStarveOne(seed);
    case PolicyKind::kEnginesFirst:
      return MakeEnginesFirst(MakeRandomWalk(seed));
    case PolicyKind::kRandomWalk:
      return MakeRandomWalk(seed);
    case PolicyKind::kSticky0:
      return MakeSticky(seed, 0);
  }
  return nullptr;
}

}  // namespace palladion::scheduler
