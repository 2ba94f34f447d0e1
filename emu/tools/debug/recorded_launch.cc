#include "emu/tools/debug/recorded_launch.h"

#include <vector>

#include "emu/kernel/arrays.h"
#include "emu/kernel/float_environment.h"
#include "emu/kernel/operand_check.h"
#include "emu/run/agents/host_memory.h"
#include "emu/run/launch/run.h"
#include "semantics/base/status.h"

namespace palladion::debug {

absl::Status RecordLaunch(const PreparedKernel& kernel, absl::Span<const ConstArray> inputs, const RunOptions& run,
                          absl::Span<run::Watcher* const> recorders) {
  const kernel::FloatEnvironment environment;
  PALLADION_RETURN_IF_ERROR(kernel::CheckInputs(kernel, inputs));
  PALLADION_RETURN_IF_ERROR(agents::CheckMemory(kernel.state(), agents::HostMemoryLimit()));
  PALLADION_ASSIGN_OR_RETURN(std::vector<Tensor> outputs, kernel::NewOutputs(kernel));
  const agents::LaunchOptions launch{.run = run, .observers = {recorders.begin(), recorders.end()}};
  return launch::Run({kernel.state(), inputs, kernel::MutableArraysOf(outputs)}, launch).status();
}

}  // namespace palladion::debug
