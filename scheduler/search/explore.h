// Searches every schedule of a small system, one from each class of schedules that differ only in the order of
// operations that do not conflict: dynamic partial order reduction with source sets and sleep sets (Abdulla, Aronsson,
// Jonsson, Sagonas, POPL 2014). One schedule is run to its end; wherever two of its operations conflict and could come
// in the other order, a branch from the choice before the first is added (trace.h). The paper does not cover waits:
// here a wait races with every operation that may have kept it waiting, also one that waits until the end. The search
// returns to a choice by snapshots where every agent can be copied, else by running again from the start. Limits:
// agents that spin have infinitely many schedules; the search is then cut at the budget, and not complete.
#ifndef PALLADION_SCHEDULER_SEARCH_EXPLORE_H_
#define PALLADION_SCHEDULER_SEARCH_EXPLORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "scheduler/run_loop.h"
#include "scheduler/touches.h"

namespace palladion::scheduler {

// Agents together with what they share.
class Explorable {
 public:
  virtual ~Explorable() = default;
  virtual AgentSource& agents() = 0;
  // A copy of what the agents share, and back.
  virtual absl::StatusOr<std::shared_ptr<const void>> Save() const {
    return absl::UnimplementedError("what these agents share cannot be copied");
  }
  virtual void Restore(const void* /*saved*/) {}
  // What the last operation has touched, with all that its agent did until it asked for the next one. Without a value:
  // what its footprint says.
  virtual std::optional<Touches> TakeTouched() { return std::nullopt; }
};

struct ExploreOptions {
  bool reduce = true;                      // false: every interleaving
  bool snapshots = true;                   // false: run again from the start
  std::int64_t max_schedules = 1'000'000;  // those that are given up too
  LoopOptions loop = {.budget = 10'000};   // of each schedule
};

struct Explored {
  std::int64_t schedules = 0;  // run to their end
  std::int64_t pruned = 0;     // given up because every way on has been seen
  bool complete = false;       // nothing was cut: not by max_schedules, a budget, or `visit`
};

// `make` gives the system in its first state; with snapshots it is called once. `visit` sees the end of each schedule
// and returns false to stop. ResourceExhausted: more agents than may be resident.
absl::StatusOr<Explored> Explore(const std::function<absl::StatusOr<std::unique_ptr<Explorable>>()>& make,
                                 const ExploreOptions& options,
                                 const std::function<absl::StatusOr<bool>(Explorable&, const LoopResult&)>& visit);

}  // namespace palladion::scheduler

#endif  // PALLADION_SCHEDULER_SEARCH_EXPLORE_H_
