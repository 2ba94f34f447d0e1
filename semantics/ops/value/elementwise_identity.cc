// Operations whose result is their operand, bits kept: hints to a compiler, layouts, barriers of its optimiser.
#include <cstring>
#include <vector>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/families.h"
#include "semantics/ops/value/elementwise_common.h"
#include "semantics/registry/attrs.h"
#include "semantics/registry/inspect.h"

namespace palladion {
namespace {

// As many results as operands, each of its operand's type. Arrays and keys.
absl::Status VerifyIdentity(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, context.in.size()));
  for (std::size_t i = 0; i < context.in.size(); ++i) {
    if (!context.in[i].is_array() && !context.in[i].is_key()) {
      return absl::InvalidArgumentError(Cat("operand ", i, " must be an array; found ", ToString(context.in[i])));
    }
    PALLADION_RETURN_IF_ERROR(ExpectType(op, i, context.in[i]));
  }
  return absl::OkStatus();
}

absl::Status VerifyOneIdentity(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 1));
  return VerifyIdentity(op, context);
}

// `values`: a promise about the operand, which the checks may read; at least one, all positive.
absl::Status VerifyHint(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(VerifyOneIdentity(op, context));
  PALLADION_RETURN_IF_ERROR(ExpectKind(context, 0, kInts));
  PALLADION_ASSIGN_OR_RETURN(const std::vector<std::int64_t> values, IntsAttr(op, "values"));
  for (std::int64_t value : values) {
    if (value < 1) return absl::InvalidArgumentError(Cat("attribute 'values' must be positive; found ", value));
  }
  if (!values.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError("attribute 'values' must have at least one entry; found none");
}

struct IdentityParams {
  std::vector<std::size_t> bytes;
};
void EvalIdentity(const IdentityParams& p, const ValueOperands& operands) {
  for (std::size_t i = 0; i < p.bytes.size(); ++i) {
    if (p.bytes[i] != 0) std::memcpy(operands.out[i], operands.in[i], p.bytes[i]);
  }
}

absl::StatusOr<ValueKernel> PrepareIdentity(const Instr&, const ValueTypes& types) {
  IdentityParams params;
  for (const Type& type : types.in) params.bytes.push_back(Bytes(type));
  return Bind<EvalIdentity>(std::move(params));
}

constexpr OpRow kIdentityOps[] = {
    {.name = "stop_gradient",
     .spec = "elementwise.md#stop_gradient",
     .verify = VerifyOneIdentity,
     .prepare = PrepareIdentity,
     .flow = Flow::kMove,
     .backends = kTpuTriton,
     .unit = Unit::kNone},
    {.name = "copy",
     .spec = "elementwise.md#copy",
     .verify = VerifyOneIdentity,
     .prepare = PrepareIdentity,
     .flow = Flow::kMove,
     .backends = {},  // lax.copy has no lowering anywhere; stage and reshard, which were written so once, have
     .unit = Unit::kNone},
    {.name = "optimization_barrier",
     .spec = "elementwise.md#optimization_barrier",
     .verify = VerifyIdentity,
     .prepare = PrepareIdentity,
     .flow = Flow::kMove,
     .backends = kGpu,
     .unit = Unit::kNone},
    {.name = "layout_cast",
     .spec = "elementwise.md#layout_cast",
     .verify = VerifyOneIdentity,
     .prepare = PrepareIdentity,
     .flow = Flow::kMove,
     .backends = kGpu,
     .unit = Unit::kNone},
    {.name = "reshard",
     .spec = "elementwise.md#reshard",
     .verify = VerifyOneIdentity,
     .prepare = PrepareIdentity,
     .flow = Flow::kMove,
     .unit = Unit::kNone},
    {.name = "stage",
     .spec = "elementwise.md#stage",
     .verify = VerifyOneIdentity,
     .prepare = PrepareIdentity,
     .flow = Flow::kMove,
     .backends = kTpu,
     .unit = Unit::kNone},
    {.name = "multiple_of",
     .spec = "elementwise.md#multiple_of",
     .verify = VerifyHint,
     .prepare = PrepareIdentity,
     .inspect = InspectMultipleOf,
     .flow = Flow::kMove,
     .unit = Unit::kNone},
    {.name = "max_contiguous",
     .spec = "elementwise.md#max_contiguous",
     .verify = VerifyHint,
     .prepare = PrepareIdentity,
     .inspect = InspectMaxContiguous,
     .flow = Flow::kMove,
     .backends = kTriton,
     .unit = Unit::kNone},
};

}  // namespace

absl::Span<const OpRow> IdentityOps() { return kIdentityOps; }

}  // namespace palladion
