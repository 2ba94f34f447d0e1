// Operations of a GPU's thread that direct the machine or the compiler and touch no memory: registers, layouts,
// kernels that overlap. Spec: docs/spec/gpu-control.md.
#include <algorithm>
#include <string>
#include <string_view>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/families.h"
#include "semantics/program/builder.h"
#include "semantics/registry/attrs.h"

namespace palladion {
namespace {

absl::Status VerifyRegisters(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 1));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 0));
  const absl::StatusOr<std::string> action = StringAttr(op, "action");
  PALLADION_RETURN_IF_ERROR(action.status());
  if (const std::string_view word = *action; word != "increase" && word != "decrease") {
    return absl::InvalidArgumentError(Cat("action must be increase or decrease; found ", word));
  }
  const Type& count = context.in[0];
  if (count.is_array() && count.shape.empty() && IsInteger(count.dtype)) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("the number of registers must be an integer; found ", ToString(count)));
}

absl::Status VerifyPrintLayout(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 1));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 0));
  return StringAttr(op, "fmt").status();
}

// gpu-control.md#set_max_registers, gpu-control.md#print_layout, gpu-control.md#griddepcontrol_launch_dependents:
// nothing in the kernel depends on them, so there is no step.
absl::Status LowerNothing(const Instr&, Builder&) { return absl::OkStatus(); }

// ---- inline_mgpu

// Those of shared memory: the first two are what plgpu.dynamic_scheduling_loop writes around the answers of cluster
// launch control.
constexpr std::string_view kAcquires = "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;";
constexpr std::string_view kProxyFences[] = {
    kAcquires,
    "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;",
    "fence.proxy.async.shared::cta;",
    "fence.proxy.async.shared::cluster;",
};

absl::Status VerifyInline(const Instr& op, const VerifyContext&) {
  const absl::StatusOr<std::string> ptx = HasAttr(op, "ptx") ? StringAttr(op, "ptx") : std::string();
  PALLADION_RETURN_IF_ERROR(ptx.status());
  if (std::find(std::begin(kProxyFences), std::end(kProxyFences), *ptx) != std::end(kProxyFences)) {
    return ExpectResults(op, 0);
  }
  const absl::StatusOr<std::string> function = StringAttr(op, "function");
  return absl::UnimplementedError(Cat(
      "inline_mgpu is not supported: ", function.ok() ? *function : "its function",
      " writes machine code while the kernel is compiled, ",
      ptx->empty() ? "which has no meaning outside its compiler" : Cat("\"", *ptx, "\", which is not known"),
      "; known are bar.sync, bar.arrive, barrier.cluster and the proxy fences of shared memory. Say what it means with "
      "palladion.model_inline"));
}

struct FenceParams {
  Fence fence;
};

absl::Status RunFence(const void* params, const Step& step, Frame& frame) {
  return frame.machine().Make(static_cast<const FenceParams*>(params)->fence, frame.site(step));
}

// gpu-control.md#inline_mgpu: what commit_smem does; the acquiring half orders asynchronous writes before plain reads,
// which nothing here needs.
absl::Status LowerInline(const Instr& op, Builder& builder) {
  PALLADION_ASSIGN_OR_RETURN(const std::string ptx, StringAttr(op, "ptx"));
  if (ptx == kAcquires) return absl::OkStatus();
  builder.Emit(RunFence, FenceParams{Fence::kSharedToAsync});
  return absl::OkStatus();
}

// ---- griddepcontrol

absl::Status VerifyGridControl(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 0));
  return ExpectResults(op, 0);
}

// gpu-control.md#griddepcontrol_wait: from here on the thread knows what the kernels before this one wrote.
absl::Status LowerGridWait(const Instr&, Builder& builder) {
  builder.Emit(RunFence, FenceParams{Fence::kPrerequisiteGrids});
  return absl::OkStatus();
}

constexpr OpRow kGpuControlOps[] = {
    {.dialect = "",
     .name = "set_max_registers",
     .spec = "gpu-control.md#set_max_registers",
     .verify = VerifyRegisters,
     .lower = LowerNothing,
     .effect = Effect::kSynchronises,
     .waits = Waits::kNever,
     .signals = Signals::kNever,
     .decides = Decides::kNever,
     .backends = kGpu,
     .unit = Unit::kControl},
    {.dialect = "",
     .name = "print_layout",
     .spec = "gpu-control.md#print_layout",
     .verify = VerifyPrintLayout,
     .lower = LowerNothing,
     .effect = Effect::kPrints,
     .named_refs = true,
     .backends = kGpu,
     .unit = Unit::kNone},
    {.dialect = "",
     .name = "inline_mgpu",
     .spec = "gpu-control.md#inline_mgpu",
     .verify = VerifyInline,
     .lower = LowerInline,
     .effect = Effect::kSynchronises,
     .asks_port = AsksPort::kAlways,
     .waits = Waits::kNever,
     .signals = Signals::kNever,
     .decides = Decides::kNever,
     .named_refs = true,
     .backends = kGpu,
     .unit = Unit::kControl},
    {.dialect = "",
     .name = "griddepcontrol_wait",
     .spec = "gpu-control.md#griddepcontrol_wait",
     .verify = VerifyGridControl,
     .lower = LowerGridWait,
     .effect = Effect::kSynchronises,
     .asks_port = AsksPort::kAlways,
     .waits = Waits::kLaunch,
     .signals = Signals::kNever,
     .decides = Decides::kNever,
     .backends = kGpu,
     .unit = Unit::kControl},
    {.dialect = "",
     .name = "griddepcontrol_launch_dependents",
     .spec = "gpu-control.md#griddepcontrol_launch_dependents",
     .verify = VerifyGridControl,
     .lower = LowerNothing,
     .effect = Effect::kSynchronises,
     .waits = Waits::kNever,
     .signals = Signals::kNever,
     .decides = Decides::kNever,
     .backends = kGpu,
     .unit = Unit::kControl},
};

}  // namespace

absl::Span<const OpRow> GpuControlOps() { return kGpuControlOps; }

}  // namespace palladion
