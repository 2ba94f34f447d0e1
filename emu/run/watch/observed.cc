#include "emu/run/watch/observed.h"

#include "semantics/base/cat.h"
#include "semantics/program/agent_naming.h"
#include "semantics/program/builder.h"
#include "semantics/registry/value_text.h"

namespace palladion::watch {

std::string NameOfAgent(const Frame& frame) {
  const std::string warp = !frame.warp().has_value() ? "" : Cat("warp ", frame.warp()->number, " of ");
  return warp + AgentName(NamingOf(frame.program()), frame.grid_index());
}

std::string SourceText(const Module& module, LocId loc) {
  const std::string source = loc.valid() ? Describe(module, loc) : "";
  return source.substr(0, source.find(" (called from "));
}

std::string OpName(const Instr& instr) {
  return instr.dialect.empty() ? instr.name : Cat(instr.dialect, ".", instr.name);
}

Type OperandType(const Kernel& kernel, const Mark& mark, std::size_t i) {
  const ValueId value = mark.in[i].value;
  return value.valid() ? kernel.values[value.index()].type : TypeOf(kernel, mark.instr->args[i]);
}

std::string ElementValueText(const Type& type, const std::byte* value, std::int64_t element) {
  Type one = type;
  one.shape.clear();
  return ValueText(one, value + static_cast<std::size_t>(element) * BytesPerElement(type));
}

std::int64_t ElementsOf(const BoxAccess& access, const memory_model::BoxReach& reach) {
  if (reach.empty || reach.none_copied) return 0;
  std::int64_t elements = 1;
  for (std::size_t d = 0; d < static_cast<std::size_t>(access.rank); ++d)
    elements *= reach.copy[d].end - reach.copy[d].begin;
  return elements;
}

}  // namespace palladion::watch
