// The rules of the scatters: what an update is put over, and what several updates are combined into. The operations
// themselves move the marks, prepared once more for bytes.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ops/flow/shadow_rules.h"
#include "semantics/ops/value/elementwise_common.h"

namespace palladion::shadow {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t Aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// Operands: x, indices, updates. Scratch: bytes for x, bytes for the updates, the kernel's own.
struct PlaceParams {
  ValueKernel kernel;
  std::size_t x, indices, updates;  // elements
  Mark shift;                       // what marks are less by while the kernel has them
  bool combines = false;
};

const std::byte* Shifted(const Mark* marks, std::size_t n, Mark shift, std::byte* to) {
  Mark* out = reinterpret_cast<Mark*>(to);
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<Mark>((marks == nullptr ? 0 : marks[i]) - shift);
  return to;
}

// What an update was combined with is computed, what none met was only moved. The updates' places are those of zeros
// that are smaller than what is everywhere else.
void ComputeHits(const PlaceParams& p, const ShadowOperands& operands, std::byte* own) {
  std::byte* const operand = operands.scratch;
  std::byte* const updates = operand + Aligned(p.x);
  std::byte* const hits = own + p.kernel.scratch_bytes;
  std::fill_n(operand, p.x, std::byte{0xff});
  std::fill_n(updates, p.updates, std::byte{0});
  const std::byte* in[] = {operand, operands.in[1], updates};
  std::byte* results[] = {hits};
  p.kernel.run(p.kernel.params.get(), {.in = in, .out = results, .scratch = own});
  Mark* out = operands.out_undefined[0];
  for (std::size_t i = 0; i < p.x; ++i) {
    if (hits[i] == std::byte{0}) out[i] = ComputedMark(out[i]);
  }
}

// An undefined index may have put its update anywhere.
void EvalPlace(const PlaceParams& p, const ShadowOperands& operands) {
  Mark* out = operands.out_undefined[0];
  const Mark* indices = operands.in_undefined[1];
  const Mark misplaced = indices == nullptr ? Mark{0} : MergeAll(indices, p.indices);
  if (misplaced != 0) {
    std::fill_n(out, p.x, ComputedMark(misplaced));
    return;
  }
  std::byte* const for_updates = operands.scratch + Aligned(p.x);
  std::byte* const own = for_updates + Aligned(p.updates);
  const std::byte* in[] = {Shifted(operands.in_undefined[0], p.x, p.shift, operands.scratch), operands.in[1],
                           Shifted(operands.in_undefined[2], p.updates, p.shift, for_updates)};
  std::byte* results[] = {reinterpret_cast<std::byte*>(out)};
  p.kernel.run(p.kernel.params.get(), {.in = in, .out = results, .scratch = own});
  for (std::size_t i = 0; i < p.x; ++i) out[i] = static_cast<Mark>(out[i] + p.shift);
  if (p.combines) ComputeHits(p, operands, own);
}

}  // namespace

// Of marks less one the smallest is the one that stays, and 0 has become the largest (shadow_rules.h, Merge).
absl::StatusOr<ShadowKernel> PreparePlace(const OpRow& row, const Instr& op, const ValueTypes& types) {
  const bool combines = row.flow == Flow::kCombine;
  const OpRow* marks = combines ? FindOp("", "scatter_min") : &row;
  if (marks == nullptr) return absl::InternalError(Cat("cannot happen: no rule for '", op.name, "'"));
  ValueTypes bytes = types;
  for (Type* type : {&bytes.in[0], &bytes.in[2], &bytes.out[0]}) *type = ArrayType(DType::kU8, type->shape);
  PlaceParams params{.kernel = {},
                     .x = Elements(types.in[0]),
                     .indices = Elements(types.in[1]),
                     .updates = Elements(types.in[2]),
                     .shift = static_cast<Mark>(combines ? 1 : 0),
                     .combines = combines};
  PALLADION_ASSIGN_OR_RETURN(params.kernel, marks->prepare(op, bytes));
  params.kernel.scratch_bytes = Aligned(params.kernel.scratch_bytes);
  const std::size_t hits = combines ? Aligned(params.x) : 0;
  const std::size_t scratch = Aligned(params.x) + Aligned(params.updates) + params.kernel.scratch_bytes + hits;
  return Bind<EvalPlace>(std::move(params), scratch);
}

}  // namespace palladion::shadow
