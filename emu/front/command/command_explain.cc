// `palladion explain`: what a finding code means, or a limit of GPU kernels.
#include "emu/front/command/command_common.h"
#include "emu/front/reports/explain.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::command {

absl::StatusOr<ExitCode> CommandExplain(const CommandLine& line, const Console& console) {
  PALLADION_ASSIGN_OR_RETURN(const std::string format, ChoiceFlag(line, "format"));
  PALLADION_ASSIGN_OR_RETURN(const std::string color, ChoiceFlag(line, "color"));
  if (line.words.size() > 1)
    return absl::InvalidArgumentError(Cat("expected one finding code; found ", line.words.size()));
  if (line.words.empty() || format == "json") {
    if (line.Has("pkir")) return absl::InvalidArgumentError("--pkir is of the page of one code: give it");
    if (!line.words.empty()) return absl::InvalidArgumentError("--format=json has all codes: give none");
    console.out << (format == "json" ? reports::ExplainJson() : reports::ExplainList());
    return ExitCode::kClean;
  }
  if (const std::string limit = reports::ExplainLimit(line.words[0]); !limit.empty()) {
    console.out << limit;
    return ExitCode::kClean;
  }
  const std::optional<FindingCode> code = CodeFromName(line.words[0]);
  if (!code.has_value()) return reports::UnknownCode(line.words[0]);
  const std::optional<reports::ExplainPage> page = reports::PageOf(*code);
  if (!page.has_value())
    return absl::InternalError(Cat("emu/front/reports/explain/", line.words[0], ".txt is missing or malformed"));
  console.out << reports::ExplainText(*page,
                                      {.color = ColorWanted(color, console.out_is_terminal), .pkir = line.Has("pkir")});
  return ExitCode::kClean;
}

}  // namespace palladion::command
