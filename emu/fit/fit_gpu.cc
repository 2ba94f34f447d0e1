#include "emu/fit/fit_gpu.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "emu/agents/prepared_kernel.h"
#include "emu/legality/capacity.h"
#include "emu/legality/gpu_tensor_memory.h"
#include "emu/machines/description.h"
#include "emu/time/line_places.h"
#include "emu/time/machine_costs.h"
#include "emu/time/sm_blocks.h"
#include "semantics/base/cat.h"
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
  for (legality::SharedMemoryPart& part : SharedMemoryHeld(legality))
    AddRow(&memory, std::move(part.what), static_cast<std::int64_t>(part.bytes.value()));
  if (memory.held >= memory.limit.amount) memory.verdict = Verdict::kDoesNotFit;
  return memory;
}

Memory TensorMemory(const Kernel& kernel, const machines::Chip& chip) {
  Memory memory{.name = "tensor memory",
                .unit = Unit::kColumns,
                .limit = {Cat("what one block of ", chip.name, " may have"), legality::kTensorMemoryColumns}};
  for (legality::TensorMemoryPart& part : legality::TensorMemoryOfScopes(kernel))
    AddRow(&memory, std::move(part.what), part.columns);
  if (memory.held > memory.limit.amount) memory.verdict = Verdict::kDoesNotFit;
  return memory;
}

// What is over the limit spills to local memory: slow, and no error.
Memory Registers(const agents::PreparedKernelState& kernel, const time::SmBlocks& blocks,
                 const time::RegisterRoom& room) {
  const time::RegisterNeed& need = blocks.registers;
  Memory memory{
      .name = "registers of a lane", .unit = Unit::kRegisters, .limit = {"what a thread may have", room.of_thread}};
  if (need.limit > 0 && need.limit < room.of_thread)
    memory.limit = {"its part of an SM's, or what set_max_registers asked for", need.limit};
  AddRow(&memory,
         need.line == 0 ? "at least"
                        : Cat("at least, alive at ", time::LineText(kernel.module(), kernel.text(), need.line)),
         need.most);
  if (need.spilled > 0)
    memory.estimates.push_back(
        {"spilled to local memory", need.spilled, time::LineText(kernel.module(), kernel.text(), need.spill_line)});
  if (need.spilled > 0) memory.verdict = Verdict::kMayNotFit;
  return memory;
}

}  // namespace

absl::StatusOr<KernelFit> FitOfGpu(std::string_view text, const PrepareOptions& options) {
  PALLADION_ASSIGN_OR_RETURN(const PreparedKernel prepared, PrepareText(text, options));
  const agents::PreparedKernelState& kernel = prepared.state();
  const Target& target = kernel.program().target;
  const legality::Legality legality(kernel.text(), target, &kernel.program());
  KernelFit fit;
  fit.memories.push_back(SharedMemory(legality));
  if (Memory columns = TensorMemory(kernel.text(), *legality.chip()); columns.held > 0)
    fit.memories.push_back(std::move(columns));
  PALLADION_ASSIGN_OR_RETURN(const machines::Machine* machine, machines::FindMachine(target.chip));
  PALLADION_ASSIGN_OR_RETURN(const time::ChipCosts costs, time::CostsOf(*machine));
  const time::GpuCosts& common = time::Common(costs);
  const absl::StatusOr<time::SmBlocks> blocks = time::SmBlocksOf(*machine, common, kernel);
  if (blocks.ok()) {  // not of a grid that is known only at run time
    if (blocks->registers.most > 0) fit.memories.push_back(Registers(kernel, *blocks, common.registers));
    fit.of_sm = SmBlocks{blocks->residency.blocks, blocks->residency.why};
  }
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
