#include "emu/run/launch/interaction.h"

#include <cstddef>
#include <vector>

#include "semantics/base/cat.h"

namespace palladion::launch {
namespace {

constexpr int kPrivate = -1;

// The operand whose memory a ref is a window of; an output that shares an input's memory counts as the input.
std::vector<int> ArrayOfRefs(const Program& program) {
  std::vector<int> array(program.refs.size(), kPrivate);
  for (std::size_t i = 0; i < program.operand_infos.size(); ++i) {
    const OperandInfo& info = program.operand_infos[i];
    if (!info.ref.valid() || info.role == Role::kScratch || info.mode == BlockMode::kResident) continue;
    array[info.ref.index()] = info.alias >= 0 ? info.alias : static_cast<int>(i);
  }
  return array;
}

bool RunsOneProgramAtATime(const Program& program) {
  for (std::size_t d = 0; d < program.dim_order.size(); ++d) {
    const bool one = program.grid_bound[d] < 0 && program.grid[d].size == 1;
    if (program.dim_order[d] == DimOrder::kParallel && !one) return false;
  }
  return true;
}

}  // namespace

bool NeedsThreads(const Program& program) { return program.uses_port || program.mesh.has_value(); }

bool ProgramsInteract(const Program& program) { return !WhyProgramsInteract(program).empty(); }

bool NothingOrdersTasks(const Program& program) {
  if (NeedsThreads(program)) return program.grid_in_agent && !program.several_devices();
  return !ProgramsInteract(program);
}

std::string WhyProgramsInteract(const Program& program) {
  if (NeedsThreads(program)) return "the threads of a block, which wait for each other";
  if (RunsOneProgramAtATime(program)) return "";
  const std::vector<int> array = ArrayOfRefs(program);
  const auto array_of = [&](const Step& step) { return step.ref.valid() ? array[step.ref.index()] : kPrivate; };
  std::vector<bool> updated(program.operand_infos.size());
  for (const Step& step : program.steps) {
    if (step.atomic == AtomicStep::kNone || array_of(step) == kPrivate) continue;
    updated[static_cast<std::size_t>(array_of(step))] = true;
    if (step.atomic == AtomicStep::kSees)
      return Cat("what the atomic at line ", step.text_line, " of the kernel text found in memory");
  }
  for (const Step& step : program.steps) {
    const int read = array_of(step);
    if (step.only_reads && read != kPrivate && updated[static_cast<std::size_t>(read)])
      return Cat("'", program.operand_infos[static_cast<std::size_t>(read)].name, "', which line ", step.text_line,
                 " of the kernel text reads and atomics update");
  }
  return "";
}

}  // namespace palladion::launch
