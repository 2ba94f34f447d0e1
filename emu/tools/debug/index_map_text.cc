#include "emu/tools/debug/index_map_text.h"

#include <map>
#include <utility>

#include "absl/strings/str_join.h"
#include "emu/run/watch/observed.h"
#include "semantics/base/cat.h"
#include "semantics/registry/value_text.h"

namespace palladion::debug {
namespace {

class Expressions {
 public:
  explicit Expressions(const Kernel& kernel) : kernel_(kernel) {}

  std::string Name(ValueId id) const {
    if (!id.valid()) return "_";
    const ValueInfo& value = kernel_.values[id.index()];
    return value.label.empty() ? value.name : value.label;
  }

  void Add(const Instr& instr) {
    std::vector<std::string> operands;
    for (const Arg& arg : instr.args) operands.push_back(Of(arg));
    // A read of a ref is written as its author did: "rows_ref[i]".
    const bool reads = instr.args.size() == 1 && instr.args[0].kind == Arg::Kind::kValue &&
                       kernel_.values[instr.args[0].value.index()].type.is_ref();
    const std::string text = reads ? operands[0] : Cat(watch::OpName(instr), "(", absl::StrJoin(operands, ", "), ")");
    for (const ValueId result : instr.results) {
      if (result.valid()) made_[result.index()] = text;
    }
  }

  std::string Of(const Arg& arg) const {
    switch (arg.kind) {
      case Arg::Kind::kLiteral: {
        Type type;
        type.dtype = arg.literal.dtype;
        return ValueText(type, arg.literal.bytes.data());
      }
      case Arg::Kind::kValue: {
        const auto found = made_.find(arg.value.index());
        return (found == made_.end() ? Name(arg.value) : found->second) + Indices(arg);
      }
      case Arg::Kind::kNone:
      case Arg::Kind::kDense:
      case Arg::Kind::kSelect:
        break;
    }
    return "…";
  }

 private:
  std::string Indices(const Arg& arg) const {
    std::string text;
    for (const Transform& transform : arg.transforms) {
      if (transform.kind != Transform::Kind::kAt) return text + "…";
      std::vector<std::string> indices;
      for (const Index& index : transform.indices)
        indices.push_back(index.kind == Index::Kind::kPoint ? Of(index.start) : "…");
      Append(&text, "[", absl::StrJoin(indices, ", "), "]");
    }
    return text;
  }

  const Kernel& kernel_;
  std::map<std::size_t, std::string> made_;
};

}  // namespace

IndexMapText TextOfMap(const Kernel& kernel, const Region& map) {
  Expressions expressions(kernel);
  IndexMapText text;
  for (const Param& param : map.params) text.parameters.push_back(expressions.Name(param.value));
  for (const Instr& instr : map.body) expressions.Add(instr);
  for (const Arg& result : map.results) text.results.push_back(expressions.Of(result));
  return text;
}

std::vector<std::string> AxisNames(const Kernel& kernel) {
  if (!kernel.launch.names.empty()) return kernel.launch.names;
  std::vector<std::string> names(kernel.launch.grid.size());
  for (const Operand& operand : kernel.operands) {
    if (!operand.block.has_value() || operand.block->map.params.size() < names.size()) continue;
    const IndexMapText map = TextOfMap(kernel, operand.block->map);
    names.assign(map.parameters.begin(), map.parameters.begin() + static_cast<std::ptrdiff_t>(names.size()));
    break;
  }
  return names;
}

}  // namespace palladion::debug
