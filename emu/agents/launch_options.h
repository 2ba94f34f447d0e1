// What a launch is told, and what it tells when it has ended.
#ifndef PALLADION_EMU_AGENTS_LAUNCH_OPTIONS_H_
#define PALLADION_EMU_AGENTS_LAUNCH_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "emu/agents/prepared_kernel.h"
#include "emu/agents/session_state.h"
#include "emu/emulate.h"
#include "emu/run/events.h"
#include "memory_model/bytes/memory.h"

namespace palladion::agents {

struct LaunchOptions {
  RunOptions run;
  WalkOrder order = WalkOrder::kRowMajor;
  std::vector<run::Watcher*> observers;  // whoever looks; they outlive the launch
  absl::Span<std::uint8_t> ran;          // one for each step, set to 1 when it runs; empty: nobody asks
  // A TPU core's blocks are fetched and flushed anew wherever the index along a parallel dimension changes, as if each
  // such index ran on a core of its own: no order of them, and no number of cores, lets more be seen. Scratch that was
  // left by another is undefined (with `definedness`, except on `generic`).
  bool tasks_apart = false;
  bool definedness = false;          // follow undefined elements, and report where they matter
  Fill fill;                         // what memory that nobody wrote holds
  Inspections* contracts = nullptr;  // made for the kernel's program: what values break; nullptr: not looked for
  // The one program that runs, in row-major order only: what others would have left in memory is not there.
  std::optional<std::vector<std::int64_t>> only_program;
  // Bounds, races and whatever waits are as in any other run, and no byte moves; arrays and outputs are left as they
  // are. For programs without the steps that only make values (emu/launch/elided_program.h).
  bool moves_nothing = false;
  // Gets what was found before the launch failed; nullptr: it is lost with it.
  std::vector<Finding>* found_before_error = nullptr;
};

// What is launched, with what: the arrays fit the kernel. All outlive the launch.
template <class Options, class KernelType = PreparedKernelState>
struct CallOf {
  const KernelType& kernel;
  absl::Span<const ConstArray> inputs;
  absl::Span<const MutableArray> outputs;
  const Options& options;
  std::int32_t device = 0;  // of its run
};
using LaunchCall = CallOf<LaunchOptions>;

struct LaunchResult {
  std::int64_t programs = 0;
  std::int64_t accesses = 0;            // each had its bounds checked
  std::int64_t definedness_checks = 0;  // branches, indices and output elements that were looked at
  bool undefined_arrived = false;       // at one of these, told or not
  std::vector<Finding> findings;
  std::vector<std::string> printed;
  bool stuck = false;  // a program waits for ever: a finding says so, and those after it did not run
  LaunchLeft left;     // to the launches after it; nothing where it did not come to its end
};

}  // namespace palladion::agents

#endif  // PALLADION_EMU_AGENTS_LAUNCH_OPTIONS_H_
