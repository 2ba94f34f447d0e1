// The matrix product of values in registers (PTX: mma.sync), which is complete when it returns. Spec:
// docs/spec/dot.md#mma. Based on: plgpu.mma of JAX 0.11 and 0.12, whose shape and type rules these are. Does not
// catch: layouts of registers that the instruction does not take, which JAX's lowering infers or refuses.
#include <utility>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/families.h"
#include "semantics/ops/matrix/mma.h"
#include "semantics/registry/attrs.h"
#include "semantics/simd/dot.h"

namespace palladion {
namespace {

bool Multiplies(DType operand, DType acc) {
  if (!IsFloat(operand)) return acc == DType::kI32;
  return acc == DType::kF64 || acc == DType::kF32 || acc == DType::kF16;
}

absl::Status VerifyMma(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 3));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 1));
  const Type &acc = context.in[0], &a = context.in[1], &b = context.in[2];
  const bool fits = acc.is_array() && a.is_array() && b.is_array() && acc.rank() == 2 && a.rank() == 2 &&
                    b.rank() == 2 && a.shape[0] == acc.shape[0] && b.shape[1] == acc.shape[1] &&
                    a.shape[1] == b.shape[0];
  if (!fits) {
    return absl::InvalidArgumentError(Cat("expected values acc[m,n], a[m,k] and b[k,n]; found ", ToString(acc), ", ",
                                          ToString(a), " and ", ToString(b)));
  }
  if (a.dtype != b.dtype || !Multiplies(a.dtype, acc.dtype)) {
    return absl::InvalidArgumentError(
        Cat("expected a and b of one type, with acc of i32 for integers and of f64, f32 or f16 for floats; found ",
            Name(acc.dtype), ", ", Name(a.dtype), " and ", Name(b.dtype)));
  }
  return ExpectType(op, 0, acc);
}

void EvalMma(const Mma& mma, const ValueOperands& operands) {
  mma.Multiply(operands.in[1], operands.in[2], operands.in[0], operands.out[0],
               absl::MakeSpan(operands.scratch, mma.scratch_bytes()));
}

// dot.md#mma: acc + a b.
absl::StatusOr<ValueKernel> PrepareMma(const Instr&, const ValueTypes& types) {
  const Type &acc = types.in[0], &a = types.in[1];
  Mma mma({acc.shape[0], acc.shape[1], a.shape[1], a.dtype, a.dtype, acc.dtype});
  const std::size_t scratch = mma.scratch_bytes();
  ValueKernel kernel = Bind<EvalMma>(std::move(mma), scratch);
  kernel.work =
      static_cast<double>(NumElements(acc.shape)) * static_cast<double>(a.shape[1]) / simd::kMultiplyAddsOfElement;
  return kernel;
}

constexpr OpRow kRegisterMmaOps[] = {
    {.name = "mma",
     .spec = "dot.md#mma",
     .verify = VerifyMma,
     .prepare = PrepareMma,
     .flow = Flow::kDot,
     .backends = kNoBackend,
     .later = kGpu,
     .unit = Unit::kMatrix},
};

}  // namespace

absl::Span<const OpRow> RegisterMmaOps() { return kRegisterMmaOps; }

}  // namespace palladion
