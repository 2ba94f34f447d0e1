// The one entry of launches: a plain run, a schedule of a check, a replay, a timed run and each schedule of a search
// are a Run. Operands become buffers, the grid becomes agents, and the agents run: one after another in a plain loop
// where they cannot see each other's effects, else under a policy, which chooses at every visible operation
// which agent goes next (execution_mode.h). Observers see the same in each mode, and whether the launch or its caller
// chose it. Limits: copies of blocks are complete when they are issued; memory is sequentially consistent.
#ifndef PALLADION_EMU_RUN_LAUNCH_RUN_H_
#define PALLADION_EMU_RUN_LAUNCH_RUN_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "absl/status/statusor.h"
#include "emu/run/agents/launch_options.h"
#include "scheduler/policy.h"
#include "scheduler/search/explore.h"

namespace palladion::launch {

// The arrays have been checked against the kernel's operands, and the memory they need against
// options.run.memory_limit. Outputs are written whole, poison where nothing was stored. The run depends on its
// arguments alone. Errors: a budget that is spent, a feature that is not modelled, InvalidArgument for a grid bound or
// a program that is not there.
absl::StatusOr<agents::Ran> Run(const agents::LaunchCall& call, const agents::LaunchOptions& options,
                                scheduler::Policy& policy);

// In program order, copies as late as options.run says, and its budget of operations.
absl::StatusOr<agents::Ran> Run(const agents::LaunchCall& call, const agents::LaunchOptions& options);

// How many programs of a kernel whose loops may wait for each other run at once: at most as many as the chip
// has room for, where it is known. Registers and shared memory, which the compiler hands out, are not counted.
std::size_t ProgramsAtOnce(const Program& program);

// Would the kernel hang if the last blocks, or programs, began first? A note then. For a kernel that ends in order and
// whose blocks do not all fit; the outputs are of no use.
absl::StatusOr<std::optional<Finding>> StartOrderNote(const agents::LaunchCall& call,
                                                      const agents::LaunchOptions& options);

struct SearchOptions {
  std::int64_t max_schedules = 100'000;
  std::int64_t budget = 10'000;  // visible operations of one schedule, and no more than options.loop has
  bool reduce = true;            // false: every interleaving
  // Back to a choice by copies of frames and memory; without, and with observers or definedness, which cannot be
  // copied, each schedule runs from the start.
  bool snapshots = true;
};

// Every schedule of a small kernel, of those that differ only in the order of operations that do not conflict one.
// `visit` sees the end of each, with the outputs in the caller's arrays, and returns false to stop. Not all are fair,
// so one whose budget is spent has no LIVELOCK: the search is not complete then. ResourceExhausted: more programs than
// may be resident.
absl::StatusOr<scheduler::Explored> RunExhaustive(const agents::LaunchCall& call, const agents::LaunchOptions& options,
                                                  const SearchOptions& search,
                                                  const std::function<absl::StatusOr<bool>(const agents::Ran&)>& visit);

}  // namespace palladion::launch

#endif  // PALLADION_EMU_RUN_LAUNCH_RUN_H_
