#include "emu/kernel/prepared_kernel.h"

#include <string>
#include <utility>
#include <variant>

#include "semantics/base/status.h"
#include "semantics/prepare/prepare.h"
#include "semantics/program/frame_shadow.h"
#include "semantics/registry/verifier.h"

namespace palladion::kernel {

absl::StatusOr<const ShadowRules*> PreparedKernelState::shadow_rules() const {
  std::call_once(shadow_once_, [this] { shadow_rules_ = ShadowRules::Prepare(*program_, *text_); });
  if (!shadow_rules_.ok()) return shadow_rules_.status();
  return shadow_rules_->get();
}

PreparedKernelState::PreparedKernelState(std::shared_ptr<const VerifiedModule> module,
                                         std::shared_ptr<const Program> program, std::vector<ReportedRemark> remarks)
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
  if (program_->wants_threads) threads_ = std::make_unique<simd::Parallel>();
}

absl::StatusOr<PreparedKernel> PreparedAgain(const PreparedKernel& kernel, const ProgramOptions& options) {
  const PreparedKernelState& state = kernel.state();
  PALLADION_ASSIGN_OR_RETURN(VerifiedModule checked, Verify(Module(state.module())));
  auto verified = std::make_shared<const VerifiedModule>(std::move(checked));
  const auto number = static_cast<std::size_t>(&state.text() - state.module().kernels.data());
  PALLADION_ASSIGN_OR_RETURN(std::shared_ptr<const Program> program,
                             Prepare(*verified, verified->module().kernels[number], state.program().target, options));
  return PreparedKernel(
      std::make_shared<const PreparedKernelState>(std::move(verified), std::move(program), state.remarks()));
}

}  // namespace palladion::kernel

namespace palladion {

const std::string& PreparedKernel::name() const { return state_->program().kernel_name; }
std::string PreparedKernel::target() const { return ToString(state_->program().target); }
const std::vector<OperandDescription>& PreparedKernel::inputs() const { return state_->inputs(); }
const std::vector<OperandDescription>& PreparedKernel::outputs() const { return state_->outputs(); }

}  // namespace palladion
