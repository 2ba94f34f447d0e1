// What is reduced: one kernel and its inputs. A pass edits a copy; Settle makes it a valid state again, or says why it
// is not one.
#ifndef PALLADION_EMU_TOOLS_REDUCE_STATE_H_
#define PALLADION_EMU_TOOLS_REDUCE_STATE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "semantics/ir/module.h"
#include "semantics/tensor/tensor.h"

namespace palladion::reduce {

struct Input {
  std::string name;   // of its operand in the text
  std::string words;  // that make it, as `--in` has them: "iota"; "" where nothing short does
  std::shared_ptr<const Tensor> value;
};

struct State {
  Module module;              // with the one kernel, as its canonical text parses
  std::string text;           // that canonical text
  std::vector<Input> inputs;  // in the order of the operands
  int line = 0;               // of the text: the instruction or operand that has to stay; 0: none has to

  Kernel& kernel() { return module.kernels[0]; }
  const Kernel& kernel() const { return module.kernels[0]; }
};

// The edited state with its text, inputs cut to the sizes that their operands have now (the first elements of each
// dimension, or made anew by their words) and the line where it stands now. `edited` still has the lines of the text
// that it was made from. An error: it is no kernel, the instruction of `line` is gone, or an input has no operand's
// type.
absl::StatusOr<State> Settle(State edited);

// The line of the canonical text of what stands on `line` of `written`, a text of which `settled` is the canonical
// form. NotFound: no instruction or operand stands there.
absl::StatusOr<int> LineInCanonical(const Module& written, const Module& settled, int line);

}  // namespace palladion::reduce

#endif  // PALLADION_EMU_TOOLS_REDUCE_STATE_H_
