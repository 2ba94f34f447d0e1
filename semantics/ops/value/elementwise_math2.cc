// Elementary functions of two operands: pow and atan2. Their loops (semantics/simd/math.h) take arrays of one type, so
// an operand of rank 0 is repeated and an integer exponent converted, a block of elements at a time.
#include <algorithm>
#include <cstdint>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/families.h"
#include "semantics/ops/value/elementwise_common.h"
#include "semantics/registry/attrs.h"
#include "semantics/simd/math.h"
#include "semantics/simd/moves.h"
#include "semantics/tensor/convert.h"

namespace palladion {
namespace {

using simd::Math2Op;

constexpr std::size_t kBlock = 1024;  // elements: two blocks of f64 stay in the first-level cache

struct OperandPlan {
  ConvertFn convert;        // null: the operand has the type already
  std::size_t stored_size;  // bytes of an element in the operand
  bool broadcast;
};
struct Math2Params {
  simd::BinaryFn fn;
  std::size_t n;
  std::size_t element_size;
  OperandPlan plans[2];
};

// Elements [begin, begin + n) of an operand as the loop wants them: the operand's own memory or the block of scratch.
const std::byte* Load(const OperandPlan& plan, const std::byte* operand, std::size_t begin, std::size_t n,
                      std::byte* block) {
  if (plan.broadcast) return block;
  const std::byte* elements = operand + begin * plan.stored_size;
  if (plan.convert == nullptr) return elements;
  plan.convert(elements, block, n);
  return block;
}

void EvalMath2(const Math2Params& p, const ValueOperands& operands) {
  std::byte* blocks[2] = {operands.scratch, operands.scratch + kBlock * p.element_size};
  for (std::size_t i = 0; i < 2; ++i) {
    if (!p.plans[i].broadcast) continue;
    std::uint64_t element = 0;
    if (p.plans[i].convert != nullptr) {
      p.plans[i].convert(operands.in[i], &element, 1);
    } else {
      std::copy_n(operands.in[i], p.element_size, reinterpret_cast<std::byte*>(&element));
    }
    simd::Fill(&element, p.element_size, blocks[i], kBlock);
  }
  for (std::size_t begin = 0; begin < p.n; begin += kBlock) {
    const std::size_t n = std::min(kBlock, p.n - begin);
    const std::byte* x = Load(p.plans[0], operands.in[0], begin, n, blocks[0]);
    const std::byte* y = Load(p.plans[1], operands.in[1], begin, n, blocks[1]);
    p.fn(x, y, operands.out[0] + begin * p.element_size, n);
  }
}

template <Math2Op kOp>
absl::StatusOr<ValueKernel> PrepareMath2(const Instr& op, const ValueTypes& types) {
  const DType dtype = types.out[0].dtype;
  Math2Params params{
      .fn = simd::FindMath2(kOp, dtype), .n = Elements(types.out[0]), .element_size = StorageBytes(dtype), .plans = {}};
  if (params.fn == nullptr) return NoKernel(op, dtype);
  for (std::size_t i = 0; i < 2; ++i) {
    const DType from = types.in[i].dtype;
    params.plans[i] = {.convert = from == dtype ? nullptr : FindConvert(from, dtype),
                       .stored_size = StorageBytes(from),
                       .broadcast = IsBroadcast(types, i)};
  }
  return Bind<EvalMath2>(params, 2 * kBlock * params.element_size);
}

absl::Status VerifyPow(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(ExpectOperands(context, 2));
  PALLADION_RETURN_IF_ERROR(ExpectKind(context, 0, kFloats));
  PALLADION_RETURN_IF_ERROR(ExpectKind(context, 1, kNumbers));
  if (IsFloat(context.in[1].dtype)) PALLADION_RETURN_IF_ERROR(ExpectSameDType(context, 1, 0));
  PALLADION_ASSIGN_OR_RETURN(Shape shape, BroadcastShape(context));
  PALLADION_RETURN_IF_ERROR(ExpectResults(op, 1));
  return ExpectType(op, 0, ArrayType(context.in[0].dtype, std::move(shape)));
}

constexpr OpRow kMath2Ops[] = {
    {.name = "pow",
     .spec = "elementwise.md#pow",
     .verify = VerifyPow,
     .prepare = PrepareMath2<Math2Op::kPow>,
     .flow = Flow::kElementwise,
     .backends = kTpuTriton,
     .unit = Unit::kTranscendental},
    {.name = "atan2",
     .spec = "elementwise.md#atan2",
     .verify = VerifyFloats<2>,
     .prepare = PrepareMath2<Math2Op::kAtan2>,
     .flow = Flow::kElementwise,
     .unit = Unit::kTranscendental},
};

}  // namespace

absl::Span<const OpRow> Math2Ops() { return kMath2Ops; }

}  // namespace palladion
