// `palladion explain`: what a finding code means, or a limit of GPU kernels.
#include "emu/check/suppressions.h"
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
    if (!line.words.empty()) return absl::InvalidArgumentError("--format=json has all codes: give none");
    console.out << (format == "json" ? reports::ExplainJson() : reports::ExplainList());
    return ExitCode::kClean;
  }
  if (const std::string limit = reports::ExplainLimit(line.words[0]); !limit.empty()) {
    console.out << limit;
    return ExitCode::kClean;
  }
  const std::optional<FindingCode> code = CodeFromName(line.words[0]);
  if (!code.has_value()) {
    const std::string similar = check::SimilarCode(line.words[0]);
    return absl::InvalidArgumentError(
        Cat("unknown finding code '", line.words[0], "'",
            similar.empty() ? "; `palladion explain` lists them" : Cat("; did you mean ", similar, "?")));
  }
  const std::optional<reports::ExplainPage> page = reports::PageOf(*code);
  if (!page.has_value())
    return absl::InternalError(Cat("emu/front/reports/explain/", line.words[0], ".txt is missing or malformed"));
  console.out << reports::ExplainText(*page, ColorWanted(color, console.out_is_terminal));
  return ExitCode::kClean;
}

}  // namespace palladion::command
