// The command `run`.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "emu/command/command_common.h"
#include "emu/command/output_directory.h"
#include "emu/debug/dump.h"
#include "emu/debug/program_filter.h"
#include "emu/debug/run_stats.h"
#include "emu/debug/trap.h"
#include "emu/host_memory.h"
#include "emu/launch.h"
#include "emu/reports/source_lines.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> OutputNames(const PreparedKernel& kernel) {
  std::vector<std::string> names;
  for (const OperandDescription& output : kernel.outputs()) names.push_back(output.name);
  return names;
}

// What --stats, --trap, --dump and --program ask for, beside the run itself.
class Observed {
 public:
  static bool Asked(const CommandLine& line) { return line.Has("stats") || line.Has("trap") || line.Has("dump"); }

  absl::Status Open(const CommandLine& line, const PreparedKernelState& kernel) {
    if (line.Has("program")) {
      PALLADION_ASSIGN_OR_RETURN(only_, ParseProgram(line.Flag("program")));
    }
    if (line.Has("stats")) stats_ = std::make_unique<RunStats>(kernel);
    if (line.Has("trap")) {
      PALLADION_ASSIGN_OR_RETURN(const std::string kind, ChoiceFlag(line, "trap", {"nan", "inf"}));
      trap_ = std::make_unique<Trap>(kernel, kind == "nan" ? TrapKind::kNaN : TrapKind::kInf);
    }
    if (line.Has("dump")) {
      PALLADION_ASSIGN_OR_RETURN(Dump dump, Dump::Parse(kernel, line.Flag("dump"), line.Flag("out")));
      dump_ = std::make_unique<Dump>(std::move(dump));
    }
    for (RunObserver* observer : {static_cast<RunObserver*>(trap_.get()), static_cast<RunObserver*>(stats_.get()),
                                  static_cast<RunObserver*>(dump_.get())}) {
      if (observer != nullptr) all_.Add(observer);
    }
    return absl::OkStatus();
  }

  // This outlives the launch.
  void Attach(LaunchOptions& options) {
    options.only_program = only_;
    if (all_.all().empty()) return;
    options.hooks = &all_;
    for (RunObserver* observer : all_.all()) options.observers.push_back(observer);
    options.bound = [this](Memory& memory, absl::Span<const BufferId> arrays) {
      for (RunObserver* observer : all_.all()) observer->Bound(memory, arrays);
    };
  }

  // What went wrong in looking.
  absl::Status status() const {
    absl::Status status;
    if (trap_ != nullptr) status.Update(trap_->status());
    if (dump_ != nullptr) status.Update(dump_->status());
    return status;
  }
  bool trapped() const { return trap_ != nullptr && trap_->hit().has_value(); }

  std::string Text() const {
    std::string text;
    if (only_.has_value())
      text += "note: only one program ran; what others would have left in memory or written is not there\n";
    if (dump_ != nullptr) text += dump_->Text();
    if (trap_ != nullptr) text += trap_->Text();
    if (stats_ != nullptr) text += stats_->Text();
    return text;
  }

  // Members for the object of the report.
  std::string Json() const {
    std::string json;
    if (only_.has_value()) json += ", \"only_program\": true";
    if (dump_ != nullptr) Append(&json, ", \"dumps\": ", dump_->Json());
    if (trap_ != nullptr) Append(&json, ", \"trap\": ", trap_->Json());
    if (stats_ != nullptr) Append(&json, ", \"stats\": ", stats_->Json());
    return json;
  }

 private:
  std::unique_ptr<RunStats> stats_;
  std::unique_ptr<Trap> trap_;
  std::unique_ptr<Dump> dump_;
  std::optional<std::vector<std::int64_t>> only_;
  RunObservers all_;
};

void PrintReport(const CommandLine& line, const KernelFile& file, const Report& report, const Observed& observed,
                 const Console& console) {
  for (const std::string& printed : report.printed) console.out << printed << "\n";
  SourceFiles sources;
  console.out << ToText(report, {.color = ColorWanted("auto", console.out_is_terminal),
                                 .kernel_text = file.text,
                                 .kernel_path = file.path,
                                 .source_line = [&](const std::string& f, int n) { return sources.Line(f, n); }})
              << observed.Text();
  for (const OperandDescription& output : file.kernel.outputs()) {
    console.out << "wrote " << (fs::path(line.Flag("out")) / (output.name + ".npy")).string() << "  "
                << TypeString(output.dtype, output.shape) << "\n";
  }
}

}  // namespace

absl::StatusOr<ExitCode> CommandRun(absl::Span<const std::string> arguments, const Console& console) {
  PALLADION_ASSIGN_OR_RETURN(
      CommandLine line,
      ParseCommandLine(arguments, {"in", "out", "kernel", "target", "budget", "format", "trap", "dump", "program"},
                       {"stats"}));
  PALLADION_ASSIGN_OR_RETURN(const std::string format, ChoiceFlag(line, "format", {"text", "json"}));
  LaunchOptions options;
  PALLADION_ASSIGN_OR_RETURN(options.run.loop_budget, PositiveFlag(line, "budget", options.run.loop_budget));
  PALLADION_ASSIGN_OR_RETURN(KernelFile file, LoadKernel(line, Observed::Asked(line)));
  const PreparedKernel& kernel = file.kernel;
  if (line.Flag("out").empty()) return absl::InvalidArgumentError("--out DIR says where the outputs go; found none");
  PALLADION_RETURN_IF_ERROR(CheckMemory(kernel.state(), HostMemoryLimit()));
  PALLADION_ASSIGN_OR_RETURN(std::vector<Tensor> inputs, ReadInputs(line, kernel));
  Observed observed;
  PALLADION_RETURN_IF_ERROR(observed.Open(line, kernel.state()));
  PALLADION_ASSIGN_OR_RETURN(OutputDirectory output, OutputDirectory::Open(line.Flag("out"), OutputNames(kernel)));
  observed.Attach(options);
  PALLADION_ASSIGN_OR_RETURN(RunResult result, RunWatched(kernel, inputs, options));
  PALLADION_RETURN_IF_ERROR(observed.status());
  PALLADION_RETURN_IF_ERROR(output.Write(result.outputs));
  if (format == "json") {
    std::string json = ToJson(result.report);
    json.insert(json.rfind('}'), observed.Json());
    console.out << json << "\n";
  } else {
    PrintReport(line, file, result.report, observed, console);
  }
  const ExitCode code = ExitCodeOf(result.report);
  return code == ExitCode::kClean && observed.trapped() ? ExitCode::kDefect : code;
}

}  // namespace palladion
