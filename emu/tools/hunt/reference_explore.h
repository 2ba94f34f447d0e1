// Every order of the reference machine: a search with nothing clever but a table of the states that were seen.
#ifndef PALLADION_EMU_TOOLS_HUNT_REFERENCE_EXPLORE_H_
#define PALLADION_EMU_TOOLS_HUNT_REFERENCE_EXPLORE_H_

#include <cstdint>
#include <set>
#include <string>

#include "emu/tools/hunt/reference_machine.h"

namespace palladion::hunt {

struct Reached {
  std::set<std::string> outcomes;
  std::int64_t states = 0;
  bool complete = true;
  bool leaves = false;  // an order ends with a semaphore that is not zero
};
Reached ExploreFrom(const ReferenceMachine& machine, std::int64_t max_states);

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_TOOLS_HUNT_REFERENCE_EXPLORE_H_
