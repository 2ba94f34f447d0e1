// A pass makes a kernel smaller in one way. It walks over a kernel and calls its chooser at each place where it could
// apply; with a chooser that always says no, it counts the places. So one loop (reduce.cc) does delta debugging over
// any pass. Based on: the Oracle of LLVM's llvm-reduce. Each change must leave less by a measure that no other pass
// raises, or the passes would not come to an end: instructions, regions, sizes, words of inputs, length of the text.
#ifndef PALLADION_EMU_TOOLS_REDUCE_PASS_H_
#define PALLADION_EMU_TOOLS_REDUCE_PASS_H_

#include <cstddef>
#include <functional>
#include <string_view>

#include "absl/types/span.h"
#include "emu/tools/reduce/state.h"

namespace palladion::reduce {

// Says yes at the places from number `begin` up to `end`.
class Chooser {
 public:
  Chooser(std::size_t begin, std::size_t end) : begin_(begin), end_(end) {}
  bool Take() {
    const std::size_t at = seen_++;
    return begin_ <= at && at < end_;
  }
  std::size_t seen() const { return seen_; }

 private:
  std::size_t begin_, end_, seen_ = 0;
};

struct Pass {
  std::string_view name;
  void (*apply)(State& state, Chooser& chooser);
  // Many places at once first, then half as many. Where not: one place at a time, because they are alternatives.
  bool together = true;
};

// From coarse to fine.
absl::Span<const Pass> AllPasses();

// Of the instructions: emu/tools/reduce/pass_instructions.cc.
void DropInstructions(State& state, Chooser& chooser);
void ForwardOperands(State& state, Chooser& chooser);
void ReuseValues(State& state, Chooser& chooser);
void DropArguments(State& state, Chooser& chooser);
// Instructions that are left out where something can stand for their results: those that `goes` says, or that use a
// value.
void DropWhere(Kernel& kernel, const std::function<bool(Instr&)>& goes);
void DropUsers(Kernel& kernel, ValueId value);

// Of what has regions: emu/tools/reduce/pass_regions.cc.
void InlineRegions(State& state, Chooser& chooser);
void DropRegionRefs(State& state, Chooser& chooser);
void ShortenLoops(State& state, Chooser& chooser);

// Of the launch: emu/tools/reduce/pass_launch.cc.
void DropOperands(State& state, Chooser& chooser);
void ShrinkGrid(State& state, Chooser& chooser);
void DropGridDims(State& state, Chooser& chooser);
void ShrinkMesh(State& state, Chooser& chooser);
void SimplifyMaps(State& state, Chooser& chooser);

// Of sizes: emu/tools/reduce/pass_sizes.cc.
void DivideSizes(State& state, Chooser& chooser);
void ShrinkSizes(State& state, Chooser& chooser);

// Of words that decide little: emu/tools/reduce/pass_words.cc.
void SimplifyInputs(State& state, Chooser& chooser);
void DropProperties(State& state, Chooser& chooser);
void DropNames(State& state, Chooser& chooser);

}  // namespace palladion::reduce

#endif  // PALLADION_EMU_TOOLS_REDUCE_PASS_H_
