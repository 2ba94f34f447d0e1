// Instructions that a change puts into a kernel.
#ifndef PALLADION_EMU_TOOLS_ADVICE_MADE_H_
#define PALLADION_EMU_TOOLS_ADVICE_MADE_H_

#include <vector>

#include "semantics/ir/module.h"
#include "semantics/registry/op_id.h"

namespace palladion::advice {

// Makes instructions at the place of one that is there, with values of names of their own.
class Maker {
 public:
  // `like`: whose place in the user's program they have.
  Maker(Kernel& kernel, const Instr& like) : kernel_(kernel), loc_(like.loc), text_line_(like.text_line) {}

  // An operation on scalars that gives a value of the type; appended to what is made.
  Arg Value(OpId op, std::vector<Arg> args, const Type& type);
  // The same with an attribute: to=i32.
  Arg ToI32(Arg arg);
  Arg Of(ValueId id) const;
  // Runs the instructions where the condition, a truth value, holds.
  void If(const Arg& condition, std::vector<Instr> body);

  std::vector<Instr> Take() { return std::move(made_); }

 private:
  Instr& Add(OpId op, std::vector<Arg> args);

  Kernel& kernel_;
  const LocId loc_;
  const int text_line_;
  std::vector<Instr> made_;
};

}  // namespace palladion::advice

#endif  // PALLADION_EMU_TOOLS_ADVICE_MADE_H_
