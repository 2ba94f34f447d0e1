// What a thread of a GPU tells the machine or the compiler without touching memory: registers, layouts. Spec:
// docs/spec/gpu-control.md.
#include <string>
#include <string_view>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/attrs.h"
#include "semantics/ops/families.h"
#include "semantics/program/builder.h"

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

// gpu-control.md#set_max_registers, gpu-control.md#print_layout: no value depends on them, so there is no step.
absl::Status LowerNothing(const Instr&, Builder&) { return absl::OkStatus(); }

constexpr OpRow kRows[] = {
    {.dialect = "",
     .name = "set_max_registers",
     .spec = "gpu-control.md#set_max_registers",
     .verify = VerifyRegisters,
     .lower = LowerNothing,
     .effect = Effect::kSynchronises,
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
};

}  // namespace

absl::Span<const OpRow> GpuControlOps() { return kRows; }

}  // namespace palladion
