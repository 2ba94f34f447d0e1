#include "emu/tools/golden/rewrite.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "emu/kernel/prepared_kernel.h"
#include "semantics/base/cat.h"
#include "semantics/program/value_slots.h"
#include "semantics/tensor/element.h"

namespace palladion::golden {

Module OnlyKernel(const PreparedKernel& kernel) {
  Module module = kernel.state().module();
  std::erase_if(module.kernels, [&](const Kernel& one) { return one.name != kernel.name(); });
  return module;
}

Arg ValueArg(ValueId value) {
  Arg arg;
  arg.kind = Arg::Kind::kValue;
  arg.value = value;
  return arg;
}

Arg FloatLiteral(DType dtype, double value) {
  Arg arg;
  arg.kind = Arg::Kind::kLiteral;
  arg.literal.dtype = dtype;
  VisitDType(dtype, [&](auto tag) {
    using E = Element<decltype(tag)::value>;
    const typename E::Storage storage = E::FromDouble(value);
    std::memcpy(arg.literal.bytes.data(), &storage, sizeof(storage));
  });
  return arg;
}

Arg IntLiteral(DType dtype, std::int64_t value) {
  Arg arg;
  arg.kind = Arg::Kind::kLiteral;
  arg.literal.dtype = dtype;
  std::memcpy(arg.literal.bytes.data(), &value, StorageBytes(dtype));
  return arg;
}

Attr IntsAttr(const std::vector<std::int64_t>& ints) {
  AttrList list(ints.size());
  for (std::size_t i = 0; i < ints.size(); ++i) list[i].value = ints[i];
  return Attr{std::move(list)};
}

Attr IdentAttr(std::string_view name) { return Attr{AttrIdent{std::string(name)}}; }

// Every name of the kernel is in `values`, so one that is longer than all of them, or differs, is free.
ValueId Writer::NewValue(Kernel& kernel, const Type& type) {
  const ValueId id{static_cast<std::int32_t>(kernel.values.size())};
  std::string name = Cat("new_", kernel.values.size());
  while (std::any_of(kernel.values.begin(), kernel.values.end(), [&](const ValueInfo& v) { return v.name == name; }))
    name += "_";
  kernel.values.push_back({.name = std::move(name), .type = type, .label = ""});
  return id;
}

Type Writer::TypeOfArg(const Arg& arg) const {
  if (arg.kind == Arg::Kind::kValue) return kernel_.values[arg.value.index()].type;
  return TypeOf(kernel_, arg);
}

Arg Writer::Apply(OpId op, std::vector<Arg> args, const Type& type, AttrMap attrs) {
  return Append(MakeInstr(op, std::move(args), loc_), type, std::move(attrs));
}

Arg Writer::Again(const Instr& like, std::vector<Arg> args, const Type& type, AttrMap attrs) {
  Instr instr;
  instr.dialect = like.dialect;
  instr.name = like.name;
  instr.args = std::move(args);
  instr.loc = loc_;
  return Append(std::move(instr), type, std::move(attrs));
}

Arg Writer::Append(Instr instr, const Type& type, AttrMap attrs) {
  instr.attrs = std::move(attrs);
  instr.results = {NewValue(kernel_, type)};
  instr.types = {type};
  const ValueId result = instr.results[0];
  to_.push_back(std::move(instr));
  return ValueArg(result);
}

Arg Writer::Retyped(OpId op, const Arg& x, DType to) {
  return Apply(op, {x}, ArrayType(to, TypeOfArg(x).shape), {{"to", IdentAttr(Name(to))}});
}

Arg Writer::Convert(const Arg& x, DType to) {
  return TypeOfArg(x).dtype == to ? x : Retyped(OpId::kConvertElementType, x, to);
}

Arg Writer::Filled(double value, const Type& type) {
  const Arg literal = FloatLiteral(type.dtype, value);
  if (type.shape.empty()) return literal;
  return Apply(OpId::kBroadcastInDim, {literal}, ArrayType(type.dtype, type.shape),
               {{"shape", IntsAttr(type.shape)}, {"dims", Attr{AttrList{}}}});
}

// One of them may be of rank 0.
Arg Writer::Binary(OpId op, const Arg& x, const Arg& y) {
  const Type a = TypeOfArg(x), b = TypeOfArg(y);
  return Apply(op, {x, y}, ArrayType(a.dtype, a.shape.empty() ? b.shape : a.shape));
}

Arg Writer::Compare(OpId op, const Arg& x, const Arg& y) {
  const Type a = TypeOfArg(x), b = TypeOfArg(y);
  return Apply(op, {x, y}, ArrayType(DType::kBool, a.shape.empty() ? b.shape : a.shape));
}

Arg Writer::Select(const Arg& which, const Arg& if_false, const Arg& if_true) {
  const Type type = TypeOfArg(if_false);
  const auto whole = [&](const Arg& x) {
    const Type own = TypeOfArg(x), shape = TypeOfArg(which);
    if (own.shape == shape.shape) return x;
    return Apply(OpId::kBroadcastInDim, {x}, ArrayType(own.dtype, shape.shape),
                 {{"shape", IntsAttr(shape.shape)}, {"dims", Attr{AttrList{}}}});
  };
  return Apply(OpId::kSelectN, {which, whole(if_false), whole(if_true)}, ArrayType(type.dtype, TypeOfArg(which).shape));
}

}  // namespace palladion::golden
