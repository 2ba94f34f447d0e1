#include "semantics/prepare/block_mode.h"

#include <algorithm>
#include <variant>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion {
namespace {

bool IsAliased(const Operand& operand, const Kernel& kernel) {
  return operand.alias.valid() ||
         std::any_of(kernel.operands.begin(), kernel.operands.end(),
                     [&](const Operand& other) { return other.alias.valid() && other.alias == operand.value; });
}

// An array that kernels of a program hand on in a core's memory (pltpu.VMEM as `out_shape`): nothing is fetched.
bool StaysInCore(const Operand& operand, const Kernel& kernel) {
  const Attr* attr = Find(kernel.other, "arrays");
  const AttrMap* arrays = attr == nullptr ? nullptr : std::get_if<AttrMap>(&attr->value);
  return arrays != nullptr && Find(*arrays, kernel.values[operand.value.index()].name) != nullptr;
}

// It is fetched at its start, and an output goes back at its end: a block like any other, which no program leaves. That
// shows where two operands are one array, and for outputs where there are several cores or blocks; elsewhere the array
// itself does as well (emu/run/agents/core_copies.h has what inputs need on several cores).
bool HasCopyOfItsOwn(const Operand& operand, Space space, const Kernel& kernel, const Program& program) {
  if (!LiesInCore(operand, space, kernel, program) || StaysInCore(operand, kernel)) return false;
  const std::vector<DimOrder>& order = program.dim_order;
  const bool several =
      operand.role == Role::kOut && std::find(order.begin(), order.end(), DimOrder::kParallel) != order.end();
  return several || IsAliased(operand, kernel);
}

}  // namespace

bool LiesInCore(const Operand& operand, Space space, const Kernel& kernel, const Program& program) {
  const bool tpu = program.target.backend == TargetBackend::kMosaicTpu;
  const bool gpu = program.target.backend == TargetBackend::kMosaicGpu && kernel.launch.mesh.empty();
  if ((!tpu && !gpu) || operand.role == Role::kScratch) return false;
  // Over a mesh of cores nothing is fetched: what names no space is where the caller has it.
  return operand.role == Role::kPrefetch || (space == Space::kDefault && kernel.launch.mesh.empty()) ||
         space == Space::kSmem || (tpu && space == Space::kVmem);
}

absl::Status ExpectArrays(const Kernel& kernel) {
  const Attr* attr = Find(kernel.other, "arrays");
  const AttrMap* arrays = attr == nullptr ? nullptr : std::get_if<AttrMap>(&attr->value);
  if (arrays == nullptr) return absl::OkStatus();
  for (const AttrEntry& entry : *arrays) {
    const bool space =
        entry.second.value == Attr{AttrIdent{"vmem"}}.value || entry.second.value == Attr{AttrIdent{"smem"}}.value;
    const bool known = std::any_of(kernel.operands.begin(), kernel.operands.end(), [&](const Operand& operand) {
      return kernel.values[operand.value.index()].name == entry.first;
    });
    if (space && known) continue;
    return absl::InvalidArgumentError(
        Cat("kernel @", kernel.name, ": `arrays` must name operands and where their arrays lie, vmem or smem; found ",
            entry.first, "=", ToString(entry.second)));
  }
  return absl::OkStatus();
}

BlockMode ModeOf(const Operand& operand, Space space, const Kernel& kernel, const Program& program) {
  const Target& target = program.target;
  if (!operand.block.has_value())
    return HasCopyOfItsOwn(operand, space, kernel, program) ? BlockMode::kResident : BlockMode::kWhole;
  if (target.backend == TargetBackend::kGeneric || target.backend == TargetBackend::kTriton) return BlockMode::kView;
  // ANY, HBM and GMEM refs are the array itself, reached by the kernel's own copies.
  const bool in_place = space == Space::kAny || space == Space::kHbm || space == Space::kGmem;
  return in_place ? BlockMode::kView : BlockMode::kResident;
}

std::int64_t BuffersOf(const Operand& operand) {
  constexpr std::int64_t kByDefault = 2;
  if (!operand.block.has_value()) return 1;
  const Attr* count = operand.block->buffered.has_value() ? Find(*operand.block->buffered, "buffer_count") : nullptr;
  const std::int64_t* number = count == nullptr ? nullptr : std::get_if<std::int64_t>(&count->value);
  return number == nullptr ? kByDefault : *number;
}

bool IsRestored(const Operand& operand, const Program& program) {
  if (program.target.backend != TargetBackend::kMosaicTpu || operand.role != Role::kOut || !operand.block.has_value() ||
      !operand.block->buffered.has_value())
    return false;
  const Attr* revisit = Find(*operand.block->buffered, "revisit");
  return revisit != nullptr && revisit->value == Attr{AttrIdent{"any"}}.value;
}

}  // namespace palladion
