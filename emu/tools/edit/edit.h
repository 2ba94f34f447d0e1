// Changes of a parsed kernel that several tools make: mutants (emu/tools/mutation) and reduced kernels
// (emu/tools/reduce). They edit the plain data of a Module; whether the result is a kernel, the verifier says.
#ifndef PALLADION_EMU_TOOLS_EDIT_EDIT_H_
#define PALLADION_EMU_TOOLS_EDIT_EDIT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "semantics/ir/module.h"

namespace palladion::edit {

// The text's module with the chosen kernel alone ("": the only one), as its canonical text parses, so that lines are
// those of that text. `verb` says in a message what is to be done with it: "mutated". InvalidArgument: malformed text,
// no such kernel, several where none is chosen; else as Verify.
struct KernelChoice {
  std::string kernel;
  std::string_view verb;
};
absl::StatusOr<Module> OnlyKernel(std::string_view text, std::string_view path, const KernelChoice& choice);

bool HasResult(const Instr& instr);  // that is not `_`

// Every argument: of instructions, of what regions return, of index maps, and inside of views.
void ForEachArg(Arg& arg, const std::function<void(Arg&)>& use);
void ForEachArg(Region& region, const std::function<void(Arg&)>& use);
void ForEachArg(Kernel& kernel, const std::function<void(Arg&)>& use);

// Every instruction, before those of its regions; also those of index maps.
void ForEachInstr(Region& region, const std::function<void(Instr&)>& use);
void ForEachInstr(Kernel& kernel, const std::function<void(Instr&)>& use);

// What stands for a value from now on. A view of a replaced ref goes on from the view that stands for it.
using Substitution = std::map<ValueId, Arg>;
void Substitute(Kernel& kernel, const Substitution& substitution);

// Literals of integer types.
std::int64_t IntOf(const Literal& literal);
void SetInt(Literal& literal, std::int64_t to);
Arg LiteralArg(std::int64_t value, const Type& type);

}  // namespace palladion::edit

#endif  // PALLADION_EMU_TOOLS_EDIT_EDIT_H_
