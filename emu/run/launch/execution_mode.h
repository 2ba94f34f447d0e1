// The execution mode of a launch: one of three, chosen only here, for plain runs and for checks, before a launch and
// after one in which a program waited for ever. Based on: what the program is (threads of blocks, loops that may wait)
// and whether its programs see each other's effects (interaction.h). Limits: whether a loop waits is known only once it
// has, so a launch in program order may have to begin again.
#ifndef PALLADION_EMU_RUN_LAUNCH_EXECUTION_MODE_H_
#define PALLADION_EMU_RUN_LAUNCH_EXECUTION_MODE_H_

#include <cstdint>

#include "emu/run/agents/launch_options.h"
#include "semantics/program/program.h"

namespace palladion::launch {

using agents::ExecutionMode;

// What a launch is for.
enum class Purpose : std::uint8_t {
  kPlainRun,  // one run that comes to its end
  kSchedule,  // one of the schedules that differ: an order of programs where these do not interact
  kMoves,     // a schedule that says which agent goes when, or every schedule
};

struct ModeQuery {
  Purpose purpose = Purpose::kPlainRun;
  bool one_program = false;  // the others do not run
  bool watched = false;      // by observers, who would see a second run as more of the first
  bool stuck = false;        // it ran in program order, and a program waits for ever
};

// For a stuck launch, kInOrder: no other program could unblock it.
ExecutionMode ExecutionModeOf(const Program& program, const ModeQuery& query);

}  // namespace palladion::launch

#endif  // PALLADION_EMU_RUN_LAUNCH_EXECUTION_MODE_H_
