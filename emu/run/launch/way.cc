#include "emu/run/launch/way.h"

#include <algorithm>

#include "emu/run/launch/interaction.h"

namespace palladion::launch {
namespace {

// Alone a program waits for ever; beside others, which may write without atomics what it looks at, perhaps not.
bool MayBeHelped(const Program& program, const WayAsked& asked) {
  if (program.grid_in_agent) return false;
  if (asked.purpose == Purpose::kPlainRun) return !asked.watched;
  return std::count(program.dim_order.begin(), program.dim_order.end(), DimOrder::kParallel) > 0;
}

}  // namespace

Way WayOf(const Program& program, const WayAsked& asked) {
  if (NeedsThreads(program)) return Way::kThreads;
  if (asked.purpose == Purpose::kMoves) return Way::kPrograms;
  if (asked.one_program) return Way::kInOrder;
  if (asked.stuck) return MayBeHelped(program, asked) ? Way::kPrograms : Way::kInOrder;
  // Without loops no program waits, and a plain run needs one order only.
  if (asked.purpose == Purpose::kPlainRun && program.loops.empty()) return Way::kInOrder;
  return ProgramsInteract(program) ? Way::kPrograms : Way::kInOrder;
}

}  // namespace palladion::launch
