// palladion fit: the memory use of a kernel on its chip, and whether it fits, as text or JSON.
#include <algorithm>
#include <string>
#include <vector>

#include "emu/front/command/command_common.h"
#include "emu/tools/fit/fit.h"
#include "semantics/base/status.h"

namespace palladion::command {

absl::StatusOr<ExitCode> CommandFit(const CommandLine& line, const Console& console) {
  PALLADION_ASSIGN_OR_RETURN(std::string format, ChoiceFlag(line, "format"));
  if (line.Has("json") && line.Has("format") && format != "json")
    return absl::InvalidArgumentError("--json and --format text contradict each other; give one");
  if (line.Has("json")) format = "json";
  PALLADION_ASSIGN_OR_RETURN(const std::string path, OneFile(line));
  PALLADION_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  PALLADION_ASSIGN_OR_RETURN(
      const std::vector<fit::KernelFit> fits,
      fit::FitOf(text, {.kernel = line.Flag("kernel"), .target = line.Flag("target"), .path = path}));
  console.out << (format == "json" ? fit::FitJson(fits) + "\n" : fit::FitText(fits));
  const bool fits_all = std::all_of(
      fits.begin(), fits.end(), [](const fit::KernelFit& fit) { return fit.verdict() != fit::Verdict::kDoesNotFit; });
  return fits_all ? ExitCode::kClean : ExitCode::kDefect;
}

}  // namespace palladion::command
