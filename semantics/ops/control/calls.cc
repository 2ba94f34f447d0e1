// Calls of one region: jit and its kin. The exporter inlines them; kernel text may have them. Spec:
// docs/spec/control.md. Based on: JAX's call primitives.
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/families.h"
#include "semantics/program/builder.h"
#include "semantics/registry/attrs.h"

namespace palladion {
namespace {

absl::Status VerifyCall(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectRegions(op, 1));
  // A ref goes to the callee as a ref, where other operations see the array behind it.
  std::vector<Type> passed = context.in;
  for (std::size_t i = 0; i < op.args.size(); ++i) {
    const Arg& arg = op.args[i];
    if (arg.kind == Arg::Kind::kValue && context.kernel.values[arg.value.index()].type.is_ref())
      passed[i].kind = TypeKind::kRef;
  }
  PALLADION_RETURN_IF_ERROR(ExpectParams(op.regions[0], context.kernel, passed, "the callee"));
  return ExpectReturns(op.regions[0], context.kernel, op.types, "the callee");
}

// control.md#jit: the region's parameters are the operands; a ref parameter is the operand's ref.
absl::Status LowerCall(const Instr& op, Builder& builder) {
  const Region& callee = op.regions[0];
  for (std::size_t i = 0; i < op.args.size(); ++i) {
    const ValueId param = callee.params[i].value;
    if (builder.TypeOf(param).is_ref()) {
      if (!op.args[i].transforms.empty())
        return absl::UnimplementedError("a view as the operand of a call; pass the ref and view it inside");
      builder.DefineRef(param, builder.RefOf(op.args[i].value));
      continue;
    }
    PALLADION_ASSIGN_OR_RETURN(SlotId slot, builder.In(op.args[i]));
    builder.DefineAs(param, slot);
  }
  std::vector<SlotId> results;
  for (std::size_t i = 0; i < op.results.size(); ++i) {
    results.push_back(op.results[i].valid() ? builder.Define(op.results[i]) : builder.NewSlot(op.types[i]));
  }
  PALLADION_RETURN_IF_ERROR(builder.LowerRegion(callee, results));
  for (std::size_t i = 0; i < op.results.size(); ++i) {
    if (!op.results[i].valid()) builder.FreeSlot(results[i]);
  }
  return absl::OkStatus();
}

constexpr OpRow CallRow(std::string_view name, std::string_view spec, Backends backends) {
  return {.dialect = "",
          .name = name,
          .spec = spec,
          .verify = VerifyCall,
          .lower = LowerCall,
          .effect = Effect::kControl,
          .loops = Loops::kOnce,
          .backends = backends,
          .unit = Unit::kControl};
}

constexpr OpRow kCallOps[] = {
    CallRow("jit", "control.md#jit", kAllBackends),
    CallRow("closed_call", "control.md#closed_call", kTriton),
    CallRow("custom_jvp_call", "control.md#custom_jvp_call", kTpuTriton),
    CallRow("custom_vjp_call", "control.md#custom_vjp_call", kTpu),
    CallRow("checkpoint", "control.md#checkpoint", kTriton),
};

}  // namespace

absl::Span<const OpRow> CallOps() { return kCallOps; }

}  // namespace palladion
