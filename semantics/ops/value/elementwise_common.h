// What every elementwise operation shares: which element types it accepts, how operands of rank 0 are broadcast, and
// the value kernels behind it. Based on: JAX's naryop rules, plus the broadcast of rank 0 (docs/spec/elementwise.md,
// rule 1).
#ifndef PALLADION_SEMANTICS_OPS_VALUE_ELEMENTWISE_COMMON_H_
#define PALLADION_SEMANTICS_OPS_VALUE_ELEMENTWISE_COMMON_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "semantics/registry/op_row.h"
#include "semantics/simd/elementwise.h"

namespace palladion {

// A set of element type kinds.
struct Kinds {
  std::uint8_t bits = 0;
  constexpr bool contains(DTypeKind kind) const { return (bits >> static_cast<int>(kind)) & 1u; }
  friend constexpr Kinds operator|(Kinds a, Kinds b) { return {static_cast<std::uint8_t>(a.bits | b.bits)}; }
};
constexpr Kinds KindSet(DTypeKind kind) { return {static_cast<std::uint8_t>(1u << static_cast<int>(kind))}; }
inline constexpr Kinds kBools = KindSet(DTypeKind::kBool);
inline constexpr Kinds kFloats = KindSet(DTypeKind::kFloat);
inline constexpr Kinds kSignedInts = KindSet(DTypeKind::kSigned);
inline constexpr Kinds kInts = kSignedInts | KindSet(DTypeKind::kUnsigned);
inline constexpr Kinds kNumbers = kInts | kFloats;
inline constexpr Kinds kBoolsOrInts = kBools | kInts;
inline constexpr Kinds kAnyKind = kNumbers | kBools;

// InvalidArgument unless operand `index` is an array whose element type is in the set.
absl::Status ExpectKind(const VerifyContext& context, std::size_t index, Kinds kinds);

// InvalidArgument unless the two operands have the same element type.
absl::Status ExpectSameDType(const VerifyContext& context, std::size_t index, std::size_t other);

// The one shape of the operands that are not of rank 0, or []. InvalidArgument if they have two.
absl::StatusOr<Shape> BroadcastShape(const VerifyContext& context);

// Operands of one element type in the set, one shape or rank 0, and one result of that shape and the given type.
absl::Status VerifySameType(const Instr& op, const VerifyContext& context, std::size_t operands, Kinds kinds);
absl::Status VerifyToBool(const Instr& op, const VerifyContext& context, std::size_t operands, Kinds kinds);

template <std::size_t kOperands>
absl::Status VerifyAnyType(const Instr& op, const VerifyContext& context) {
  return VerifySameType(op, context, kOperands, kAnyKind);
}
template <std::size_t kOperands>
absl::Status VerifyNumbers(const Instr& op, const VerifyContext& context) {
  return VerifySameType(op, context, kOperands, kNumbers);
}
template <std::size_t kOperands>
absl::Status VerifyFloats(const Instr& op, const VerifyContext& context) {
  return VerifySameType(op, context, kOperands, kFloats);
}
template <std::size_t kOperands>
absl::Status VerifyInts(const Instr& op, const VerifyContext& context) {
  return VerifySameType(op, context, kOperands, kInts);
}
template <std::size_t kOperands>
absl::Status VerifyBoolsOrInts(const Instr& op, const VerifyContext& context) {
  return VerifySameType(op, context, kOperands, kBoolsOrInts);
}

// Elements and bytes of a value: a key is its words (docs/spec/random.md).
std::size_t Elements(const Type& type);
std::size_t Bytes(const Type& type);

// Whether operand `index` is one element for a result that has a shape.
bool IsBroadcast(const ValueTypes& types, std::size_t index);
simd::Form FormOf(const ValueTypes& types);  // of a binary operation

// Kernels of one call; Unimplemented where `fn` is null. Of a binary operation at most one operand may be a broadcast
// one.
absl::StatusOr<ValueKernel> UnaryKernel(const Instr& op, const ValueTypes& types, simd::UnaryFn fn);
absl::StatusOr<ValueKernel> BinaryKernel(const Instr& op, const ValueTypes& types, simd::BinaryFn fn);

// Which loop an operation uses. A vector loop stores a single element under a mask, and the load of the operation that
// reads it waits for the store to retire: several times what the operation itself takes.
inline simd::Target LoopFor(const ValueTypes& types) {
  return Elements(types.out[0]) == 1 ? simd::Target::kScalar : simd::ActiveTarget();
}

template <simd::BinaryOp kOp>
absl::StatusOr<ValueKernel> PrepareBinary(const Instr& op, const ValueTypes& types) {
  return BinaryKernel(op, types, simd::FindBinary(kOp, types.in[0].dtype, FormOf(types), LoopFor(types)));
}
template <simd::UnaryOp kOp>
absl::StatusOr<ValueKernel> PrepareUnary(const Instr& op, const ValueTypes& types) {
  return UnaryKernel(op, types, simd::FindUnary(kOp, types.in[0].dtype, LoopFor(types)));
}

absl::Status NoKernel(const Instr& op, DType dtype);  // Unimplemented: what and for which type

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_OPS_VALUE_ELEMENTWISE_COMMON_H_
