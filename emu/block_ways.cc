#include "emu/block_ways.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "emu/agents/prepared_kernel.h"
#include "semantics/base/status.h"
#include "semantics/ir/parser.h"
#include "semantics/prepare/prepare.h"

namespace palladion {

absl::StatusOr<PreparedKernel> PrepareWith(BlockCopies copies, std::string_view text, const PrepareOptions& options) {
  PALLADION_ASSIGN_OR_RETURN(const PreparedKernel kernel, PrepareText(text, options));
  PALLADION_ASSIGN_OR_RETURN(Module module, Parse(text));
  PALLADION_ASSIGN_OR_RETURN(VerifiedModule checked, Verify(std::move(module)));
  const auto verified = std::make_shared<const VerifiedModule>(std::move(checked));
  const auto is = [&](const Kernel& one) { return one.name == kernel.state().text().name; };
  const Kernel& one = *std::find_if(verified->module().kernels.begin(), verified->module().kernels.end(), is);
  const Target& target = kernel.state().program().target;
  using Pipeline = ProgramOptions::Pipeline;
  PALLADION_ASSIGN_OR_RETURN(const auto all, Prepare(*verified, one, target, {.pipeline = Pipeline::kAlways}));
  const auto pipelined = [](const OperandInfo& info) { return info.pipelined; };
  if (std::none_of(all->operand_infos.begin(), all->operand_infos.end(), pipelined))
    return absl::NotFoundError("no core copies blocks there");
  PALLADION_ASSIGN_OR_RETURN(const auto none, Prepare(*verified, one, target, {.pipeline = Pipeline::kNever}));
  Program program = copies == BlockCopies::kBesideBodies ? *all : *none;
  program.uses_port = true;
  return PreparedKernel(std::make_shared<const agents::PreparedKernelState>(
      verified, std::make_shared<const Program>(std::move(program)), kernel.state().remarks()));
}

bool HasEngines(const PreparedKernel& kernel) { return kernel.state().program().uses_port; }

}  // namespace palladion
