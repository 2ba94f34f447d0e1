// The instruction to which each step of an observable program belongs. Based on: the marks (mark.h) at the begin and
// the end of an instruction; between them, steps are in the text's order.
#ifndef PALLADION_EMU_TIMING_BASE_PLACED_STEPS_H_
#define PALLADION_EMU_TIMING_BASE_PLACED_STEPS_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "scheduler/virtual_clock.h"
#include "semantics/program/program.h"

namespace palladion::timing::base {

inline constexpr std::int32_t kNoInstruction = scheduler::VirtualClock::kNone;

// For each step of `program` the number that `number_of` has for its instruction; kNoInstruction: it is of none.
absl::StatusOr<std::vector<std::int32_t>> InstructionsOfSteps(
    const Program& program, const absl::flat_hash_map<const Instr*, std::int32_t>& number_of);

}  // namespace palladion::timing::base

#endif  // PALLADION_EMU_TIMING_BASE_PLACED_STEPS_H_
