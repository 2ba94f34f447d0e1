// The mistakes that a backend may have made, each as an edit of the kernel that makes it. Edits are explicit: the text
// of an edited kernel can be read, saved and run. Unwritten memory, which an edit cannot express, is a fill.
#ifndef PALLADION_EMU_TOOLS_GOLDEN_HYPOTHESES_H_
#define PALLADION_EMU_TOOLS_GOLDEN_HYPOTHESES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "emu/tools/golden/compare.h"
#include "emu/tools/golden/rewrite.h"
#include "semantics/ir/module.h"
#include "semantics/tensor/fill.h"

namespace palladion::golden {

struct Hypothesis {
  std::string kind;  // a name of AllCauseKinds
  std::string what;  // "the blocks of 'x' are transposed"
  std::function<void(Module&)> edit;
  std::function<std::vector<Tensor>()> computed = {};  // instead of an edit: the outputs
  Fill fill = {};
  bool of_numbers = false;  // it changes roundings alone: what it gives is held against the backend's bits
  bool of_width = false;    // it rounds operands, and may be meant where nothing is over tolerance
  bool anything = false;    // what it leaves unwritten may be anything
  // Not 0: what it leaves out of products is below the roundings of sums, so that no single element shows it. The
  // kernel makes that error so many times as large, and the backend's errors are held against it all together.
  double enlarged = 0;
  double scale = 1;  // of the tolerance: how much larger the outputs are than the golden ones
};

inline constexpr const char* kTransposed = "transposed block";
inline constexpr const char* kOffByOne = "off-by-one block index";
inline constexpr const char* kMissing = "program missing";
inline constexpr const char* kWrongSlot = "wrong slot of a buffer";
inline constexpr const char* kStale = "stale or unwritten block";
inline constexpr const char* kPadding = "padding leaked";
inline constexpr const char* kPrecision = "lower precision of accumulation";
inline constexpr const char* kOrder = "another order of summation";
inline constexpr const char* kFlushed = "flushed subnormals";
inline constexpr const char* kRounding = "another rounding mode";
inline constexpr const char* kOperands = "rounded operands";
inline constexpr const char* kPasses = "f32 product in three passes";
inline constexpr const char* kFactor = "constant factor";
inline constexpr const char* kOffset = "constant offset";
inline constexpr const char* kEpilogue = "missing epilogue";
inline constexpr const char* kSign = "wrong sign";
inline constexpr const char* kTransposedOutput = "transposed output";
inline constexpr const char* kExchanged = "exchanged tiles";

// The bundle's outputs and a backend's; found: nullptr where there is none to compare.
struct SeenOutputs {
  absl::Span<const GoldenOutput> golden;
  absl::Span<const Tensor* const> found;
  const std::vector<std::vector<Held>>& held;  // of each output's elements
};

// The module holds one kernel that the verifier accepted. Which blocks are used where, and which programs run.
void AddBlockHypotheses(const Module& module, std::vector<Hypothesis>& to);
void AddProgramHypotheses(const Module& module, std::vector<Hypothesis>& to);
void AddPaddingHypotheses(const Module& module, std::vector<Hypothesis>& to);
// How it is rounded, and in which order it is summed.
void AddSumHypotheses(const Module& module, std::vector<Hypothesis>& to);
void AddRoundingHypotheses(const Module& module, std::vector<Hypothesis>& to);
void AddOperandHypotheses(const Module& module, std::vector<Hypothesis>& to);
// What is done to the numbers last, in the kernel and after it.
void AddEpilogueHypotheses(const Module& module, std::vector<Hypothesis>& to);
void AddOutputHypotheses(const Module& module, const SeenOutputs& seen, std::vector<Hypothesis>& to);

// ---- What the edits share.

// Calls `write` for every instruction of the bodies, inner ones first; what it writes takes the instruction's place.
void RewriteBodies(Kernel& kernel, const std::function<void(Instr&&, Writer&)>& write);

// The instruction with its results under new names: what it makes before it is changed. The result that had the old
// name is the writer's to make.
ValueId RenameResult(Instr& instr, std::size_t result, Kernel& kernel);

// An instruction that gives `result` the value of x, which has its type.
void Define(ValueId result, const Arg& x, Writer& writer);

// Programs of the grid; 0 where it is not known, or where blocks have threads.
std::int64_t ProgramsOf(const Kernel& kernel);

// A place in the grid; -1: all of a dimension.
using Place = std::vector<std::int64_t>;
std::string PlaceText(const Place& place);  // "(1, *, 3)"
Place PlaceOf(const Kernel& kernel, std::int64_t program);
// The places that share a block of the operand, each once, of the first `most` programs; none where there
// is only one.
std::vector<Place> PlacesOf(const Kernel& kernel, const Operand& operand, std::int64_t most);
// Dimensions that vmap made are counted by program_id like all others, so that IsHere may ask for them.
void CountVmapped(Kernel& kernel);
// Is it here? Of a place that is not all of the grid.
Arg IsHere(const Place& place, Writer& writer);

// As the user calls it.
std::string NameOf(const Kernel& kernel, const Operand& operand);

// The block of an output as a tile of its array; all of it where there is none.
std::vector<std::int64_t> TileOf(const Kernel& kernel, std::size_t output, const std::vector<std::int64_t>& shape);

// The blocks of dimension d of an operand's array.
std::int64_t BlocksOf(const Kernel& kernel, const Operand& operand, std::size_t d);

}  // namespace palladion::golden

#endif  // PALLADION_EMU_TOOLS_GOLDEN_HYPOTHESES_H_
