// Makes a kernel and its inputs smaller while something about them stays: a finding, or that another program fails on
// them. Based on: delta debugging (Zeller & Hildebrandt, 2002), which tries to leave out many parts before few;
// C-Reduce (Regehr et al., 2012), passes that know the language, run until none changes anything; LLVM's llvm-reduce.
// Deterministic where `keeps` is: the same kernel, inputs and options give the same result. It finds a kernel that no
// pass can make smaller, not the smallest one.
#ifndef PALLADION_EMU_TOOLS_REDUCE_REDUCE_H_
#define PALLADION_EMU_TOOLS_REDUCE_REDUCE_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "emu/tools/reduce/state.h"
#include "semantics/base/run_control.h"

namespace palladion::reduce {

// Is what is looked for still there? An error ends the reduction and is its result.
using Keeps = std::function<absl::StatusOr<bool>(const State& state)>;

struct ReduceOptions {
  std::int64_t most_tried = 0;    // candidates; 0: no limit
  double most_seconds = 0;        // 0: no limit. The result then depends on how fast the host is.
  RunControl* control = nullptr;  // interrupts end it
};

enum class Ended : std::uint8_t { kSmallest, kBudget, kInterrupted };  // kSmallest: no pass can do anything more

struct Reduced {
  State state;
  Ended ended = Ended::kSmallest;
  std::int64_t tried = 0;   // candidates that `keeps` was asked about
  std::int64_t rounds = 0;  // of all passes
};

// InvalidArgument: `keeps` does not say yes to `start` itself.
absl::StatusOr<Reduced> Reduce(const State& start, const Keeps& keeps, const ReduceOptions& options = {});

// How large a kernel is: what the table of docs/guides/reduce.md counts.
struct Extent {
  std::int64_t instructions = 0;  // of the bodies, those of inner regions included
  std::int64_t programs = 1;      // grid points, or threads of all blocks; a grid that an operand says counts once
  std::int64_t elements = 0;      // of all inputs
};
Extent ExtentOf(const State& state);

}  // namespace palladion::reduce

#endif  // PALLADION_EMU_TOOLS_REDUCE_REDUCE_H_
