// A failing schedule reduced to the few moves that matter: delta debugging (Zeller and Hildebrandt, TSE 2002) over the
// moves against the default choice. After that no single move can be left out, but another list of moves may be
// shorter; so where there are few enough candidates, every schedule of one move is tried too: most bugs need one move.
#ifndef PALLADION_SCHEDULER_SEARCH_SHRINK_H_
#define PALLADION_SCHEDULER_SEARCH_SHRINK_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/run_loop.h"

namespace palladion::scheduler {

struct Shrunk {
  std::vector<Move> moves;
  std::int64_t runs = 0;
  bool reproduced = false;  // the moves failed when run once more; else they are those that were given
  bool minimal = false;     // false: `max_runs` ran out
};

// `fails` runs a schedule and says whether it shows the same finding. Its errors end the search. `operations`: how many
// each agent did in the failing run (LoopResult::operations).
absl::StatusOr<Shrunk> Shrink(const std::vector<Move>& moves, const std::vector<std::int64_t>& operations,
                              const std::function<absl::StatusOr<bool>(const std::vector<Move>&)>& fails,
                              std::int64_t max_runs = 2000);

}  // namespace palladion::scheduler

#endif  // PALLADION_SCHEDULER_SEARCH_SHRINK_H_
