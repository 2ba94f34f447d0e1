#include "emu/run/agents/core_copies.h"

#include "emu/chip/machines/chip.h"
#include "semantics/prepare/block_mode.h"

namespace palladion::agents {

bool HasSeveralCores(const Program& program) {
  const machines::Chip* chip = machines::FindChip(program.target.chip);
  return program.grid_in_agent && chip != nullptr && chip->is_tpu && chip->cores > 1;
}

std::vector<std::size_t> OperandsOfEachCore(const kernel::PreparedKernelState& kernel) {
  const Program& program = kernel.program();
  std::vector<std::size_t> own;
  if (!HasSeveralCores(program)) return own;
  const Kernel& text = kernel.text();
  for (std::size_t i = 0, param = 0; i < program.operand_infos.size(); ++i) {
    const OperandInfo& info = program.operand_infos[i];
    if (info.role == Role::kBound) continue;
    const Type& shown = text.values[text.bodies[0].region.params[param++].value.index()].type;
    const bool input = info.role == Role::kIn || info.role == Role::kPrefetch;
    if (!input || !info.written || info.mode != BlockMode::kWhole || info.type.element != ElementKind::kData) continue;
    const Operand& operand = text.operands[i];
    if (LiesInCore(operand, operand.space.value_or(shown.space), text, program)) own.push_back(i);
  }
  return own;
}

}  // namespace palladion::agents
