#include "emu/emulate.h"

#include <algorithm>
#include <new>
#include <utility>
#include <variant>

#include "absl/strings/str_join.h"
#include "emu/agents/assumed_backend.h"
#include "emu/agents/float_environment.h"
#include "emu/agents/host_memory.h"
#include "emu/agents/operand_check.h"
#include "emu/agents/prepared_kernel.h"
#include "emu/arrays.h"
#include "emu/checks/contracts.h"
#include "emu/checks/plain_run.h"
#include "emu/checks/refusal.h"
#include "emu/launch/launch.h"
#include "emu/legality/lanes_of_accesses.h"
#include "emu/reports/module_json.h"
#include "emu/session.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/ir/parser.h"
#include "semantics/ir/printer.h"
#include "semantics/prepare/joined_launches.h"
#include "semantics/prepare/prepare.h"
#include "semantics/program/frame_shadow.h"

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

absl::StatusOr<const ShadowRules*> agents::PreparedKernelState::shadow_rules() const {
  std::call_once(shadow_once_, [this] { shadow_rules_ = ShadowRules::Prepare(*program_, *text_); });
  if (!shadow_rules_.ok()) return shadow_rules_.status();
  return shadow_rules_->get();
}

const agents::StaticReport& agents::PreparedKernelState::static_report() const {
  std::call_once(static_once_, [this] { static_report_ = checks::StaticFindings(module(), *program_); });
  return static_report_;
}

const legality::LanesOfAccesses& agents::PreparedKernelState::lanes_of_accesses() const {
  std::call_once(lanes_once_, [this] {
    const bool triton = program_->target.backend == TargetBackend::kTriton;
    lanes_of_accesses_ = std::make_shared<const legality::LanesOfAccesses>(
        triton ? legality::LanesOfAccesses::OfTriton(*text_) : legality::LanesOfAccesses::OfMosaicGpu(*text_));
  });
  return *lanes_of_accesses_;
}

agents::PreparedKernelState::PreparedKernelState(std::shared_ptr<const VerifiedModule> module,
                                                 std::shared_ptr<const Program> program,
                                                 std::vector<ReportedRemark> remarks)
    : module_(std::move(module)), program_(std::move(program)), remarks_(std::move(remarks)) {
  for (const Kernel& kernel : module_->module().kernels) {
    if (kernel.name == program_->kernel_name) text_ = &kernel;
  }
  for (std::size_t i = 0; i < program_->operand_infos.size(); ++i) {
    const OperandInfo& info = program_->operand_infos[i];
    if (info.role == Role::kScratch) continue;
    OperandDescription described{.name = text_->values[text_->operands[i].value.index()].name,
                                 .label = text_->operands[i].label,
                                 .dtype = info.type.dtype,
                                 .shape = CallerShape(*program_, info.type)};
    if (WordsPerElement(info.type) > 1)
      described.shape.push_back(static_cast<std::int64_t>(WordsPerElement(info.type)));
    (info.role == Role::kOut ? outputs_ : inputs_).push_back(std::move(described));
  }
  const Attr* const without = Find(text_->params, "unsafe_no_auto_barriers");
  const bool* const says = without == nullptr ? nullptr : std::get_if<bool>(&without->value);
  automatic_barriers_ = program_->target.backend == TargetBackend::kMosaicGpu && (says == nullptr || !*says);
  always_found_ = checks::DirectAccessFindings(module_->module(), *program_);
  if (program_->wants_threads) threads_ = std::make_unique<simd::Parallel>();
}

const std::string& PreparedKernel::name() const { return state_->program().kernel_name; }
std::string PreparedKernel::target() const { return ToString(state_->program().target); }
const std::vector<OperandDescription>& PreparedKernel::inputs() const { return state_->inputs(); }
const std::vector<OperandDescription>& PreparedKernel::outputs() const { return state_->outputs(); }

absl::StatusOr<std::vector<std::string>> KernelNames(std::string_view text, std::string_view path) {
  const agents::FloatEnvironment environment;
  PALLADION_ASSIGN_OR_RETURN(Module module, Parse(text, PathOf(path)));
  std::vector<std::string> names;
  for (const Kernel& kernel : module.kernels) names.push_back(kernel.name);
  return names;
}

absl::StatusOr<std::string> CanonicalText(std::string_view text, std::string_view path) {
  const agents::FloatEnvironment environment;
  PALLADION_ASSIGN_OR_RETURN(Module module, Parse(text, PathOf(path)));
  return Print(module);
}

absl::StatusOr<std::string> TextAsJson(std::string_view text, std::string_view path) {
  const agents::FloatEnvironment environment;
  PALLADION_ASSIGN_OR_RETURN(const Module module, Parse(text, PathOf(path)));
  return reports::ModuleJson(module);
}

absl::StatusOr<PreparedKernel> PrepareText(std::string_view text, const PrepareOptions& options) {
  return PrepareLaunches(text, 1, options);
}

Report ReportOfRefused(const absl::Status& status, std::string_view text, const PrepareOptions& options) {
  return checks::RefusalReport(status, text, options);
}

absl::StatusOr<PreparedKernel> PrepareLaunches(std::string_view text, std::int64_t launches,
                                               const PrepareOptions& options) {
  const agents::FloatEnvironment environment;
  PALLADION_ASSIGN_OR_RETURN(Module module, Parse(text, PathOf(options.path)));
  if (launches != 1) {
    PALLADION_RETURN_IF_ERROR(Verify(Module(module)).status());  // what is wrong is told of the text as it stands
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
  return PreparedKernel(std::make_shared<const agents::PreparedKernelState>(
      verified, std::move(program), agents::RemarksOf(*kernel, options.target)));
}

namespace {

absl::StatusOr<Report> LaunchChecked(const PreparedKernel& kernel, absl::Span<const ConstArray> inputs,
                                     absl::Span<const MutableArray> outputs, const agents::LaunchOptions& options) {
  const agents::FloatEnvironment environment;
  PALLADION_RETURN_IF_ERROR(agents::CheckInputs(kernel, inputs));
  PALLADION_RETURN_IF_ERROR(agents::CheckOutputs(kernel, outputs));
  PALLADION_RETURN_IF_ERROR(agents::CheckMemory(kernel.state(), agents::MemoryLimitOf(options.run)));
  try {
    return checks::RunPlain({kernel.state(), inputs, outputs}, options);
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(
        Cat("kernel @", kernel.name(), ": out of memory; use smaller shapes or a larger host"));
  }
}

}  // namespace

absl::StatusOr<Report> RunInto(const PreparedKernel& kernel, absl::Span<const ConstArray> inputs,
                               absl::Span<const MutableArray> outputs, const RunOptions& options) {
  return LaunchChecked(kernel, inputs, outputs, {.run = options});
}

absl::StatusOr<RunResult> launch::RunWatched(const PreparedKernel& kernel, absl::Span<const Tensor> inputs,
                                             const agents::LaunchOptions& options) {
  PALLADION_RETURN_IF_ERROR(agents::CheckMemory(kernel.state(), agents::MemoryLimitOf(options.run)));
  RunResult result;
  PALLADION_ASSIGN_OR_RETURN(result.outputs, NewOutputs(kernel));
  PALLADION_ASSIGN_OR_RETURN(result.report,
                             LaunchChecked(kernel, ArraysOf(inputs), MutableArraysOf(result.outputs), options));
  return result;
}

absl::StatusOr<RunResult> Run(const PreparedKernel& kernel, absl::Span<const Tensor> inputs,
                              const RunOptions& options) {
  return launch::RunWatched(kernel, inputs, {.run = options});
}

}  // namespace palladion
