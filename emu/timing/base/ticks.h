// Cycles of a chip as the virtual clock counts them (scheduler/virtual_clock.h): its ticks are thousandths of a cycle,
// since published intervals have a decimal.
#ifndef PALLADION_EMU_TIMING_BASE_TICKS_H_
#define PALLADION_EMU_TIMING_BASE_TICKS_H_

#include <cmath>

#include "emu/chip/machines/amount.h"
#include "scheduler/virtual_clock.h"

namespace palladion::timing::base {

inline constexpr double kTicksOfCycle = 1000;
// The nearest.
inline scheduler::Ticks TicksOf(machines::Cycles cycles) { return {std::llround(cycles.value() * kTicksOfCycle)}; }
inline machines::Cycles CyclesOf(scheduler::Ticks ticks) {
  return machines::Cycles(static_cast<double>(ticks.value) / kTicksOfCycle);
}

}  // namespace palladion::timing::base

#endif  // PALLADION_EMU_TIMING_BASE_TICKS_H_
