#include "semantics/prepare/semaphore_operand.h"

#include <string>
#include <utility>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/scope/scope_objects.h"
#include "semantics/program/agent_naming.h"
#include "semantics/program/scratch_scope.h"

namespace palladion {
namespace {

// Does the grid name cores, or leave them to the chip? Of a mesh each has semaphores of its own.
bool MayHaveSeveralCores(const Program& program) {
  if (CountsCores(program)) return false;
  for (std::size_t i = program.device_axes.size(); i < program.grid.size(); ++i) {
    if (program.dim_order[i] == DimOrder::kParallel && program.grid[i].size != 1) return true;
  }
  return false;
}

// "" where the machine has such operands.
std::string WhyNone(const OperandInfo& info, const Program& program) {
  const ElementKind kind = info.type.element;
  const bool counts = kind == ElementKind::kDmaSem || kind == ElementKind::kSem || kind == ElementKind::kBarrierSem;
  if (program.target.backend != TargetBackend::kMosaicTpu) return "are modelled on a TPU only";
  if (!counts) return "are no semaphores, and end with the kernel";
  if (info.role != Role::kIn && info.role != Role::kOut) return "are in or out operands only";
  if (!MayHaveSeveralCores(program)) return "";
  return "are not modelled in a grid with parallel dimensions, which several cores may share";
}

}  // namespace

// tpu-sessions.md#semaphores: the caller's array has its number in the session. An output in the memory of an input is
// the same semaphores.
absl::Status DescribeSemaphores(ValueId param, OperandInfo info, Builder& builder) {
  Program& program = builder.program();
  if (const std::string why = WhyNone(info, program); !why.empty()) {
    return absl::UnimplementedError(Cat("operand '", info.name, "' is ", ToString(info.type),
                                        ", and those of an operand ", why,
                                        "; start and await what they count in one kernel, with the semaphore in "
                                        "scratch_shapes"));
  }
  info.type = Type{.dtype = DType::kI16, .shape = info.type.shape, .element = info.type.element};
  info.mode = BlockMode::kScoped;
  if (info.alias >= 0) {
    info.ref = program.operand_infos[static_cast<std::size_t>(info.alias)].ref;
    builder.DefineRef(param, info.ref);
  } else {
    const std::int64_t number = CollectiveOfOperand(program.operand_infos.size());
    PALLADION_ASSIGN_OR_RETURN(info.ref, DefineSync(param, PlaceLevel::kThread, builder, number));
  }
  program.operand_infos.push_back(std::move(info));
  return absl::OkStatus();
}

}  // namespace palladion
