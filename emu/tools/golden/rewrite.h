// Writing kernel text from kernel text: instructions that are added to a copy of a kernel, for error bounds and for
// hypotheses. A rewritten module is printed and prepared like any other text, so what it does can be read and saved.
#ifndef PALLADION_EMU_TOOLS_GOLDEN_REWRITE_H_
#define PALLADION_EMU_TOOLS_GOLDEN_REWRITE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "emu/emulate.h"
#include "semantics/ir/module.h"
#include "semantics/registry/op_id.h"

namespace palladion::golden {

// The module of a prepared kernel with that kernel alone.
Module OnlyKernel(const PreparedKernel& kernel);

Arg ValueArg(ValueId value);
Arg FloatLiteral(DType dtype, double value);
Arg IntLiteral(DType dtype, std::int64_t value);
Attr IntsAttr(const std::vector<std::int64_t>& ints);
Attr IdentAttr(std::string_view name);

// Appends instructions to a list.
class Writer {
 public:
  Writer(Kernel& kernel, std::vector<Instr>& to, LocId loc) : kernel_(kernel), to_(to), loc_(loc) {}

  Kernel& kernel() const { return kernel_; }
  LocId loc() const { return loc_; }

  // A new value of the kernel, under a name that it has not.
  static ValueId NewValue(Kernel& kernel, const Type& type);

  // One result of the type.
  Arg Apply(OpId op, std::vector<Arg> args, const Type& type, AttrMap attrs = {});
  // The operation of an instruction again, on other operands.
  Arg Again(const Instr& like, std::vector<Arg> args, const Type& type, AttrMap attrs);
  void Add(Instr instr) { to_.push_back(std::move(instr)); }

  Type TypeOfArg(const Arg& arg) const;
  Arg Convert(const Arg& x, DType to);  // x itself where it has the type
  Arg Filled(double value, const Type& type);
  Arg Abs(const Arg& x) { return Apply(OpId::kAbs, {x}, TypeOfArg(x)); }
  Arg Plus(const Arg& x, const Arg& y) { return Binary(OpId::kAdd, x, y); }
  Arg Minus(const Arg& x, const Arg& y) { return Binary(OpId::kSub, x, y); }
  Arg Times(const Arg& x, const Arg& y) { return Binary(OpId::kMul, x, y); }
  Arg Larger(const Arg& x, const Arg& y) { return Binary(OpId::kMax, x, y); }
  Arg Select(const Arg& which, const Arg& if_false, const Arg& if_true);
  Arg Compare(OpId op, const Arg& x, const Arg& y);
  // The bits of x under another type of the same width.
  Arg Bits(const Arg& x, DType to) { return Retyped(OpId::kBitcastConvertType, x, to); }
  Arg Binary(OpId op, const Arg& x, const Arg& y);

 private:
  Arg Append(Instr instr, const Type& type, AttrMap attrs);
  Arg Retyped(OpId op, const Arg& x, DType to);

  Kernel& kernel_;
  std::vector<Instr>& to_;
  LocId loc_;
};

}  // namespace palladion::golden

#endif  // PALLADION_EMU_TOOLS_GOLDEN_REWRITE_H_
