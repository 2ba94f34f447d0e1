// palladion advise: what would make a kernel faster on a chip, as text or JSON.
#include <optional>
#include <string>
#include <vector>

#include "emu/chip/machines/description.h"
#include "emu/front/command/attended.h"
#include "emu/front/command/command_common.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/run/agents/host_memory.h"
#include "emu/timing/time_kernel.h"
#include "emu/tools/advice/advice_format.h"
#include "emu/tools/advice/advise.h"
#include "semantics/base/status.h"

namespace palladion::command {

absl::StatusOr<ExitCode> CommandAdvise(const CommandLine& line, const Console& console) {
  PALLADION_ASSIGN_OR_RETURN(const std::string format, ChoiceFlag(line, "format"));
  RunOptions run;
  PALLADION_ASSIGN_OR_RETURN(run.loop_budget, PositiveFlag(line, "budget", run.loop_budget));
  run.budget_name = kBudgetFlag;
  PALLADION_ASSIGN_OR_RETURN(const std::int64_t seeds, PositiveFlag(line, "seeds", advice::kSeeds));
  PALLADION_ASSIGN_OR_RETURN(const KernelFile file, LoadKernel(line, /*observable=*/true));
  std::vector<std::string> changes;
  for (const auto& [flag, value] : line.flags) {
    if (flag == "set") changes.push_back(value);
  }
  PALLADION_ASSIGN_OR_RETURN(const machines::Machine machine, timing::MachineOf(file.kernel, changes));
  PALLADION_RETURN_IF_ERROR(agents::CheckMemory(file.kernel.state(), agents::HostMemoryLimit()));
  PALLADION_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, ReadInputs(line, file.kernel));
  std::optional<Attended> attended(std::in_place, console, file.kernel.name());
  run.control = attended->control();
  absl::StatusOr<advice::Advice> advice = advice::Advise({.kernel = file.kernel,
                                                          .inputs = inputs,
                                                          .machine = machine,
                                                          .run = run,
                                                          .seeds = seeds,
                                                          .what_ifs = !line.Has("no-what-ifs")});
  attended.reset();  // its line on the terminal is gone before anything is printed
  PALLADION_RETURN_IF_ERROR(advice.status());
  const Module& module = file.kernel.state().module();
  if (format == "json") {
    console.out << advice::AdviceJson(*advice, module) << "\n";
  } else {
    console.out << file.kernel.name() << " " << advice::AdviceText(*advice, module);
  }
  const ExitCode code = ExitCodeOf(advice->report);
  if (code != ExitCode::kClean)
    console.err << "palladion: note: the kernel as it is has findings, and a change is held against what it computes; "
                   "`palladion check` reports them\n";
  return code;
}

}  // namespace palladion::command
