#include "semantics/prepare/semaphore_operand.h"

#include <algorithm>
#include <string>
#include <utility>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/gpu/gpu_scope.h"
#include "semantics/program/scratch_scope.h"

namespace palladion {
namespace {

// "" where the machine has such operands.
std::string WhyNone(const OperandInfo& info, const Program& program) {
  const ElementKind kind = info.type.element;
  const bool counts = kind == ElementKind::kDmaSem || kind == ElementKind::kSem || kind == ElementKind::kBarrierSem;
  if (program.target.backend != TargetBackend::kMosaicTpu) return "are modelled on a TPU only";
  if (!counts) return "are no semaphores, and end with the kernel";
  if (info.role != Role::kIn && info.role != Role::kOut) return "are in or out operands only";
  if (program.mesh.has_value()) return "are not modelled over a mesh of cores";
  const auto parallel = std::count(program.dim_order.begin(), program.dim_order.end(), DimOrder::kParallel);
  if (parallel > static_cast<std::ptrdiff_t>(program.device_axes.size()))
    return "are not modelled in a grid with parallel dimensions, which several cores may share";
  return "";
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
