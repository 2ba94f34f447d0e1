// How long steps take, roughly: so that a budget of loop iterations, which must not look at a clock, still ends
// whatever has no end within about a minute. What it does not know: what an access to memory costs a checked run, and
// operations that take longer than their elements say (a sort).
#include <algorithm>
#include <limits>

#include "semantics/base/status.h"
#include "semantics/program/builder.h"

namespace palladion {
namespace {

struct LoopJumpParams {
  Label to;
  std::int64_t weight;  // iterations that one of these counts as
};

absl::Status RunLoopJump(const void* params, const Step&, Frame& frame) {
  const auto& p = *static_cast<const LoopJumpParams*>(params);
  ++frame.back_edges;
  if ((frame.spent += p.weight) >= frame.look_at) PALLADION_RETURN_IF_ERROR(frame.Look());
  frame.pc = *p.to.target;
  return frame.back_edges == frame.pause_at ? PauseStatus() : absl::OkStatus();
}

}  // namespace

double Builder::LargestOf(const std::vector<SlotId>& in, const std::vector<SlotId>& out) const {
  std::size_t elements = 0;
  for (const std::vector<SlotId>* slots : {&in, &out}) {
    for (const SlotId slot : *slots) elements = std::max(elements, program_.slots[slot.index()].elements);
  }
  return static_cast<double>(elements);
}

void Builder::SetWork(double work) {
  constexpr double kNoMoreThanAnyStep = 256;
  if (work < kNoMoreThanAnyStep) return;
  program_.steps.back().work =
      static_cast<std::uint32_t>(std::min<double>(work, std::numeric_limits<std::uint32_t>::max()));
}

// A step takes about as long as kStep elements, so the smallest loops and those of up to kIteration count once.
void Builder::EmitLoopJump(const Label& label) {
  constexpr std::int64_t kStep = 16, kIteration = 128;
  FlushStrips();
  std::int64_t work = 0;
  for (std::size_t i = *label.target; i < program_.steps.size(); ++i) work += kStep + program_.steps[i].work;
  Emit(RunLoopJump, LoopJumpParams{label, 1 + work / kIteration});
}

}  // namespace palladion
