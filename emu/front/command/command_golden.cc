// The command `golden`: a bundle with which backends compare their outputs.
#include <optional>

#include "emu/front/command/attended.h"
#include "emu/front/command/command_common.h"
#include "emu/tools/golden/bundle.h"
#include "semantics/base/cat.h"
#include "semantics/base/printable.h"
#include "semantics/base/status.h"

namespace palladion::command {

absl::StatusOr<ExitCode> CommandGolden(const CommandLine& line, const Console& console) {
  golden::GoldenOptions options;
  PALLADION_ASSIGN_OR_RETURN(options.run.loop_budget, PositiveFlag(line, "budget", options.run.loop_budget));
  PALLADION_ASSIGN_OR_RETURN(options.seeds, PositiveFlag(line, "seeds", options.seeds));
  options.run.budget_name = kBudgetFlag;
  if (line.Flag("out").empty()) return absl::InvalidArgumentError("--out DIR says where the bundle goes; found none");
  PALLADION_ASSIGN_OR_RETURN(const KernelFile file, LoadKernel(line));
  PALLADION_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, ReadInputs(line, file.kernel));
  options.prepare = {.kernel = file.kernel.name(), .target = line.Flag("target"), .path = file.path};
  std::optional<Attended> attended(std::in_place, console, file.kernel.name());
  options.run.control = attended->control();
  PALLADION_ASSIGN_OR_RETURN(const golden::Bundle bundle, golden::MakeBundle(file.text, inputs, options, ToJson));
  attended.reset();
  PALLADION_RETURN_IF_ERROR(golden::WriteBundle(bundle, line.Flag("out")));
  for (const golden::GoldenOutput& output : bundle.outputs)
    console.out << Printable(Cat(output.operand.name, ": ", TypeString(output.operand.dtype, output.operand.shape),
                                 ": ", output.derivation))
                << "\n";
  console.out << "wrote " << line.Flag("out") << "\n";
  if (!bundle.defect) return ExitCode::kClean;
  console.out << "warning: the kernel has a defect (report.json), so other orders may give other outputs than these; "
                 "mend it first: palladion check\n";
  return ExitCode::kDefect;
}

}  // namespace palladion::command
