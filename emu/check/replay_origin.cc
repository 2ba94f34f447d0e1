#include "emu/check/replay_origin.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string>

#include "emu/check/options.h"
#include "emu/kernel/arrays.h"
#include "semantics/base/cat.h"
#include "semantics/ir/printer.h"

namespace palladion::check {
namespace {

// One kernel of a module without places, and with names that are numbers.
class Plain {
 public:
  explicit Plain(Module& module) {
    module.producer.clear();
    for (std::size_t i = 0; i < module.consts.size(); ++i) {
      const std::string name = Cat("c", i);
      consts_[module.consts[i].name] = name;
      module.consts[i].name = name;
    }
    for (Kernel& kernel : module.kernels) Rename(kernel);
    module.files.clear();
    module.file_names.clear();
    module.locs.clear();
    module.loc_names.clear();
  }

 private:
  void Rename(Kernel& kernel) {
    kernel.name = std::string("k");
    kernel.other = {};  // costs and notes
    for (std::size_t i = 0; i < kernel.values.size(); ++i) {
      kernel.values[i].name = Cat("v", i);
      kernel.values[i].label.clear();
    }
    for (Operand& operand : kernel.operands) {
      operand.label.clear();
      operand.loc = {};
      if (operand.block.has_value()) Forget(operand.block->map);
    }
    for (std::size_t i = 0; i < kernel.bodies.size(); ++i) {
      kernel.bodies[i].name = Cat("b", i);
      Forget(kernel.bodies[i].region);
    }
  }

  void Forget(Region& region) {
    for (Instr& instr : region.body) {
      instr.loc = {};
      for (Arg& arg : instr.args) Rename(arg);
      for (Region& inner : instr.regions) Forget(inner);
    }
    for (Arg& result : region.results) Rename(result);
  }

  void Rename(Arg& arg) {
    if (!arg.dense_name.empty()) arg.dense_name = consts_[arg.dense_name];
    for (Arg& part : arg.select) Rename(part);
  }

  std::map<std::string, std::string> consts_;
};

Module OnlyKernel(const kernel::PreparedKernelState& kernel) {
  Module module = kernel.module();
  std::erase_if(module.kernels, [&](const Kernel& k) { return k.name != kernel.program().kernel_name; });
  return module;
}

std::uint64_t HashOfShapes(const Program& program) {
  scheduler::ScheduleHash hash;
  for (const OperandInfo& info : program.operand_infos) {
    if (info.role == Role::kScratch) continue;
    hash.Add(static_cast<std::uint64_t>(info.role)).Add(Name(info.type.dtype));
    for (const std::int64_t size : info.type.shape) hash.Add(static_cast<std::uint64_t>(size));
  }
  for (const GridDim& dim : program.grid) hash.Add(static_cast<std::uint64_t>(dim.bound.valid() ? -1 : dim.size));
  return hash.value();
}

}  // namespace

std::uint64_t HashOfInputs(absl::Span<const ConstArray> inputs) {
  scheduler::ScheduleHash hash;
  for (const ConstArray& array : inputs) {
    std::size_t bytes = StorageBytes(array.dtype);
    for (std::int64_t size : array.shape) bytes *= static_cast<std::size_t>(size);
    hash.Add(Name(array.dtype)).Add(absl::MakeSpan(array.data, bytes));
  }
  return hash.value();
}

std::string OriginWord(std::string text) {
  for (char& c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '/' || c == '-';
    if (!plain) c = '_';
  }
  return text.empty() ? "_" : text;
}

std::string OptionsText(const CheckOptions& options) {
  const CheckOptions defaults;
  std::string text;
  const std::string fill = NameOf(options.fill);
  if (fill != NameOf(defaults.fill)) Append(&text, "fill=", OriginWord(fill));
  if (options.proxy != defaults.proxy) Append(&text, text.empty() ? "" : ",", "proxy=", Name(options.proxy));
  if (options.links != defaults.links) Append(&text, text.empty() ? "" : ",", "links=", Name(options.links));
  if (options.run.padded_bounds) Append(&text, text.empty() ? "" : ",", "bounds=padded");
  return text.empty() ? "-" : text;
}

scheduler::ScheduleOrigin OriginOf(const kernel::PreparedKernelState& kernel, absl::Span<const ConstArray> inputs,
                                   const CheckOptions& options) {
  Module plain = OnlyKernel(kernel);
  const Plain renamed(plain);
  return {.kernel = OriginWord(kernel.program().kernel_name),
          .target = OriginWord(ToString(kernel.program().target)),
          .options = OptionsText(options),
          .operations = scheduler::Folded(scheduler::ScheduleHash().Add(Print(plain)).value()),
          .shapes = scheduler::Folded(HashOfShapes(kernel.program())),
          .inputs = scheduler::Folded(HashOfInputs(inputs))};
}

}  // namespace palladion::check
