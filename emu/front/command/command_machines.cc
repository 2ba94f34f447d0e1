#include "emu/front/command/command_machines.h"

#include "emu/chip/machines/description.h"
#include "emu/chip/machines/informative.h"
#include "emu/front/reports/machines_format.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::command {

absl::StatusOr<ExitCode> CommandMachines(const CommandLine& line, const Console& console) {
  PALLADION_ASSIGN_OR_RETURN(std::string format, ChoiceFlag(line, "format"));
  if (line.Has("json") && line.Has("format") && format != "json")
    return absl::InvalidArgumentError("--json and --format text contradict each other; give one");
  if (line.Has("json")) format = "json";
  if (line.words.empty()) {
    if (line.Has("set"))
      return absl::InvalidArgumentError("--set needs a machine: palladion machines show NAME --set NUMBER=VALUE");
    console.out << (format == "json" ? reports::MachinesJson() + "\n" : reports::MachinesText());
    return ExitCode::kClean;
  }
  if (line.words[0] != "show" || line.words.size() != 2)
    return absl::InvalidArgumentError(
        Cat("expected nothing, or show and one machine: palladion machines show h100; found '", line.words[0], "' and ",
            line.words.size() - 1, " more"));
  PALLADION_ASSIGN_OR_RETURN(const machines::Machine* found, machines::FindMachine(line.words[1]));
  machines::Machine machine = *found;
  std::vector<std::string> changes;
  for (const auto& [flag, value] : line.flags) {
    if (flag == "set") changes.push_back(value);
  }
  PALLADION_RETURN_IF_ERROR(machine.Set(changes));
  console.out << (format == "json" ? reports::MachineJson(machine) + "\n"
                                   : machine.Print() + machines::InformativeText(machine));
  return ExitCode::kClean;
}

}  // namespace palladion::command
