// The one operation of kernels over the ring of integers modulo 2^64 (semantics/prepare/ring_module.h): a fixed hash
// that stands for every float operation that is none of the ring's. Spec: docs/spec/ring.md. Based on: the idea of
// checking floating-point programs in a ring (Triton's FpSan). The hash is splitmix64's finaliser: fixed, not
// cryptographic.
#include <cstring>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/families.h"
#include "semantics/ops/value/elementwise_common.h"
#include "semantics/registry/attrs.h"
#include "semantics/tensor/normalise.h"

namespace palladion {
namespace {

std::uint64_t Mix(std::uint64_t h, std::uint64_t word) {
  h = (h ^ word) + 0x9e3779b97f4a7c15u;
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
  return h ^ (h >> 31);
}

absl::Status VerifyHash(const Instr& op, const VerifyContext& context) {
  PALLADION_RETURN_IF_ERROR(StringAttr(op, "op").status());
  PALLADION_ASSIGN_OR_RETURN(const std::string over, StringAttr(op, "over"));
  for (std::size_t i = 0; i < context.in.size(); ++i) {
    if (!context.in[i].is_array())
      return absl::InvalidArgumentError(Cat("operand ", i, " must be an array; found ", ToString(context.in[i])));
  }
  if (over == "all") return absl::OkStatus();
  if (over != "element") return absl::InvalidArgumentError(Cat("over must be element or all; found ", over));
  for (const Type& result : op.types) {
    for (const Type& in : context.in) {
      if (in.shape.empty() || in.shape == result.shape) continue;
      return absl::InvalidArgumentError(Cat("over=element needs operands of the result's shape or of rank 0; found ",
                                            ToString(in), " and ", ToString(result)));
    }
  }
  return absl::OkStatus();
}

struct HashOperand {
  std::size_t bytes;     // of an element
  std::size_t elements;  // 1: every result element sees it
};

struct HashParams {
  std::uint64_t seed;
  bool each;  // over="element"
  std::vector<HashOperand> in;
  std::vector<Type> out;
};

std::uint64_t WordAt(const std::byte* memory, const HashOperand& operand, std::size_t element) {
  std::uint64_t word = 0;
  std::memcpy(&word, memory + element * operand.bytes, operand.bytes);
  return word;
}

// ring.md#ring.hash
void EvalHash(const HashParams& p, const ValueOperands& operands) {
  std::uint64_t whole = p.seed;
  for (std::size_t i = 0; !p.each && i < p.in.size(); ++i) {
    for (std::size_t e = 0; e < p.in[i].elements; ++e) whole = Mix(whole, WordAt(operands.in[i], p.in[i], e));
  }
  for (std::size_t r = 0; r < p.out.size(); ++r) {
    const std::size_t bytes = StorageBytes(p.out[r].dtype);
    const auto n = static_cast<std::size_t>(NumElements(p.out[r].shape));
    for (std::size_t e = 0; e < n; ++e) {
      std::uint64_t h = Mix(whole, r);
      if (!p.each) h = Mix(h, e);
      for (std::size_t i = 0; p.each && i < p.in.size(); ++i)
        h = Mix(h, WordAt(operands.in[i], p.in[i], p.in[i].elements == 1 ? 0 : e));
      if (p.out[r].dtype == DType::kBool) h &= 1;
      std::memcpy(operands.out[r] + e * bytes, &h, bytes);
    }
    if (NeedsNormalising(p.out[r].dtype)) Normalise(p.out[r].dtype, operands.out[r], n);
  }
}

absl::StatusOr<ValueKernel> PrepareHash(const Instr& op, const ValueTypes& types) {
  PALLADION_ASSIGN_OR_RETURN(const std::string name, StringAttr(op, "op"));
  PALLADION_ASSIGN_OR_RETURN(const std::string over, StringAttr(op, "over"));
  HashParams params{.seed = 0, .each = over == "element", .in = {}, .out = types.out};
  for (char c : name) params.seed = Mix(params.seed, static_cast<unsigned char>(c));
  for (const Type& type : types.in)
    params.in.push_back({StorageBytes(type.dtype), static_cast<std::size_t>(NumElements(type.shape))});
  return Bind<EvalHash>(std::move(params));
}

constexpr OpRow kRingOps[] = {
    {.dialect = "ring", .name = "hash", .spec = "ring.md#ring.hash", .verify = VerifyHash, .prepare = PrepareHash},
};

}  // namespace

absl::Span<const OpRow> RingOps() { return kRingOps; }

}  // namespace palladion
