// One launch: operands become buffers, the grid becomes agents, the agents run. `LaunchKernel` is the plain run; a
// check runs a Launch for each schedule, with observers, hooks and another order.
#ifndef PALLADION_EMU_LAUNCH_H_
#define PALLADION_EMU_LAUNCH_H_

#include <functional>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/emulate.h"
#include "emu/prepared_kernel.h"
#include "memory_model/memory.h"

namespace palladion {

struct LaunchOptions {
  RunOptions run;
  WalkOrder order = WalkOrder::kRowMajor;
  std::vector<AccessObserver*> observers;  // of every request to memory
  StepHooks* hooks = nullptr;              // over the shoulder of every program
  absl::Span<std::uint8_t> ran;            // one for each step, set to 1 when it runs; empty: nobody asks
  // A TPU core's blocks are fetched and flushed anew wherever the index along a parallel dimension changes, as if each
  // such index ran on a core of its own: no order of them, and no number of cores, lets more be seen. Scratch that was
  // left by another is undefined (with `definedness`, except on `generic`).
  bool tasks_apart = false;
  bool definedness = false;          // follow undefined elements, and report where they matter
  Fill fill;                         // what memory that nobody wrote holds
  Inspections* contracts = nullptr;  // made for the kernel's program: what values break; nullptr: not looked for
  // The one program that runs, in row-major order only: what others would have left in memory is not there.
  std::optional<std::vector<std::int64_t>> only_program;
  // Gets what was found before the launch failed; nullptr: it is lost with it.
  std::vector<Finding>* found_before_error = nullptr;
  // Called when all operands have their memory, before the first program: the buffer of each operand, in the order of
  // Program::operand_infos (invalid for bounds; of a resident block it is its array's).
  std::function<void(Memory& memory, absl::Span<const BufferId> arrays)> bound;
  // The same after the last program.
  std::function<void(Memory& memory, absl::Span<const BufferId> arrays)> finished;
};

struct LaunchResult {
  std::int64_t programs = 0;
  std::int64_t accesses = 0;            // each had its bounds checked
  std::int64_t definedness_checks = 0;  // branches, indices and output elements that were looked at
  std::vector<Finding> findings;
  std::vector<std::string> printed;
  bool stuck = false;  // a program waits for ever: a finding says so, and those after it did not run
};

// The arrays have been checked against the kernel's operands, and the memory they need against options.memory_limit.
// Outputs are written whole, poison where nothing was stored.
absl::StatusOr<LaunchResult> RunLaunch(const PreparedKernelState& kernel, absl::Span<const ConstArray> inputs,
                                       absl::Span<const MutableArray> outputs, const LaunchOptions& options);

// The same as a report. An error after something was found is Report::error; of an interrupted run there is always a
// report, and its outputs are not whole.
absl::StatusOr<Report> LaunchKernel(const PreparedKernelState& kernel, absl::Span<const ConstArray> inputs,
                                    absl::Span<const MutableArray> outputs, const LaunchOptions& options);

// The same with observers, hooks and another order, into outputs of its own. Errors as palladion::Run.
absl::StatusOr<RunResult> RunWatched(const PreparedKernel& kernel, absl::Span<const Tensor> inputs,
                                     const LaunchOptions& options);

// How the run of a report ended: its error, Cancelled where it was interrupted, else OK.
absl::Status EndOf(const Report& report);

// A finding in the words of a report: places as the user's source lines (report_finding.cc).
ReportedFinding Reported(const Finding& finding, const Module& module);

// The user's frames of a place, innermost first; none for an invalid id.
std::vector<SourceFrame> FramesOf(const Module& module, LocId loc);

}  // namespace palladion

#endif  // PALLADION_EMU_LAUNCH_H_
