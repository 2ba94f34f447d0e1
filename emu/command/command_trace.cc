// palladion trace: one launch in program order, recorded for people to look at.
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emu/agents/float_environment.h"
#include "emu/agents/host_memory.h"
#include "emu/agents/operand_check.h"
#include "emu/arrays.h"
#include "emu/check.h"
#include "emu/command/attended.h"
#include "emu/command/command_common.h"
#include "emu/command/output_file.h"
#include "emu/debug/trace_json.h"
#include "emu/debug/trace_page.h"
#include "emu/debug/trace_recorder.h"
#include "emu/launch/launch.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::command {
namespace {

namespace fs = std::filesystem;

absl::Status RecordLaunch(const PreparedKernel& kernel, absl::Span<const ConstArray> inputs, const RunOptions& run,
                          debug::TraceRecorder& recorder) {
  const agents::FloatEnvironment environment;
  PALLADION_RETURN_IF_ERROR(agents::CheckInputs(kernel, inputs));
  PALLADION_RETURN_IF_ERROR(agents::CheckMemory(kernel.state(), agents::HostMemoryLimit()));
  PALLADION_ASSIGN_OR_RETURN(std::vector<Tensor> outputs, NewOutputs(kernel));
  const agents::LaunchOptions launch{.run = run, .observers = {&recorder}};
  return launch::RunLaunch({kernel.state(), inputs, MutableArraysOf(outputs), launch}).status();
}

}  // namespace

absl::StatusOr<ExitCode> CommandTrace(const CommandLine& line, const Console& console) {
  if (!line.Has("out") && !line.Has("page"))
    return absl::InvalidArgumentError(
        "trace writes files: give --out TRACE.json (for Perfetto), --page PAGE.html, or both");
  if (line.Has("out") && line.Has("page") &&
      fs::weakly_canonical(line.Flag("out")) == fs::weakly_canonical(line.Flag("page")))
    return absl::InvalidArgumentError(Cat("--out and --page are the same file ", line.Flag("out"), "; give two"));
  std::vector<std::pair<std::string, OutputFile>> files;
  for (const char* flag : {"out", "page"}) {
    if (!line.Has(flag)) continue;
    PALLADION_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Open(line, flag));
    files.emplace_back(flag, std::move(file));
  }
  CheckOptions options{.seeds = 1};
  PALLADION_ASSIGN_OR_RETURN(options.run.loop_budget, PositiveFlag(line, "budget", options.run.loop_budget));
  options.run.budget_name = kBudgetFlag;
  debug::TraceLimits limits;
  PALLADION_ASSIGN_OR_RETURN(const std::int64_t events, PositiveFlag(line, "events", 200000));
  limits.events = static_cast<std::size_t>(events);
  limits.accesses = limits.flows = 2 * limits.events;
  PALLADION_ASSIGN_OR_RETURN(KernelFile file, LoadKernel(line));
  PALLADION_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, ReadInputs(line, file.kernel));
  std::optional<Attended> attended(std::in_place, console, file.kernel.name());
  options.run.control = attended->control();
  debug::TraceRecorder recorder(file.kernel.state(), limits);
  PALLADION_RETURN_IF_ERROR(RecordLaunch(file.kernel, ArraysOf(inputs), options.run, recorder));
  std::optional<Report> report;
  if (!line.Has("no-check")) {
    PALLADION_ASSIGN_OR_RETURN(report, Check(file.kernel, inputs, options));
  }
  attended.reset();
  for (auto& [flag, target] : files) {
    PALLADION_RETURN_IF_ERROR(
        target.Write(flag == "out" ? debug::TraceJson(recorder, file.kernel.state())
                                   : debug::TracePage(recorder, file.kernel.state(), report ? &*report : nullptr)));
    console.out << "wrote " << line.Flag(flag) << "\n";
  }
  console.out << "kernel @" << file.kernel.name() << ": " << recorder.events().size() << " events of "
              << recorder.programs().size() << " programs";
  if (recorder.dropped() > 0)
    console.out << "; " << recorder.dropped() << " events and accesses past --events were left out";
  console.out << "\n";
  return report.has_value() ? ExitCodeOf(*report) : ExitCode::kClean;
}

}  // namespace palladion::command
