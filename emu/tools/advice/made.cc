#include "emu/tools/advice/made.h"

#include <utility>

#include "semantics/base/cat.h"

namespace palladion::advice {

Instr& Maker::Add(OpId op, std::vector<Arg> args) {
  Instr instr = MakeInstr(op, std::move(args), loc_);
  instr.text_line = text_line_;
  for (Arg& arg : instr.args) arg.name.clear();
  made_.push_back(std::move(instr));
  return made_.back();
}

Arg Maker::Value(OpId op, std::vector<Arg> args, const Type& type) {
  Instr& instr = Add(op, std::move(args));
  const ValueId id{static_cast<std::int32_t>(kernel_.values.size())};
  kernel_.values.push_back({.name = Cat("advised_", id.value), .type = type, .label = ""});
  instr.results = {id};
  instr.types = {type};
  return Of(id);
}

Arg Maker::ToI32(Arg arg) {
  const Arg made = Value(OpId::kConvertElementType, {std::move(arg)}, ArrayType(DType::kI32, {}));
  made_.back().attrs.emplace_back("to", Attr{AttrIdent{"i32"}});
  return made;
}

Arg Maker::Of(ValueId id) const {
  Arg arg;
  arg.kind = Arg::Kind::kValue;
  arg.value = id;
  return arg;
}

void Maker::If(const Arg& condition, std::vector<Instr> body) {
  const Arg chosen = ToI32(condition);
  Instr& cond = Add(OpId::kCond, {chosen});
  cond.regions.resize(2);
  cond.regions[1].body = std::move(body);
}

}  // namespace palladion::advice
