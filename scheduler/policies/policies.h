// The policies, one file each. Which bugs each is good at finding: docs/explanation/schedules.md. None has state that
// outlives a run: a policy is made for one run.
#ifndef PALLADION_SCHEDULER_POLICIES_POLICIES_H_
#define PALLADION_SCHEDULER_POLICIES_POLICIES_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "scheduler/policy.h"
#include "scheduler/run_loop.h"

namespace palladion::scheduler {

// The lengths that a first run measured, for policies that need them. In doubt too large.
struct RunLengths {
  std::int64_t steps = 1;                // visible operations of the whole run
  std::vector<std::int64_t> operations;  // of each agent, by number
  std::int64_t work = 0;                 // as a budget counts it
  // One that comes to more is not waited for: it ends as where the budget is spent.
  std::int64_t most_work = std::numeric_limits<std::int64_t>::max();
};

std::unique_ptr<Policy>
MakeProgramOrder();                     // engines first, then the running agent until it waits, then the lowest number
std::unique_ptr<Policy> MakeReverse();  // the running agent until it waits, then the highest number
std::unique_ptr<Policy> MakeRandomWalk(std::uint64_t seed);  // any agent at every operation

// The running agent goes on, but with a chance of `switch_per_mille` any agent does; any when it waits. (Miri: 10.)
std::unique_ptr<Policy> MakeSticky(std::uint64_t seed, int switch_per_mille);

// Probabilistic concurrency testing (Burckhardt et al., ASPLOS 2010): random priorities, lowered at `depth` - 1 random
// operations among `steps`. Finds a bug of that depth with probability >= 1/(n k^(d-1)): pct_bound.h.
std::unique_ptr<Policy> MakePct(std::uint64_t seed, int depth, std::int64_t steps);

// Partial order sampling (Yuan, Yang, Gu, CAV 2018): a random priority for each operation, drawn again when one that
// conflicts with it is done.
std::unique_ptr<Policy> MakePos(std::uint64_t seed);

// Uniform random walk (Zhao et al., ASPLOS 2025): each agent with probability proportional to the operations it has
// left, so all interleavings are equally likely where `lengths` are exact.
std::unique_ptr<Policy> MakeUrw(std::uint64_t seed, RunLengths lengths);

// One random agent gets no turn while another one can go, for intervals that grow (rr's chaos mode).
std::unique_ptr<Policy> MakeStarveOne(std::uint64_t seed);

// Engines go when no other agent can, or as soon as they can; among the rest `inner` chooses.
std::unique_ptr<Policy> MakeEnginesLate(std::unique_ptr<Policy> inner);
std::unique_ptr<Policy> MakeEnginesFirst(std::unique_ptr<Policy> inner);

// The default choice but for the moves. A move whose agent cannot go, or that is never reached, is left out and
// counted.
class ReplayPolicy final : public Policy {
 public:
  explicit ReplayPolicy(std::vector<Move> moves);
  const Candidate& Choose(const Choice& choice) override;
  // Moves that were not made: 0 unless the moves are of another kernel, other inputs, or some were removed.
  std::size_t not_made() const { return moves_.size() - made_; }

 private:
  std::vector<Move> moves_;         // by (from, operations)
  std::vector<std::int64_t> done_;  // operations of each agent, by number
  AgentOrdinal running_;
  std::size_t made_ = 0;
};

}  // namespace palladion::scheduler

#endif  // PALLADION_SCHEDULER_POLICIES_POLICIES_H_
