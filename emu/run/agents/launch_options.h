// The options and the result of a launch: one struct each for plain runs, schedules of a check, replays, searches and
// timed runs, of kernels in text and of functions in C++.
#ifndef PALLADION_EMU_RUN_AGENTS_LAUNCH_OPTIONS_H_
#define PALLADION_EMU_RUN_AGENTS_LAUNCH_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "emu/emulate.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/run/agents/session_state.h"
#include "emu/run/events.h"
#include "memory_model/bytes/memory.h"
#include "memory_model/order/fence_rule.h"
#include "scheduler/run_loop.h"

namespace palladion::agents {

// How the agents of a launch run; emu/run/launch/execution_mode.h says which one a launch has.
enum class ExecutionMode : std::uint8_t {
  kInOrder,   // programs one after another in a plain loop, without a policy
  kPrograms,  // programs under a policy
  kThreads,   // threads of GPU blocks, or cores of a TPU that have engines, under a policy
};

struct LaunchOptions {
  RunOptions run;
  std::optional<ExecutionMode> mode;  // where what the caller has is made for one mode; else the launch chooses
  WalkOrder order = WalkOrder::kRowMajor;
  std::vector<run::Watcher*> observers;  // they outlive the launch
  absl::Span<std::uint8_t> ran;          // one for each step, set to 1 when it runs; empty: not asked for
  // A TPU core's blocks are fetched and flushed anew wherever the index along a parallel dimension changes, as if each
  // such index ran on a core of its own: no order of them, and no number of cores, lets more be seen. Scratch that was
  // left by another is undefined (with `definedness`, except on `generic`).
  bool tasks_apart = false;
  bool definedness = false;          // follow undefined elements, and report where they matter
  Fill fill;                         // contents of unwritten memory
  Inspections* contracts = nullptr;  // made for the kernel's program: what values break; nullptr: not looked for
  // The one program that runs, in row-major order only: what others would have left in memory is not there.
  std::optional<std::vector<std::int64_t>> only_program;
  // Bounds, races and whatever waits are as in any other run, and no byte moves; arrays and outputs are left as they
  // are. For programs without the steps that only make values (emu/run/launch/elided_program.h).
  bool moves_nothing = false;
  std::vector<bool> moved;  // by operand: those whose bytes move all the same, arrays and scratch; empty: none
  // Gets what was found before the launch failed; nullptr: it is lost with it.
  std::vector<Finding>* found_before_error = nullptr;

  // Programs that are not run, by their number in the walk's order. Of ExecutionMode::kPrograms, for observers that
  // know what they would do.
  struct Programs {
    std::int64_t first = 0, count = 0;
  };
  Programs left_out;

  // Under a policy. `resident` programs run at once, fewer where their frames would take more than 1 GiB.
  scheduler::LoopOptions loop;
  // Of threads of GPU blocks:
  memory_model::FencePolicy fences = memory_model::FencePolicy::kPallas;
  bool ordered_links = false;  // of several devices: ThreadMachineOptions
  bool races = false;          // accesses are judged by what orders them
  // Those of a TPU's tasks among themselves too; false: an observer knows what all tasks touch, and they have no order.
  bool races_between_tasks = true;
  // Blocks that do not interact run one after another; with this they are all there from the start, as a search of
  // every schedule has them: a list of moves is about all agents.
  bool together = false;
  // The last blocks begin first where `order` says so, also where some can only begin when others have ended: no chip
  // does that. Else these begin in order whatever `order` says.
  bool begin_backwards = false;
  // So many clusters of blocks are there at once, whether they interact or not: as the chip holds them. 0: as above.
  std::int64_t clusters_at_once = 0;
};

// What is launched, with what: the arrays fit the kernel. All outlive the launch.
struct LaunchCall {
  const kernel::PreparedKernelState& kernel;
  absl::Span<const ConstArray> inputs;
  absl::Span<const MutableArray> outputs;
};

struct Ran {
  std::int64_t programs = 0;
  std::int64_t accesses = 0;            // each had its bounds checked
  std::int64_t definedness_checks = 0;  // branches, indices and output elements that were looked at
  bool undefined_arrived = false;       // at one of these, reported or not
  std::vector<Finding> findings;        // with DEADLOCK and LIVELOCK
  std::vector<std::string> printed;
  LaunchLeft left;  // to the launches after it; nothing where it did not come to its end
  // How the loop ended. In program order: kDeadlock where a program waits for ever, and those after it did not run.
  scheduler::LoopResult run;
  bool all_fit = true;         // every program, or block, could be resident from the start
  bool arrivals_race = false;  // of threads: an arrival at a barrier could have counted for another phase
  std::string racing_wait;     // of threads: the semaphore of a wait that could have taken other credits; "": none
  bool engines = false;        // of threads: they started asynchronous operations

  bool stuck() const { return run.outcome == scheduler::Outcome::kDeadlock; }
};

}  // namespace palladion::agents

#endif  // PALLADION_EMU_RUN_AGENTS_LAUNCH_OPTIONS_H_
