#include "emu/tools/edit/edit.h"

#include <algorithm>
#include <cstring>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ir/parser.h"
#include "semantics/ir/printer.h"
#include "semantics/registry/verifier.h"

namespace palladion::edit {
namespace {

void ForEachArgOf(Transform& transform, const std::function<void(Arg&)>& use) {
  ForEachArg(transform.peer, use);
  for (Index& index : transform.indices) {
    ForEachArg(index.start, use);
    ForEachArg(index.size, use);
  }
}

}  // namespace

absl::StatusOr<Module> OnlyKernel(std::string_view text, std::string_view path, const KernelChoice& choice) {
  PALLADION_ASSIGN_OR_RETURN(Module module, Parse(text, path));
  if (!choice.kernel.empty())
    std::erase_if(module.kernels, [&](const Kernel& kernel) { return kernel.name != choice.kernel; });
  if (module.kernels.empty()) return absl::InvalidArgumentError(Cat(path, ": there is no kernel @", choice.kernel));
  if (module.kernels.size() > 1) {
    return absl::InvalidArgumentError(
        Cat(path, " has ", module.kernels.size(), " kernels; say which one is to be ", choice.verb));
  }
  PALLADION_RETURN_IF_ERROR(Verify(module).status());
  return Parse(Print(module), path);
}

bool HasResult(const Instr& instr) {
  return std::any_of(instr.results.begin(), instr.results.end(), [](ValueId id) { return id.valid(); });
}

void ForEachArg(Arg& arg, const std::function<void(Arg&)>& use) {
  use(arg);
  for (Transform& transform : arg.transforms) ForEachArgOf(transform, use);
  for (Arg& one : arg.select) ForEachArg(one, use);
}

void ForEachArg(Region& region, const std::function<void(Arg&)>& use) {
  for (Param& param : region.params) {
    for (Transform& transform : param.view) ForEachArgOf(transform, use);
  }
  for (Instr& instr : region.body) {
    for (Arg& arg : instr.args) ForEachArg(arg, use);
    for (Region& inner : instr.regions) ForEachArg(inner, use);
  }
  for (Arg& arg : region.results) ForEachArg(arg, use);
}

void ForEachArg(Kernel& kernel, const std::function<void(Arg&)>& use) {
  for (Operand& operand : kernel.operands) {
    if (!operand.block.has_value()) continue;
    ForEachArg(operand.block->map, use);
    for (Transform& transform : operand.block->view) ForEachArgOf(transform, use);
  }
  for (Body& body : kernel.bodies) ForEachArg(body.region, use);
}

void ForEachInstr(Region& region, const std::function<void(Instr&)>& use) {
  for (Instr& instr : region.body) {
    use(instr);
    for (Region& inner : instr.regions) ForEachInstr(inner, use);
  }
}

void ForEachInstr(Kernel& kernel, const std::function<void(Instr&)>& use) {
  for (Operand& operand : kernel.operands) {
    if (operand.block.has_value()) ForEachInstr(operand.block->map, use);
  }
  for (Body& body : kernel.bodies) ForEachInstr(body.region, use);
}

void Substitute(Kernel& kernel, const Substitution& substitution) {
  ForEachArg(kernel, [&](Arg& arg) {
    // What stands for a value may itself be replaced; values are defined before they are used, so this ends.
    for (auto found = substitution.find(arg.value); arg.kind == Arg::Kind::kValue && found != substitution.end();
         found = substitution.find(arg.value)) {
      Arg with = found->second;
      with.name = arg.name;
      with.transforms.insert(with.transforms.end(), arg.transforms.begin(), arg.transforms.end());
      arg = std::move(with);
    }
  });
}

std::int64_t IntOf(const Literal& literal) {
  std::int32_t value = 0;
  std::memcpy(&value, literal.bytes.data(), sizeof(value));
  return value;
}

void SetInt(Literal& literal, std::int64_t to) {
  const auto value = static_cast<std::int32_t>(to);
  std::memcpy(literal.bytes.data(), &value, sizeof(value));
}

Arg LiteralArg(std::int64_t value, const Type& type) {
  Arg arg;
  arg.kind = Arg::Kind::kLiteral;
  arg.literal = {.dtype = type.dtype, .weak = type.weak};
  SetInt(arg.literal, value);
  return arg;
}

}  // namespace palladion::edit
