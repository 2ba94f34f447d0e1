#include "emu/front/command/command_schedule.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emu/check.h"
#include "emu/front/command/attended.h"
#include "emu/front/command/command_replay.h"
#include "emu/front/command/output_file.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/tools/schedule/failing_run.h"
#include "emu/tools/schedule/picture.h"
#include "semantics/base/cat.h"
#include "semantics/base/source_lines.h"
#include "semantics/base/status.h"

namespace palladion::command {
namespace {

constexpr const char* kFiles[] = {"page", "svg", "out"};

absl::StatusOr<CheckOptions> OptionsOf(const CommandLine& line) {
  CheckOptions options{.seeds = 64};
  options.run.budget_name = kBudgetFlag;
  PALLADION_ASSIGN_OR_RETURN(const std::int64_t budget, PositiveFlag(line, "budget", options.run.loop_budget));
  options.SetBudget(budget);
  PALLADION_ASSIGN_OR_RETURN(options.seeds, PositiveFlag(line, "seeds", options.seeds));
  PALLADION_RETURN_IF_ERROR(SetOptions(line, kReadings, options));
  if (!line.Has("replay")) return options;
  if (line.Has("seeds"))
    return absl::InvalidArgumentError("--replay runs one schedule, so --seeds does not go with it");
  PALLADION_ASSIGN_OR_RETURN(options.replay, ScheduleOf(line));
  return options;
}

}  // namespace

bool AsksForSchedule(const CommandLine& line) {
  const bool replays_programs = line.Flag("view") == "programs" && line.Has("replay");
  return line.Flag("view") == "schedule" || line.Has("svg") || line.Has("finding") ||
         (line.Has("replay") && !replays_programs);
}

absl::StatusOr<ExitCode> TraceSchedule(const CommandLine& line, const Console& console) {
  PALLADION_ASSIGN_OR_RETURN(const std::string view, ChoiceFlag(line, "view"));
  if (view == "time" || view == "programs")
    return absl::InvalidArgumentError(
        Cat("--view ", view, " draws no schedule: --replay, --svg and --finding go with --view schedule"));
  for (const char* other : {"sm", "core", "device", "events", "no-check"}) {
    if (line.Has(other))
      return absl::InvalidArgumentError(Cat("--", other, " does not go with a picture of a schedule; leave it out"));
  }
  std::vector<std::pair<std::string, OutputFile>> files;
  for (const char* flag : kFiles) {
    if (!line.Has(flag)) continue;
    PALLADION_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Open(line, flag));
    files.emplace_back(flag, std::move(file));
  }
  PALLADION_ASSIGN_OR_RETURN(CheckOptions options, OptionsOf(line));
  PALLADION_ASSIGN_OR_RETURN(const KernelFile file, LoadKernel(line));
  PALLADION_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, ReadInputs(line, file.kernel));
  std::optional<Attended> attended(std::in_place, console, file.kernel.name());
  options.run.control = attended->control();
  PALLADION_ASSIGN_OR_RETURN(const schedule::FailingRun run,
                             schedule::ReplayFailing(file.kernel, inputs, options, {.code = line.Flag("finding")}));
  attended.reset();
  SourceFiles sources;
  const schedule::SchedulePicture picture = schedule::DrawSchedule(
      run, {.module = file.kernel.state().module(),
            .kernel_text = file.text,
            .kernel_path = file.path,
            .source_line = [&](const std::string& path, int number) { return sources.Line(path, number); }});
  if (files.empty()) console.out << schedule::TextOf(picture);
  for (auto& [flag, output] : files) {
    const std::string text = flag == "page"  ? schedule::PageOf(picture)
                             : flag == "svg" ? schedule::SvgOf(picture)
                                             : schedule::JsonOf(picture) + "\n";
    PALLADION_RETURN_IF_ERROR(output.Write(text));
    console.out << "wrote " << line.Flag(flag) << "\n";
  }
  return run.finding.severity == Severity::kDefect ? ExitCode::kDefect : ExitCode::kClean;
}

}  // namespace palladion::command
