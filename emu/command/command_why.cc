#include "emu/command/command_why.h"

#include <algorithm>
#include <vector>

#include "emu/command/command_common.h"
#include "emu/debug/why.h"
#include "semantics/base/status.h"

namespace palladion {

absl::StatusOr<ExitCode> CommandWhy(absl::Span<const std::string> arguments, const Console& console) {
  PALLADION_ASSIGN_OR_RETURN(CommandLine line,
                             ParseCommandLine(arguments, {"in", "element", "depth", "kernel", "target", "budget"}));
  WhyOptions options;
  PALLADION_ASSIGN_OR_RETURN(options.run.loop_budget, PositiveFlag(line, "budget", options.run.loop_budget));
  PALLADION_ASSIGN_OR_RETURN(const std::int64_t depth, PositiveFlag(line, "depth", options.depth));
  options.depth = static_cast<int>(std::min<std::int64_t>(depth, 1000));
  if (!line.Has("element"))
    return absl::InvalidArgumentError("--element OUTPUT[I,J] says which element is asked about; found none");
  PALLADION_ASSIGN_OR_RETURN(const KernelFile file, LoadKernel(line, true));
  PALLADION_ASSIGN_OR_RETURN(std::vector<Tensor> inputs, ReadInputs(line, file.kernel));
  PALLADION_ASSIGN_OR_RETURN(const std::string answer, Why(file.kernel, inputs, line.Flag("element"), options));
  console.out << answer;
  return ExitCode::kClean;
}

}  // namespace palladion
