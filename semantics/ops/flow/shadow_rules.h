// What the rules of definedness share (shadow.h): how numbers merge, boxes of them, and one prepare function per rule.
#ifndef PALLADION_SEMANTICS_OPS_FLOW_SHADOW_RULES_H_
#define PALLADION_SEMANTICS_OPS_FLOW_SHADOW_RULES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "semantics/port/machine.h"
#include "semantics/registry/shadow.h"

namespace palladion::shadow {

using Mark = std::uint8_t;  // 0: defined

// The smaller one that is not 0: less one, 0 is the largest.
constexpr Mark Merge(Mark a, Mark b) {
  return static_cast<Mark>(std::min(static_cast<Mark>(a - 1), static_cast<Mark>(b - 1)) + 1);
}

void MergeInto(const Mark* from, Mark* to, std::size_t n);  // element by element
void MergeInto(Mark from, Mark* to, std::size_t n);         // one into all
Mark MergeAll(const Mark* marks, std::size_t n);            // of no marks: 0
void Compute(Mark* marks, std::size_t n);                   // each becomes ComputedMark of it

// Merges a box of marks into another: from[i · from_steps] into to[i · to_steps] for each point i. A step of 0 in `to`
// reduces, in `from` repeats.
struct MergeDim {
  std::int64_t count;
  std::int64_t from;
  std::int64_t to;
};
class MergeBox {
 public:
  MergeBox() = default;
  explicit MergeBox(absl::Span<const MergeDim> dims);  // joins what is contiguous
  void operator()(const Mark* from, Mark* to) const;

 private:
  bool is_empty_ = true;
  std::vector<MergeDim> dims_;
};

// As palladion::Bind, for a rule. An operation of one operand has marks for it: else it is not called.
template <auto kEval, class Params>
ShadowKernel Bind(Params params, std::size_t scratch_bytes = 0) {
  return {.run = [](const void* p, const ShadowOperands& operands) { kEval(*static_cast<const Params*>(p), operands); },
          .params = std::make_shared<const Params>(std::move(params)),
          .scratch_bytes = scratch_bytes};
}

absl::StatusOr<ShadowKernel> PrepareMove(const OpRow& row, const Instr& op, const ValueTypes& types);  // shadow_move.cc
absl::StatusOr<ShadowKernel> PrepareSort(const OpRow& row, const Instr& op, const ValueTypes& types);
absl::StatusOr<ShadowKernel> PreparePlace(const OpRow& row, const Instr& op,
                                          const ValueTypes& types);  // shadow_place.cc
ShadowKernel PrepareParts(const Instr& op, const ValueTypes& types);
ShadowKernel PrepareReduce(const Instr& op, const ValueTypes& types);  // shadow_fold.cc
ShadowKernel PreparePrefix(const Instr& op, const ValueTypes& types);
absl::StatusOr<ShadowKernel> PrepareDot(const Instr& op, const ValueTypes& types);

}  // namespace palladion::shadow

#endif  // PALLADION_SEMANTICS_OPS_FLOW_SHADOW_RULES_H_
