#include "emu/timing/gpu/sm_blocks.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "emu/timing/report/line_places.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::timing::gpu {
namespace {

using machines::Bytes;
using machines::Key;
using machines::Machine;

// The grid with its sizes: those that are operands are read.
absl::StatusOr<std::vector<std::int64_t>> GridOf(const Program& program) {
  std::vector<std::int64_t> grid;
  for (std::size_t d = 0; d < program.grid.size(); ++d) {
    if (program.grid_bound[d] >= 0) {
      return absl::UnimplementedError(Cat("kernel @", program.kernel_name,
                                          " has a grid whose size is an operand; how many blocks fit is not known "
                                          "then: export it for a fixed grid"));
    }
    grid.push_back(program.grid[d].size);
  }
  return grid;
}

// At least so many registers are a block's that fewer may fit than by what the text allocates.
void LimitByRegisters(const GpuCosts& costs, const kernel::PreparedKernelState& kernel, const RegisterNeed& need,
                      threads::Residency* residency) {
  if (need.blocks >= residency->blocks) return;
  residency->blocks = std::max<std::int64_t>(1, need.blocks);
  residency->why = Cat(costs.sms, " SMs hold ", residency->blocks, residency->blocks == 1 ? " block" : " blocks",
                       " each (a lane has at least ", need.most, " registers at ",
                       report::LineText(kernel.module(), kernel.text(), need.line), ", of ", costs.registers.of_sm,
                       " for all lanes of an SM)");
}

}  // namespace

absl::StatusOr<SmBlocks> SmBlocksOf(const Machine& machine, const GpuCosts& costs,
                                    const kernel::PreparedKernelState& kernel) {
  PALLADION_ASSIGN_OR_RETURN(const Bytes shared, machine.Get(Key<Bytes>("smem.of_block")));
  PALLADION_ASSIGN_OR_RETURN(const std::vector<std::int64_t> grid, GridOf(kernel.program()));
  const std::optional<ThreadMesh>& mesh = kernel.program().mesh;
  const bool has_threads = mesh.has_value() && mesh->thread_dim;
  SmBlocks blocks{
      .residency = threads::ResidencyIn({.sms = costs.sms, .shared_bytes = static_cast<std::int64_t>(shared.value())},
                                        kernel.program(), kernel.text(), grid),
      .registers = {},
      .threads = has_threads ? grid.back() : 1};
  blocks.registers = RegistersOf(kernel.text(), blocks.threads, costs.registers);
  LimitByRegisters(costs, kernel, blocks.registers, &blocks.residency);
  return blocks;
}

}  // namespace palladion::timing::gpu
