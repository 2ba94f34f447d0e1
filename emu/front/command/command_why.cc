#include "emu/front/command/command_why.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "emu/front/command/attended.h"
#include "emu/front/command/command_common.h"
#include "emu/front/command/command_replay.h"
#include "emu/tools/debug/why.h"
#include "semantics/base/printable.h"
#include "semantics/base/status.h"

namespace palladion::command {

absl::StatusOr<ExitCode> CommandWhy(const CommandLine& line, const Console& console) {
  debug::WhyOptions options;
  PALLADION_ASSIGN_OR_RETURN(options.run, RunOptionsOf(line));
  PALLADION_ASSIGN_OR_RETURN(const std::int64_t depth, PositiveFlag(line, "depth", options.depth));
  options.depth = static_cast<int>(std::min<std::int64_t>(depth, 1000));
  if (!line.Has("element"))
    return absl::InvalidArgumentError("--element OUTPUT[I,J] says which element to explain; found none");
  PALLADION_ASSIGN_OR_RETURN(const KernelFile file, LoadKernel(line, true));
  PALLADION_ASSIGN_OR_RETURN(std::vector<Tensor> inputs, ReadInputs(line, file.kernel));
  PALLADION_ASSIGN_OR_RETURN(const auto replayed, ReplayedRunOf(line, console, file.kernel, inputs));
  if (replayed.has_value()) options.replayed = &*replayed;
  const PreparedKernel& kernel = replayed.has_value() ? replayed->kernel() : file.kernel;
  std::optional<Attended> attended(std::in_place, console, kernel.name());
  options.run.control = attended->control();
  PALLADION_ASSIGN_OR_RETURN(const std::string answer, debug::Why(kernel, inputs, line.Flag("element"), options));
  attended.reset();
  console.out << PrintableLines(answer);
  return ExitCode::kClean;
}

}  // namespace palladion::command
