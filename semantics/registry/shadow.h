// How undefined elements flow through a value operation. A value is accompanied by one byte per element (0 defined,
// else undefined: a small number that says where it came from) only where some element is undefined, so these run
// rarely and are plain loops. What reaches a result element through several undefined ones is the smallest of their
// numbers, so that the answer does not depend on an order. Rules: docs/spec/definedness.md. Based on: Memcheck's and
// MSan's propagation, per element instead of per bit. Not exact where an operation ignores an operand for its value (0
// * x, max with infinity, a field that unpack_elementwise does not take): the result is undefined then too. A finding
// comes only where such an element decides something, so this costs little.
#ifndef PALLADION_SEMANTICS_REGISTRY_SHADOW_H_
#define PALLADION_SEMANTICS_REGISTRY_SHADOW_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "semantics/ir/module.h"
#include "semantics/registry/op_row.h"
#include "semantics/registry/value_kernel.h"

namespace palladion {

// One execution, after the operation itself has run on the same operands.
struct ShadowOperands {
  const std::byte* const* in;               // the operands' values: select's predicate, gather's indices
  const std::uint8_t* const* in_undefined;  // one byte per element of each operand; nullptr: all of it is defined
  std::uint8_t* const* out_undefined;       // one byte per element of each result: all are written
  std::byte* scratch;                       // ShadowKernel::scratch_bytes of it, 64-byte aligned, contents arbitrary
};

struct ShadowKernel {
  void (*run)(const void* params, const ShadowOperands& operands) = nullptr;
  std::shared_ptr<const void> params;
  std::size_t scratch_bytes = 0;
  // Elementwise operations and selects: the same on n consecutive elements of every operand that is not of rank 0.
  void (*strip)(const void* params, const ShadowOperands& operands, std::size_t n) = nullptr;
};

// The rule that the operation's row names, for these types. At least one operand has an undefined element when it runs:
// for defined operands it is not called, the value is defined. A PRNG key is one element. Cheap, but for a move, which
// costs what preparing the operation costs; errors are those of that, and Internal for an operation that is not on
// values.
absl::StatusOr<ShadowKernel> PrepareShadow(const Instr& op, const ValueTypes& types);

// The rules in words, for the documentation, in the order of Flow.
struct FlowInfo {
  Flow flow;
  std::string_view name;
  std::string_view rule;
};
absl::Span<const FlowInfo> AllFlows();

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_REGISTRY_SHADOW_H_
