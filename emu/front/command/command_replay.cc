#include "emu/front/command/command_replay.h"

#include "emu/front/command/attended.h"
#include "emu/front/options/check_options.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::command {

absl::StatusOr<std::string> ScheduleOf(const CommandLine& line) {
  PALLADION_ASSIGN_OR_RETURN(std::string schedule, ReplayOf(line.Flag("replay")));
  if (schedule.empty()) return absl::InvalidArgumentError("--replay needs the schedule that a report names; found ''");
  return schedule;
}

absl::StatusOr<RunOptions> RunOptionsOf(const CommandLine& line) {
  CheckOptions options;
  options.run.budget_name = kBudgetFlag;
  PALLADION_RETURN_IF_ERROR(SetOptions(line, {"budget", "bounds", "legality"}, options));
  return options.run;
}

absl::StatusOr<std::optional<check::ReplayedRun>> ReplayedRunOf(const CommandLine& line, const Console& console,
                                                                const PreparedKernel& kernel,
                                                                const std::vector<Tensor>& inputs) {
  std::optional<check::ReplayedRun> replayed;
  for (const options::CheckOption& option : options::CheckOptionTable()) {
    const std::string flag(option.flag);
    if (option.on(options::kOfReplays) && line.Has(flag) && !line.Has("replay"))
      return absl::InvalidArgumentError(
          Cat("--", flag, " says how the check ran whose schedule is replayed: it goes with --replay SCHEDULE"));
  }
  if (!line.Has("replay")) return replayed;
  if (line.Has("program"))
    return absl::InvalidArgumentError("--replay runs all programs in their order, so --program does not go with it");
  CheckOptions options;
  PALLADION_RETURN_IF_ERROR(SetOptions(line, kReadings, options));
  PALLADION_RETURN_IF_ERROR(SetOptions(line, {"budget"}, options));
  PALLADION_ASSIGN_OR_RETURN(options.run, RunOptionsOf(line));
  PALLADION_ASSIGN_OR_RETURN(options.replay, ScheduleOf(line));
  Attended attended(console, kernel.name());
  options.run.control = attended.control();
  PALLADION_ASSIGN_OR_RETURN(replayed, check::ReplayedRun::Of(kernel, inputs, options));
  return replayed;
}

}  // namespace palladion::command
