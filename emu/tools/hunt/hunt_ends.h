// Tests that the search of every schedule ends. For a kernel whose reference machine has few states, it should end in
// about a second, and the outcomes of its schedules must be those of the reference machine.
#ifndef PALLADION_EMU_TOOLS_HUNT_HUNT_ENDS_H_
#define PALLADION_EMU_TOOLS_HUNT_HUNT_ENDS_H_

#include <cstdint>
#include <set>
#include <string>

#include "emu/tools/hunt/hunt_kernel.h"

namespace palladion::hunt {

struct EndsOptions {
  std::int64_t max_states = 120;  // kernels with more are left out
  std::int64_t max_schedules = 100'000;
  double seconds = 10;
  bool snapshots = true;
  // Random schedules, and interleavings where there are no more, that are held against those of the search: how they
  // end and what is found in them.
  std::int64_t seeds = 0, interleavings = 0;
};

struct Ends {
  bool searched = false;  // it has no more states than that
  bool ended = false;
  std::int64_t states = 0, schedules = 0, pruned = 0;
  double seconds = 0;
  std::string error;
  // How schedules end: outputs, or "deadlock". Not of kernels after whose mistake nothing is promised ("broken",
  // "stale", "undefined"): these have no `expected`.
  std::set<std::string> found, expected;
  std::set<std::string> unseen;    // ways in which other schedules end, and none of the search
  std::int64_t interleavings = 0;  // that there are, where all were held against the search
};

// With no more than so many operations: others are left out at random.
HuntKernel CutTo(HuntKernel kernel, int ops, std::uint64_t seed);

Ends EndsOf(const HuntKernel& kernel, const EndsOptions& options);

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_TOOLS_HUNT_HUNT_ENDS_H_
