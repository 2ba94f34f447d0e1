// A launch whose agents run at the same time, under a policy: each program of the grid, each core of a TPU, each thread
// of a GPU block is an agent with a frame of its own, and at every operation that others can see the policy says who
// goes next. For kernels whose programs see each other's effects while they run (interaction.h); the others need two
// orders. Limits: copies of blocks are complete when they are asked for; memory is sequentially consistent.
#ifndef PALLADION_EMU_LAUNCH_SCHEDULED_LAUNCH_H_
#define PALLADION_EMU_LAUNCH_SCHEDULED_LAUNCH_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/launch/launch.h"
#include "memory_model/order/fence_rule.h"
#include "scheduler/policy.h"
#include "scheduler/run_loop.h"
#include "scheduler/search/explore.h"

namespace palladion::launch {

struct ScheduledOptions {
  agents::LaunchOptions launch;
  // `resident` programs are under way at once, fewer where their frames would take more than 1 GiB.
  scheduler::LoopOptions loop;
  // Of threads of GPU blocks:
  memory_model::FencePolicy fences = memory_model::FencePolicy::kPallas;
  bool ordered_links = false;  // of several devices: ThreadMachineOptions
  bool races = false;          // accesses are judged by what orders them
  // Blocks that do not interact run one after another; with this they are all there from the start, as a search of
  // every schedule has them: a list of moves is about all agents.
  bool together = false;
  // The last blocks begin first where launch.order says so, also where some can only begin when others have ended: no
  // chip does that. Else these begin in order whatever launch.order says.
  bool begin_backwards = false;
  // So many clusters of blocks are there at once, whether they interact or not: as the chip holds them. 0: as above.
  std::int64_t clusters_at_once = 0;
};

struct ScheduledResult {
  agents::LaunchResult launch;  // findings include DEADLOCK and LIVELOCK
  scheduler::LoopResult run;
  bool all_fit = true;         // every program, or block, could be under way from the start
  bool arrivals_race = false;  // of threads: an arrival at a barrier could have counted for another phase
  bool engines = false;        // of threads: they started asynchronous operations
};

using ScheduledCall = agents::CallOf<ScheduledOptions>;

// In a run of its own. The same inputs, outputs and errors as RunLaunch. The run depends on the call and the policy
// alone.
absl::StatusOr<ScheduledResult> RunScheduled(const ScheduledCall& call, scheduler::Policy& policy);

// How many programs of a kernel whose loops may wait for each other are under way at once: at most as many as the chip
// has room for, where it is known. Registers and shared memory, which the compiler hands out, are not counted.
std::size_t ProgramsAtOnce(const Program& program);

// Would the kernel hang if the last blocks, or programs, began first? A note then. For a kernel that ends in order and
// whose blocks do not all fit; the outputs are nobody's.
absl::StatusOr<std::optional<Finding>> StartOrderNote(const ScheduledCall& call);

struct ExhaustiveOptions {
  ScheduledOptions scheduled = {.loop = {.budget = 10'000}};  // visible operations of one schedule
  std::int64_t max_schedules = 100'000;
  bool reduce = true;  // false: every interleaving
  // Back to a choice by copies of frames and memory; without, and with observers or definedness, which cannot be
  // copied, each schedule runs from the start.
  bool snapshots = true;
};

// Every schedule of a small kernel, of those that differ only in the order of operations that do not conflict one.
// `visit` sees the end of each, with the outputs in the caller's arrays, and returns false to stop. Not all are fair,
// so one whose budget is spent has no LIVELOCK: the search is not complete then. ResourceExhausted: more programs than
// may be resident.
absl::StatusOr<scheduler::Explored> RunExhaustive(
    const agents::CallOf<ExhaustiveOptions>& call,
    const std::function<absl::StatusOr<bool>(const ScheduledResult&)>& visit);

}  // namespace palladion::launch

#endif  // PALLADION_EMU_LAUNCH_SCHEDULED_LAUNCH_H_
