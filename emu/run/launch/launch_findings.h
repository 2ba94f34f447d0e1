// Findings about agents that wait for ever, or do not end, of any kind.
#ifndef PALLADION_EMU_RUN_LAUNCH_LAUNCH_FINDINGS_H_
#define PALLADION_EMU_RUN_LAUNCH_LAUNCH_FINDINGS_H_

#include <string>
#include <string_view>

#include "emu/run/launch/agents_of_launch.h"
#include "scheduler/run_loop.h"
#include "scheduler/wait_graph.h"
#include "semantics/base/finding.h"

namespace palladion::launch {

// Of a run that ended so.
Finding DeadlockFinding(const AgentsOfLaunch& who, const scheduler::LoopResult& run);
// `budget_name`: as the user knows it.
Finding LivelockFinding(const AgentsOfLaunch& who, const scheduler::LoopResult& run, std::string_view budget_name);

// What to do where loops wait for what they read: which may be a lock that another agent holds.
std::string FixOfSpins(const scheduler::Deadlock& deadlock);
// What to do where agents wait for barriers, semaphores or engines.
std::string FixOfWaits(const scheduler::Deadlock& deadlock);

}  // namespace palladion::launch

#endif  // PALLADION_EMU_RUN_LAUNCH_LAUNCH_FINDINGS_H_
