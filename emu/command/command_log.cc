#include "emu/command/command_log.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "emu/command/command_common.h"
#include "emu/debug/instruction_log.h"
#include "emu/debug/log_diff.h"
#include "emu/debug/program_filter.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion {
namespace {

// The short form -o FILE of --output FILE.
std::vector<std::string> LongForms(absl::Span<const std::string> arguments) {
  std::vector<std::string> words(arguments.begin(), arguments.end());
  for (std::string& word : words) {
    if (word == "-o") word = "--output";
  }
  return words;
}

absl::StatusOr<InstructionLog> ReadLogFile(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return absl::InvalidArgumentError(Cat(path, ": expected an instruction log; found a directory"));
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return absl::InvalidArgumentError(
        Cat("'", path, "': cannot be read: ", std::strerror(errno), "; check the path and its permissions"));
  return ReadLog(file, path);
}

void WriteFindings(const Report& report, std::ostream& out) {
  for (const ReportedFinding& finding : report.findings) {
    std::string message = finding.message;
    for (char& c : message) c = c == '\n' ? ' ' : c;
    out << "# " << finding.severity << " " << finding.code << ": " << message << "\n";
  }
}

}  // namespace

absl::StatusOr<ExitCode> CommandLog(absl::Span<const std::string> arguments, const Console& console) {
  std::ostream& out = console.out;
  PALLADION_ASSIGN_OR_RETURN(CommandLine line, ParseCommandLine(LongForms(arguments), {"in", "output", "kernel",
                                                                                       "target", "budget", "program"}));
  PALLADION_ASSIGN_OR_RETURN(const KernelFile kernel_file, LoadKernel(line, true));
  const PreparedKernel& kernel = kernel_file.kernel;
  LaunchOptions options;
  PALLADION_ASSIGN_OR_RETURN(options.run.loop_budget, PositiveFlag(line, "budget", options.run.loop_budget));
  if (line.Has("program")) {
    PALLADION_ASSIGN_OR_RETURN(options.only_program, ParseProgram(line.Flag("program")));
  }
  PALLADION_ASSIGN_OR_RETURN(std::vector<Tensor> inputs, ReadInputs(line, kernel));
  const std::string to = line.Flag("output");
  std::ofstream file;
  if (!to.empty()) {
    errno = 0;
    file.open(to, std::ios::binary | std::ios::trunc);
    if (!file)
      return absl::InvalidArgumentError(Cat("--output '", to, "': cannot be written: ", std::strerror(errno),
                                            "; check the path and its permissions"));
  }
  std::ostream& log = to.empty() ? out : file;
  PALLADION_ASSIGN_OR_RETURN(RunResult result, WriteLog(kernel, inputs, options, log));
  WriteFindings(result.report, log);
  log.flush();
  if (!log)
    return absl::ResourceExhaustedError(
        Cat(to.empty() ? "standard output" : to, ": the log could not be written to its end"));
  if (!to.empty()) out << "wrote " << to << "\n";
  return ExitCodeOf(result.report);
}

absl::StatusOr<ExitCode> CommandDiff(absl::Span<const std::string> arguments, const Console& console) {
  std::ostream& out = console.out;
  PALLADION_ASSIGN_OR_RETURN(CommandLine line, ParseCommandLine(arguments, {"format"}));
  PALLADION_ASSIGN_OR_RETURN(const std::string format, ChoiceFlag(line, "format", {"text", "json"}));
  if (line.words.size() != 2)
    return absl::InvalidArgumentError(Cat("expected two logs to compare; found ", line.words.size()));
  PALLADION_ASSIGN_OR_RETURN(const InstructionLog a, ReadLogFile(line.words[0]));
  PALLADION_ASSIGN_OR_RETURN(const InstructionLog b, ReadLogFile(line.words[1]));
  PALLADION_ASSIGN_OR_RETURN(const LogComparison comparison, CompareLogs(a, b));
  out << (format == "json" ? ToJson(comparison) + "\n" : ToText(comparison, a, b));
  return comparison.first.has_value() ? ExitCode::kDefect : ExitCode::kClean;
}

}  // namespace palladion
