// Simplifies details of a text: values of inputs, attributes, parameters of compilers, names, places.
#include <array>
#include <memory>
#include <utility>

#include "emu/tools/edit/edit.h"
#include "emu/tools/reduce/pass.h"
#include "emu/values.h"

namespace palladion::reduce {
namespace {

constexpr std::array<std::string_view, 3> kSimple = {"zeros", "full(1)", "iota"};  // the simplest first

// How many of them are simpler than what makes this input.
std::size_t SimplerThan(const Input& input) {
  for (std::size_t i = 0; i < kSimple.size(); ++i) {
    if (input.words == kSimple[i]) return i;
  }
  return kSimple.size();
}

void DropEntries(AttrMap& attrs, Chooser& chooser) {
  std::erase_if(attrs, [&](const AttrEntry&) { return chooser.Take(); });
}

}  // namespace

void SimplifyInputs(State& state, Chooser& chooser) {
  for (Input& input : state.inputs) {
    for (std::size_t i = SimplerThan(input); i-- > 0;) {
      if (!chooser.Take()) continue;
      absl::StatusOr<Tensor> made = TensorFromText(input.value->dtype(), input.value->shape(), kSimple[i]);
      if (!made.ok()) continue;
      input.value = std::make_shared<const Tensor>(*std::move(made));
      input.words = std::string(kSimple[i]);
    }
  }
}

void DropProperties(State& state, Chooser& chooser) {
  Kernel& kernel = state.kernel();
  DropEntries(kernel.other, chooser);
  DropEntries(kernel.params, chooser);
  for (Operand& operand : kernel.operands) {
    if (operand.alias.valid() && chooser.Take()) operand.alias = {};
    if (!operand.block.has_value()) continue;
    if (operand.block->buffered.has_value() && chooser.Take()) operand.block->buffered.reset();
  }
  edit::ForEachInstr(kernel, [&](Instr& instr) { DropEntries(instr.attrs, chooser); });
  std::erase_if(state.module.consts, [&](const NamedConst& one) {
    bool used = false;
    edit::ForEachArg(kernel, [&](Arg& arg) { used = used || arg.dense_name == one.name; });
    return !used && chooser.Take();
  });
}

// Places in Python go all together: a text with some of them would show lines of a kernel that is another one now.
void DropNames(State& state, Chooser& chooser) {
  Module& module = state.module;
  if (!module.producer.empty() && chooser.Take()) module.producer.clear();
  if (module.locs.empty() || !chooser.Take()) return;
  module.locs.clear();
  module.loc_names.clear();
  module.files.clear();
  module.file_names.clear();
  for (Operand& operand : state.kernel().operands) operand.loc = {};
  edit::ForEachInstr(state.kernel(), [](Instr& instr) { instr.loc = {}; });
}

}  // namespace palladion::reduce
