#include "emu/tools/fit/fit_gpu.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emu/chip/layouts/register_layouts.h"
#include "emu/chip/layouts/shared_memory.h"
#include "emu/chip/layouts/tensor_memory.h"
#include "emu/chip/layouts/triton_memory.h"
#include "emu/chip/machines/chip.h"
#include "emu/chip/machines/description.h"
#include "emu/timing/gpu/machine_costs.h"
#include "emu/timing/gpu/sm_blocks.h"
#include "emu/timing/report/line_places.h"
#include "semantics/base/cat.h"
#include "semantics/base/saturating.h"
#include "semantics/base/status.h"

namespace palladion::fit {
namespace {

void AddRow(Memory* memory, std::string what, std::int64_t amount) {
  if (amount == 0) return;
  memory->rows.push_back(
      {.kind = "", .name = std::move(what), .array = "", .one = amount, .unpadded = amount, .why = ""});
  memory->held += amount;
}

// A kernel that fills shared memory to the last byte is refused: the compiled kernel needs a little of it.
Memory SharedMemory(const legality::Legality& legality) {
  const machines::Chip& chip = *legality.chip();
  Memory memory{.name = "shared memory", .limit = {Cat("what one block of ", chip.name, " may have"), chip.smem_bytes}};
  for (layouts::SharedMemoryPart& part : layouts::SharedMemoryHeld(legality.kernel(), &legality.program()))
    AddRow(&memory, std::move(part.what), static_cast<std::int64_t>(part.bytes.value()));
  if (memory.held >= memory.limit.amount) memory.verdict = Verdict::kDoesNotFit;
  return memory;
}

Memory TensorMemory(const Kernel& kernel, const machines::Chip& chip) {
  Memory memory{.name = "tensor memory",
                .unit = Unit::kColumns,
                .limit = {Cat("what one block of ", chip.name, " may have"), layouts::kTensorMemoryColumns}};
  for (layouts::TensorMemoryPart& part : layouts::TensorMemoryOfScopes(kernel))
    AddRow(&memory, std::move(part.what), part.columns);
  if (memory.held > memory.limit.amount) memory.verdict = Verdict::kDoesNotFit;
  return memory;
}

// What is over the limit spills to local memory: slow, and no error.
Memory Registers(const kernel::PreparedKernelState& kernel, const timing::gpu::RegisterNeed& need,
                 const timing::gpu::RegisterRoom& room) {
  Memory memory{
      .name = "registers of a lane", .unit = Unit::kRegisters, .limit = {"what a thread may have", room.of_thread}};
  if (need.limit > 0 && need.limit < room.of_thread)
    memory.limit = {"its part of an SM's, or what set_max_registers requested", need.limit};
  AddRow(&memory,
         need.line == 0
             ? "at least"
             : Cat("at least, alive at ", timing::report::LineText(kernel.module(), kernel.text(), need.line)),
         need.most);
  if (need.spilled > 0)
    memory.estimates.push_back({"spilled to local memory", need.spilled,
                                timing::report::LineText(kernel.module(), kernel.text(), need.spill_line)});
  if (need.spilled > 0) memory.verdict = Verdict::kMayNotFit;
  return memory;
}

// The least is what an SM holds.
struct SmLimit {
  std::int64_t blocks = 0;
  std::string why;
};

SmBlocks BlocksOfTriton(const timing::gpu::RegisterNeed& need, std::int64_t lanes, const Memory& shared,
                        const timing::gpu::GpuCosts& costs) {
  constexpr std::int64_t kLanesOfSm = 2048, kBlocksOfSm = 32, kReserved = 1024;  // emu/run/threads/residency.h
  const std::int64_t bytes = shared.held + shared.estimate;
  const std::vector<SmLimit> limits = {
      {(shared.limit.amount + kReserved) / (bytes + kReserved),
       Cat("an estimated ", bytes, " of its ", shared.limit.amount, " bytes of shared memory are one block's")},
      {kLanesOfSm / lanes, Cat("it has ", kLanesOfSm, " lanes")},
      {kBlocksOfSm, "it holds no more"},
      {need.blocks,
       Cat("a lane has at least ", need.most, " registers, of ", costs.registers.of_sm, " for all lanes of an SM")}};
  const SmLimit& least = *std::min_element(limits.begin(), limits.end(),
                                           [](const SmLimit& a, const SmLimit& b) { return a.blocks < b.blocks; });
  const std::int64_t blocks = std::max<std::int64_t>(1, least.blocks);
  return {.count = blocks,
          .why = Cat(costs.sms, " SMs hold ", blocks, blocks == 1 ? " block each (" : " blocks each (", least.why, ")"),
          .lanes = lanes};
}

// Shared memory is what the compiler makes of the products.
void AddTriton(const kernel::PreparedKernelState& kernel, const machines::Chip& chip,
               const timing::gpu::GpuCosts& costs, KernelFit* fit) {
  Memory shared{.name = "shared memory", .limit = {Cat("what one block of ", chip.name, " may have"), chip.smem_bytes}};
  for (layouts::TritonOperands& one : layouts::SharedMemoryOfTriton(kernel.text())) {
    shared.estimate += one.bytes;
    shared.estimates.push_back(
        {std::move(one.what), one.bytes, timing::report::LineText(kernel.module(), kernel.text(), one.text_line)});
  }
  fit->not_counted = {
      "what Triton's compiler takes of shared memory for changes of layout and reductions, and registers of addresses"};
  shared.most = shared.estimate;
  if (shared.estimate > shared.limit.amount) shared.verdict = Verdict::kMayNotFit;
  const timing::gpu::RegisterNeed need = timing::gpu::RegistersOfTriton(kernel.text(), costs.registers);
  fit->of_sm = BlocksOfTriton(need, layouts::LanesOfTriton(kernel.text()), shared, costs);
  if (shared.verdict == Verdict::kMayNotFit)
    fit->advice = Cat("take smaller blocks, or num_stages below ", layouts::StagesOfTriton(kernel.text()));
  fit->memories.push_back(std::move(shared));
  if (need.most > 0) fit->memories.push_back(Registers(kernel, need, costs.registers));
}

absl::Status AddMosaicGpu(const kernel::PreparedKernelState& kernel, const machines::Machine& machine,
                          const timing::gpu::GpuCosts& costs, KernelFit* fit) {
  const Target& target = kernel.program().target;
  const legality::Legality legality(kernel.text(), target, &kernel.program());
  fit->memories.push_back(SharedMemory(legality));
  if (Memory columns = TensorMemory(kernel.text(), *legality.chip()); columns.held > 0)
    fit->memories.push_back(std::move(columns));
  const absl::StatusOr<timing::gpu::SmBlocks> blocks = timing::gpu::SmBlocksOf(machine, costs, kernel);
  if (absl::IsUnimplemented(blocks.status())) return absl::OkStatus();  // a grid that is known only at run time
  PALLADION_RETURN_IF_ERROR(blocks.status());
  if (blocks->registers.most > 0) fit->memories.push_back(Registers(kernel, blocks->registers, costs.registers));
  fit->of_sm = SmBlocks{blocks->residency.blocks, blocks->residency.why, blocks->threads * layouts::kLanesOfGroup};
  return absl::OkStatus();
}

// Of all blocks of the grid, without the threads of each.
std::optional<std::int64_t> ProgramsOf(const Program& program) {
  std::int64_t programs = 1;
  for (std::size_t d = 0; d < program.block_dims(); ++d) {
    if (program.grid_bound[d] >= 0) return std::nullopt;
    programs = SaturatingMultiply(programs, program.grid[d].size);
  }
  return programs;
}

}  // namespace

absl::StatusOr<KernelFit> FitOfGpu(const kernel::PreparedKernelState& kernel) {
  const Target& target = kernel.program().target;
  PALLADION_ASSIGN_OR_RETURN(const machines::Machine* machine, machines::FindMachine(target.chip));
  PALLADION_ASSIGN_OR_RETURN(const timing::gpu::ChipCosts costs, timing::gpu::CostsOf(*machine));
  const timing::gpu::GpuCosts& common = timing::gpu::Common(costs);
  KernelFit fit;
  fit.programs = ProgramsOf(kernel.program());
  if (target.backend == TargetBackend::kTriton) {
    AddTriton(kernel, *machines::FindChip(target.chip), common, &fit);
    return fit;
  }
  PALLADION_RETURN_IF_ERROR(AddMosaicGpu(kernel, *machine, common, &fit));
  for (const Memory& memory : fit.memories) {
    if (memory.verdict != Verdict::kDoesNotFit) continue;
    fit.of_sm.reset();
    const std::int64_t over = memory.held - memory.limit.amount;
    const std::string less = memory.unit == Unit::kBytes ? legality::BytesText((over + 1024) / 1024 * 1024)
                                                         : Cat(over, " ", Name(memory.unit));
    fit.advice =
        Cat("hold at least ", less, " less in ", memory.name, ": smaller blocks, fewer buffers, or less scratch");
  }
  return fit;
}

}  // namespace palladion::fit
