#include "emu/run/launch/execution_mode.h"

#include <algorithm>

#include "emu/run/launch/interaction.h"

namespace palladion::launch {
namespace {

// Alone a program waits for ever; beside others, which may write without atomics what it looks at, perhaps not.
bool MayBeHelped(const Program& program, const ModeQuery& query) {
  if (program.grid_in_agent) return false;
  if (query.purpose == Purpose::kPlainRun) return !query.watched;
  return std::count(program.dim_order.begin(), program.dim_order.end(), DimOrder::kParallel) > 0;
}

}  // namespace

ExecutionMode ExecutionModeOf(const Program& program, const ModeQuery& query) {
  if (NeedsThreads(program)) return ExecutionMode::kThreads;
  if (query.purpose == Purpose::kMoves) return ExecutionMode::kPrograms;
  if (query.one_program) return ExecutionMode::kInOrder;
  if (query.stuck) return MayBeHelped(program, query) ? ExecutionMode::kPrograms : ExecutionMode::kInOrder;
  // Without loops no program waits, and a plain run needs one order only.
  if (query.purpose == Purpose::kPlainRun && program.loops.empty()) return ExecutionMode::kInOrder;
  return ProgramsInteract(program) ? ExecutionMode::kPrograms : ExecutionMode::kInOrder;
}

}  // namespace palladion::launch
