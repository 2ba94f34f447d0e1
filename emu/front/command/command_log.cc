#include "emu/front/command/command_log.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>
#include <vector>

#include "emu/front/command/attended.h"
#include "emu/front/command/command_common.h"
#include "emu/front/command/command_replay.h"
#include "emu/front/command/output_file.h"
#include "emu/run/launch/launch.h"
#include "emu/run/watch/program_filter.h"
#include "emu/tools/debug/instruction_log.h"
#include "emu/tools/debug/log_diff.h"
#include "semantics/base/cat.h"
#include "semantics/base/printable.h"
#include "semantics/base/status.h"

namespace palladion::command {
namespace {

absl::StatusOr<debug::InstructionLog> ReadLogFile(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return absl::InvalidArgumentError(Cat(path, ": expected an instruction log; found a directory"));
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return absl::InvalidArgumentError(
        Cat("'", path, "': cannot be read: ", std::strerror(errno), "; check the path and its permissions"));
  return debug::ReadLog(file, path);
}

struct LogTo {
  const Console& console;
  std::ostream& log;
  const check::ReplayedRun* replayed;  // nullptr: a plain run
};

absl::StatusOr<RunResult> Attend(const PreparedKernel& kernel, absl::Span<const Tensor> inputs,
                                 agents::LaunchOptions options, const LogTo& to) {
  Attended attended(to.console, kernel.name());
  options.run.control = attended.control();
  return debug::WriteLog(kernel, inputs, options, to.log, to.replayed);
}

}  // namespace

absl::StatusOr<ExitCode> CommandLog(const CommandLine& line, const Console& console) {
  std::ostream& out = console.out;
  PALLADION_ASSIGN_OR_RETURN(const KernelFile kernel_file, LoadKernel(line, true));
  agents::LaunchOptions options;
  PALLADION_ASSIGN_OR_RETURN(options.run, RunOptionsOf(line));
  if (line.Has("program")) {
    PALLADION_ASSIGN_OR_RETURN(options.only_program, watch::ParseProgram(line.Flag("program")));
  }
  PALLADION_ASSIGN_OR_RETURN(std::vector<Tensor> inputs, ReadInputs(line, kernel_file.kernel));
  PALLADION_ASSIGN_OR_RETURN(const auto replayed, ReplayedRunOf(line, console, kernel_file.kernel, inputs));
  const PreparedKernel& kernel = replayed.has_value() ? replayed->kernel() : kernel_file.kernel;
  std::optional<OutputFile> file;
  if (line.Has("output")) {
    PALLADION_ASSIGN_OR_RETURN(OutputFile opened, OutputFile::Open(line, "output"));
    file.emplace(std::move(opened));
  }
  PALLADION_ASSIGN_OR_RETURN(const RunResult result, Attend(kernel, inputs, options,
                                                            {.console = console,
                                                             .log = file.has_value() ? file->stream() : out,
                                                             .replayed = replayed.has_value() ? &*replayed : nullptr}));
  if (file.has_value()) {
    PALLADION_RETURN_IF_ERROR(file->Commit());
    out << "wrote " << line.Flag("output") << "\n";
  } else if (!out.flush()) {
    return absl::ResourceExhaustedError("the log could not be written to the end of the standard output");
  }
  const absl::Status end = launch::EndOf(result.report);
  if (!end.ok()) console.err << "palladion: " << ToStd(end.message()) << "\n";
  return ExitCodeOf(result.report);
}

absl::StatusOr<ExitCode> CommandDiff(const CommandLine& line, const Console& console) {
  if (line.Has("dump")) return CommandDiffDumps(line, console);
  std::ostream& out = console.out;
  PALLADION_ASSIGN_OR_RETURN(const std::string format, ChoiceFlag(line, "format"));
  if (line.words.size() != 2)
    return absl::InvalidArgumentError(Cat("expected two logs to compare; found ", line.words.size()));
  PALLADION_ASSIGN_OR_RETURN(const debug::InstructionLog a, ReadLogFile(line.words[0]));
  PALLADION_ASSIGN_OR_RETURN(const debug::InstructionLog b, ReadLogFile(line.words[1]));
  PALLADION_ASSIGN_OR_RETURN(const debug::LogComparison comparison, debug::CompareLogs(a, b));
  out << (format == "json" ? ToJson(comparison) + "\n" : PrintableLines(ToText(comparison, a, b)));
  return comparison.first.has_value() ? ExitCode::kDefect : ExitCode::kClean;
}

}  // namespace palladion::command
