// Operations on the bits of integers and truth values: and, or, xor, not, shifts, clz, population_count; and mulhi, the
// upper half of a product.
#include <cstdint>
#include <type_traits>

#include "semantics/ops/families.h"
#include "semantics/ops/value/elementwise_common.h"
#include "semantics/registry/inspect.h"

namespace palladion {
namespace {

using simd::BinaryOp;
using simd::UnaryOp;

// The upper half of the double-width product, of 8 to 64 bits; `kA` and `kB` say which operand is one element for all.
template <class T, bool kA, bool kB>
void MulHi(const void* a, const void* b, void* out, std::size_t n) {
  using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
  const T *x = static_cast<const T*>(a), *y = static_cast<const T*>(b);
  T* product = static_cast<T*>(out);
  for (std::size_t i = 0; i < n; ++i) {
    product[i] = static_cast<T>((Wide{x[kA ? 0 : i]} * Wide{y[kB ? 0 : i]}) >> (8 * sizeof(T)));
  }
}

template <class T>
simd::BinaryFn MulHiOf(simd::Form form) {
  if (form == simd::Form::kSV) return MulHi<T, true, false>;
  return form == simd::Form::kVS ? MulHi<T, false, true> : MulHi<T, false, false>;
}

simd::BinaryFn FindMulHi(DType dtype, simd::Form form) {
  switch (dtype) {
    case DType::kI8:
      return MulHiOf<std::int8_t>(form);
    case DType::kI16:
      return MulHiOf<std::int16_t>(form);
    case DType::kI32:
      return MulHiOf<std::int32_t>(form);
    case DType::kI64:
      return MulHiOf<std::int64_t>(form);
    case DType::kU8:
      return MulHiOf<std::uint8_t>(form);
    case DType::kU16:
      return MulHiOf<std::uint16_t>(form);
    case DType::kU32:
      return MulHiOf<std::uint32_t>(form);
    case DType::kU64:
      return MulHiOf<std::uint64_t>(form);
    default:
      return nullptr;
  }
}

absl::StatusOr<ValueKernel> PrepareMulHi(const Instr& op, const ValueTypes& types) {
  return BinaryKernel(op, types, FindMulHi(types.in[0].dtype, FormOf(types)));
}

constexpr OpRow kBitwiseOps[] = {
    {.name = "and",
     .spec = "elementwise.md#and",
     .verify = VerifyBoolsOrInts<2>,
     .prepare = PrepareBinary<BinaryOp::kAnd>,
     .flow = Flow::kMask},
    {.name = "or",
     .spec = "elementwise.md#or",
     .verify = VerifyBoolsOrInts<2>,
     .prepare = PrepareBinary<BinaryOp::kOr>,
     .flow = Flow::kMask,
     .absorbs = Absorbs::kOnes},
    {.name = "xor",
     .spec = "elementwise.md#xor",
     .verify = VerifyBoolsOrInts<2>,
     .prepare = PrepareBinary<BinaryOp::kXor>,
     .flow = Flow::kElementwise},
    {.name = "not",
     .spec = "elementwise.md#not",
     .verify = VerifyBoolsOrInts<1>,
     .prepare = PrepareUnary<UnaryOp::kNot>,
     .flow = Flow::kElementwise},
    {.name = "shift_left",
     .spec = "elementwise.md#shift_left",
     .verify = VerifyInts<2>,
     .prepare = PrepareBinary<BinaryOp::kShiftLeft>,
     .inspect = InspectShift,
     .flow = Flow::kElementwise},
    {.name = "shift_right_logical",
     .spec = "elementwise.md#shift_right_logical",
     .verify = VerifyInts<2>,
     .prepare = PrepareBinary<BinaryOp::kShiftRightLogical>,
     .inspect = InspectShift,
     .flow = Flow::kElementwise},
    {.name = "shift_right_arithmetic",
     .spec = "elementwise.md#shift_right_arithmetic",
     .verify = VerifyInts<2>,
     .prepare = PrepareBinary<BinaryOp::kShiftRightArithmetic>,
     .inspect = InspectShift,
     .flow = Flow::kElementwise},
    {.name = "clz",
     .spec = "elementwise.md#clz",
     .verify = VerifyInts<1>,
     .prepare = PrepareUnary<UnaryOp::kClz>,
     .flow = Flow::kElementwise},
    {.name = "population_count",
     .spec = "elementwise.md#population_count",
     .verify = VerifyInts<1>,
     .prepare = PrepareUnary<UnaryOp::kPopulationCount>,
     .flow = Flow::kElementwise,
     .backends = kTpuTriton},
    {.name = "mulhi",
     .spec = "elementwise.md#mulhi",
     .verify = VerifyInts<2>,
     .prepare = PrepareMulHi,
     .flow = Flow::kElementwise,
     .backends = kNoBackend,
     .later = kTpu},
};

}  // namespace

absl::Span<const OpRow> BitwiseOps() { return kBitwiseOps; }

}  // namespace palladion
