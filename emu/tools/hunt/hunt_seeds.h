// How many seeds a random kernel's deadlock or race needs: for each policy and seed whether its schedule shows it, from
// which any cycle of policies can be judged (docs/explanation/schedules.md). Limits: races that the check finds.
#ifndef PALLADION_EMU_TOOLS_HUNT_HUNT_SEEDS_H_
#define PALLADION_EMU_TOOLS_HUNT_HUNT_SEEDS_H_

#include <cstdint>
#include <string>

#include "emu/tools/hunt/hunt_random.h"

namespace palladion::hunt {

// A line for each of these kernels that deadlocks in some orders and ends in others ("deadlock"), or that has a race
// ("race"): its number, which of the two, and for each policy of the portfolio a digit for each of `seeds` seeds.
std::string SeedsNeeded(std::uint64_t number, Kernels which, std::int64_t seeds);

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_TOOLS_HUNT_HUNT_SEEDS_H_
