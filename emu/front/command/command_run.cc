// The command `run`.
#include <algorithm>
#include <memory>
#include <optional>

#include "emu/check/inline_suppressions.h"
#include "emu/check/refusal.h"
#include "emu/check/replayed_run.h"
#include "emu/front/command/attended.h"
#include "emu/front/command/command_common.h"
#include "emu/front/command/command_replay.h"
#include "emu/front/command/output_directory.h"
#include "emu/front/reports/fidelity_text.h"
#include "emu/run/agents/host_memory.h"
#include "emu/run/launch/launch.h"
#include "emu/run/watch/program_filter.h"
#include "emu/run/watch/trap.h"
#include "emu/tools/debug/dump.h"
#include "emu/tools/debug/run_stats.h"
#include "semantics/base/cat.h"
#include "semantics/base/printable.h"
#include "semantics/base/source_lines.h"
#include "semantics/base/status.h"

namespace palladion::command {
namespace {

// What --stats, --trap, --dump and --program add to the run itself.
class Observed {
 public:
  static bool IsWanted(const CommandLine& line) { return line.Has("stats") || line.Has("trap") || line.Has("dump"); }

  absl::Status Open(const CommandLine& line, const kernel::PreparedKernelState& kernel) {
    if (line.Has("program")) {
      PALLADION_ASSIGN_OR_RETURN(only_, watch::ParseProgram(line.Flag("program")));
    }
    if (line.Has("stats")) stats_ = std::make_unique<debug::RunStats>(kernel);
    if (line.Has("trap")) {
      PALLADION_ASSIGN_OR_RETURN(const std::string kind, ChoiceFlag(line, "trap"));
      trap_ = std::make_unique<watch::Trap>(kernel, kind == "nan" ? watch::TrapKind::kNaN : watch::TrapKind::kInf);
    }
    if (line.Has("dump")) {
      PALLADION_ASSIGN_OR_RETURN(debug::Dump dump, debug::Dump::Parse(kernel, line.Flag("dump")));
      dump_ = std::make_unique<debug::Dump>(std::move(dump));
    }
    for (run::Watcher* observer : {static_cast<run::Watcher*>(trap_.get()), static_cast<run::Watcher*>(stats_.get()),
                                   static_cast<run::Watcher*>(dump_.get())}) {
      if (observer != nullptr) all_.push_back(observer);
    }
    return absl::OkStatus();
  }

  // This and `output` outlive the launch.
  void Attach(agents::LaunchOptions& options, OutputDirectory* output) {
    options.only_program = only_;
    if (dump_ != nullptr && output != nullptr) {
      dump_->SetKeep([output](const std::string& name, const Tensor& tensor) -> absl::StatusOr<std::string> {
        PALLADION_RETURN_IF_ERROR(output->Write(name, tensor));
        return output->PathOf(name);
      });
    }
    for (run::Watcher* observer : all_) options.observers.push_back(observer);
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
      text += "note: only one program ran; what other programs would have written, or left in memory, is missing\n";
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
  std::unique_ptr<debug::RunStats> stats_;
  std::unique_ptr<watch::Trap> trap_;
  std::unique_ptr<debug::Dump> dump_;
  std::optional<std::vector<std::int64_t>> only_;
  std::vector<run::Watcher*> all_;
};

std::string TextOf(const Report& report, const std::string& text, const std::string& path, const Console& console) {
  SourceFiles sources;
  return ToText(report, {.color = ColorWanted("auto", console.out_is_terminal),
                         .kernel_text = text,
                         .kernel_path = path,
                         .source_line = [&](const std::string& f, int n) { return sources.Line(f, n); }});
}

void PrintReport(const KernelFile& file, const Report& report, const Observed& observed, const Console& console) {
  for (const std::string& printed : report.printed) console.out << PrintableLines(printed) << "\n";
  console.out << TextOf(report, file.text, file.path, console) << PrintableLines(observed.Text());
}

// A kernel that was not prepared: what its target refuses is said all the same, as `check` does.
absl::StatusOr<ExitCode> Refused(const CommandLine& line, const absl::Status& status, const Console& console) {
  if (line.words.size() != 1) return status;
  const std::string& path = line.words[0];
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return status;
  Report report =
      check::RefusalReport(status, *text, {.kernel = line.Flag("kernel"), .target = line.Flag("target"), .path = path});
  if (report.findings.empty()) return status;
  check::ApplyInlineSuppressions(nullptr, report);
  console.out << (line.Flag("format") == "json" ? ToJson(report) + "\n" : TextOf(report, *text, path, console));
  console.err << "palladion: " << PrintableLines(report.error->message) << "\n";
  return ExitCodeOf(report);
}

std::string FileNameOf(const OperandDescription& output) { return output.name + ".npy"; }

// The directory of --out, which has room for every output; nothing without it.
absl::StatusOr<std::optional<OutputDirectory>> OpenOutput(const CommandLine& line, const PreparedKernel& kernel) {
  std::optional<OutputDirectory> output;
  if (!line.Has("out")) return output;
  PALLADION_ASSIGN_OR_RETURN(OutputDirectory opened, OutputDirectory::Open(line));
  for (const OperandDescription& one : kernel.outputs()) PALLADION_RETURN_IF_ERROR(opened.Expect(FileNameOf(one)));
  output.emplace(std::move(opened));
  return output;
}

absl::Status WriteOutputs(OutputDirectory& output, const PreparedKernel& kernel, const std::vector<Tensor>& tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i)
    PALLADION_RETURN_IF_ERROR(output.Write(FileNameOf(kernel.outputs()[i]), tensors[i]));
  return output.Commit();
}

absl::StatusOr<RunResult> Attend(const PreparedKernel& kernel, absl::Span<const Tensor> inputs,
                                 agents::LaunchOptions options, const Console& console,
                                 const std::optional<check::ReplayedRun>& replayed) {
  Attended attended(console, kernel.name());
  options.run.control = attended.control();
  return check::RunOrReplay(kernel, inputs, options, replayed.has_value() ? &*replayed : nullptr);
}

}  // namespace

absl::StatusOr<ExitCode> CommandRun(const CommandLine& line, const Console& console) {
  PALLADION_ASSIGN_OR_RETURN(const std::string format, ChoiceFlag(line, "format"));
  agents::LaunchOptions options;
  PALLADION_ASSIGN_OR_RETURN(options.run, RunOptionsOf(line));
  absl::StatusOr<KernelFile> loaded = LoadKernel(line, Observed::IsWanted(line));
  const bool judged = options.run.legality != LegalityMode::kOff;
  if (!loaded.ok()) return judged ? Refused(line, loaded.status(), console) : loaded.status();
  const KernelFile file = *std::move(loaded);
  if (line.Flag("out").empty() && (line.Has("out") || !Observed::IsWanted(line)))
    return absl::InvalidArgumentError(
        "--out DIR says where the outputs go; found none (only with --stats, --trap or --dump can it be left out)");
  PALLADION_RETURN_IF_ERROR(agents::CheckMemory(file.kernel.state(), agents::HostMemoryLimit()));
  PALLADION_ASSIGN_OR_RETURN(std::vector<Tensor> inputs, ReadInputs(line, file.kernel));
  PALLADION_ASSIGN_OR_RETURN(const auto replayed, ReplayedRunOf(line, console, file.kernel, inputs));
  const PreparedKernel& kernel = replayed.has_value() ? replayed->kernel() : file.kernel;
  Observed observed;
  PALLADION_RETURN_IF_ERROR(observed.Open(line, kernel.state()));
  PALLADION_ASSIGN_OR_RETURN(std::optional<OutputDirectory> output, OpenOutput(line, kernel));
  observed.Attach(options, output ? &*output : nullptr);
  PALLADION_ASSIGN_OR_RETURN(RunResult result, Attend(kernel, inputs, options, console, replayed));
  PALLADION_RETURN_IF_ERROR(observed.status());
  check::ApplyInlineSuppressions(&kernel.state().module(), result.report);
  const absl::Status end = launch::EndOf(result.report);  // findings before it are reported all the same
  if (end.ok() && output.has_value()) PALLADION_RETURN_IF_ERROR(WriteOutputs(*output, kernel, result.outputs));
  if (format == "json") {
    std::string json = ToJson(result.report);
    json.insert(json.rfind('}'), observed.Json());
    console.out << json << "\n";
  } else {
    PrintReport(file, result.report, observed, console);
    if (line.Has("fidelity")) console.out << reports::FidelityTable(result.report);
    for (const OperandDescription& one : kernel.outputs()) {
      if (end.ok() && output.has_value())
        console.out << "wrote " << output->PathOf(FileNameOf(one)) << "  " << TypeString(one.dtype, one.shape) << "\n";
    }
  }
  if (!end.ok())
    console.err << "palladion: " << ToStd(end.message()) << (output.has_value() ? "; no outputs were written\n" : "\n");
  const ExitCode code = ExitCodeOf(result.report);
  return code == ExitCode::kClean && observed.trapped() ? ExitCode::kDefect : code;
}

}  // namespace palladion::command
