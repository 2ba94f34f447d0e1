// A machine of lanes for the hunt, which shares no code with the check: a program of Triton is 32 threads, a thread of
// Mosaic GPU 128, each of which holds its elements of every value, and executes the operations on them in the order of
// the text; only a barrier orders two of them. Which lane has which element is chosen separately for each index
// expression, or layout of registers. Based on: docs/spec/races.md#lanes, and the lowerings: threads that have copies
// of an element all load it; one stores it, and on Mosaic GPU each does. Limits: those of hunt_lanes.h; only the
// layouts that were tried are covered.
#ifndef PALLADION_EMU_TOOLS_HUNT_REFERENCE_LANES_H_
#define PALLADION_EMU_TOOLS_HUNT_REFERENCE_LANES_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "emu/tools/hunt/lane_steps.h"

namespace palladion::hunt {

struct LanesReached {
  std::set<LaneMemory> outcomes;
  bool complete = true;  // every order was searched
  std::string clash;     // two lanes come to an element that one of them writes, and nothing orders them
};
// With layouts of this number; 0: one for all expressions.
LanesReached ExploreLanes(const LaneKernel& kernel, const std::vector<LaneStep>& steps, int program, int layouts,
                          std::int64_t max_states);

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_TOOLS_HUNT_REFERENCE_LANES_H_
