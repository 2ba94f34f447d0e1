#include "emu/emulate.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "emu/check/plain_run.h"
#include "emu/check/refusal.h"
#include "emu/kernel/arrays.h"
#include "emu/kernel/assumed_backend.h"
#include "emu/kernel/float_environment.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/run/agents/host_memory.h"
#include "emu/session.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ir/parser.h"
#include "semantics/ir/printer.h"
#include "semantics/prepare/joined_launches.h"
#include "semantics/prepare/prepare.h"

namespace palladion {
namespace {

std::string_view PathOf(std::string_view path) { return path.empty() ? std::string_view("<text>") : path; }

absl::StatusOr<const Kernel*> FindKernel(const Module& module, const std::string& name) {
  const auto names = [&] {
    return absl::StrJoin(module.kernels, ", ", [](std::string* out, const Kernel& k) { Append(out, k.name); });
  };
  if (name.empty()) {
    if (module.kernels.size() == 1) return &module.kernels[0];
    return absl::InvalidArgumentError(
        Cat("the text has ", module.kernels.size(), " kernels; choose one with --kernel: ", names()));
  }
  for (const Kernel& kernel : module.kernels) {
    if (kernel.name == name || Cat("@", kernel.name) == name) return &kernel;
  }
  return absl::InvalidArgumentError(Cat("no kernel '", name, "' in the text; it has: ", names()));
}

// Before anything is prepared: tables of a value's offsets grow with the value. Operands have none.
absl::Status CheckValues(const Kernel& kernel, std::size_t limit) {
  const auto is_operand = [&](const ValueInfo& value) {
    return std::any_of(kernel.operands.begin(), kernel.operands.end(),
                       [&](const Operand& operand) { return &kernel.values[operand.value.index()] == &value; });
  };
  for (const ValueInfo& value : kernel.values) {
    if (!value.type.is_array() || ByteSize(value.type) <= limit || is_operand(value)) continue;
    return absl::ResourceExhaustedError(Cat("kernel @", kernel.name, " needs ", ByteSize(value.type), " bytes for '%",
                                            value.name, "' of type ", ToString(value.type), "; the limit is ", limit,
                                            "; use smaller shapes or a larger host"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::string>> KernelNames(std::string_view text, std::string_view path) {
  const kernel::FloatEnvironment environment;
  PALLADION_ASSIGN_OR_RETURN(Module module, Parse(text, PathOf(path)));
  std::vector<std::string> names;
  for (const Kernel& kernel : module.kernels) names.push_back(kernel.name);
  return names;
}

absl::StatusOr<std::string> CanonicalText(std::string_view text, std::string_view path) {
  const kernel::FloatEnvironment environment;
  PALLADION_ASSIGN_OR_RETURN(Module module, Parse(text, PathOf(path)));
  return Print(module);
}

absl::StatusOr<PreparedKernel> PrepareText(std::string_view text, const PrepareOptions& options) {
  return PrepareLaunches(text, 1, options);
}

Report ReportOfRefused(const absl::Status& status, std::string_view text, const PrepareOptions& options) {
  return check::RefusalReport(status, text, options);
}

absl::StatusOr<PreparedKernel> PrepareLaunches(std::string_view text, std::int64_t launches,
                                               const PrepareOptions& options) {
  const kernel::FloatEnvironment environment;
  PALLADION_ASSIGN_OR_RETURN(Module module, Parse(text, PathOf(options.path)));
  if (launches != 1) {
    PALLADION_RETURN_IF_ERROR(Verify(Module(module)).status());  // an error refers to the text as it stands
    PALLADION_ASSIGN_OR_RETURN(const Kernel* one, FindKernel(module, options.kernel));
    PALLADION_ASSIGN_OR_RETURN(Kernel joined, JoinLaunches(*one, launches));
    module.kernels[static_cast<std::size_t>(one - module.kernels.data())] = std::move(joined);
  }
  PALLADION_ASSIGN_OR_RETURN(VerifiedModule checked, Verify(std::move(module)));
  auto verified = std::make_shared<const VerifiedModule>(std::move(checked));
  PALLADION_ASSIGN_OR_RETURN(const Kernel* kernel, FindKernel(verified->module(), options.kernel));
  const std::size_t limit = options.memory_limit == 0 ? agents::HostMemoryLimit() : options.memory_limit;
  PALLADION_RETURN_IF_ERROR(CheckValues(*kernel, limit));
  PALLADION_ASSIGN_OR_RETURN(Target target, TargetOf(*kernel, options.target));
  PALLADION_ASSIGN_OR_RETURN(
      std::shared_ptr<const Program> program,
      Prepare(*verified, *kernel, target, {.observable = options.observable, .blocks = options.blocks}));
  return PreparedKernel(std::make_shared<const kernel::PreparedKernelState>(
      verified, std::move(program), kernel::RemarksOf(*kernel, options.target)));
}

absl::StatusOr<Report> RunInto(const PreparedKernel& kernel, absl::Span<const ConstArray> inputs,
                               absl::Span<const MutableArray> outputs, const RunOptions& options) {
  return check::RunInto(kernel, inputs, outputs, {.run = options});
}

absl::StatusOr<RunResult> Run(const PreparedKernel& kernel, absl::Span<const Tensor> inputs,
                              const RunOptions& options) {
  return check::RunWatched(kernel, inputs, {.run = options});
}

}  // namespace palladion
