#include "emu/command/command.h"

#include <algorithm>
#include <exception>
#include <new>

#include "emu/command/command_common.h"
#include "emu/command/command_log.h"
#include "emu/command/command_why.h"
#include "emu/emulate.h"
#include "emu/operations.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/simd/target.h"

namespace palladion {
namespace {

constexpr std::string_view kUsage =
    "usage: palladion COMMAND ...\n"
    "  run K.pkir [--in NAME=VALUE]... --out DIR [--kernel NAME] [--target TARGET] [--budget N] [--format text|json]\n"
    "      [--stats] [--trap nan|inf] [--dump REF@LINE] [--program I,J]\n"
    "      run the kernel on the inputs; each output is written to DIR/NAME.npy. VALUE is FILE.npy, or a text: zeros, "
    "iota, full(1),\n"
    "      random(seed=1,lo=-1,hi=1), random_bits(1) or a list [1,2,3] in row-major order\n"
    "  check K.pkir [--in NAME=VALUE]... [--seeds N] [--all-seeds] [--exhaustive] [--replay SCHEDULE] [--fill FILL] "
    "[--proxy "
    "pallas|strict|lax] [--checks LIST] "
    "[--no-races]\n"
    "      [--no-definedness] [--no-contracts] [--strict] [--suppressions FILE] [--format text|json|sarif|junit]\n"
    "      [--output FILE] [--color auto|always|never] [--threads N] [--budget N] [--kernel NAME] [--target TARGET]\n"
    "      run the kernel under the orders that hardware may choose, and report everything that is wrong with it\n"
    "  trace K.pkir [--in NAME=VALUE]... [--out TRACE.json] [--page PAGE.html] [--events N] [--no-check]\n"
    "      record one launch: events for Perfetto, or a page that draws the grid and what each program touches\n"
    "  why K.pkir [--in NAME=VALUE]... --element 'OUTPUT[I,J]' [--depth N] [--kernel NAME] [--target TARGET] [--budget "
    "N]\n"
    "      what made this element, followed back to the inputs\n"
    "  log K.pkir [--in NAME=VALUE]... [-o FILE] [--program I,J] [--kernel NAME] [--target TARGET] [--budget N]\n"
    "      one line for each instruction and program, with hashes of what it made and read\n"
    "  diff A B [--format text|json] the first instruction in which two logs of one kernel differ\n"
    "  explain [CODE] [--format text|json] [--color auto|always|never]\n"
    "                                what a finding code means, with a kernel that has it and its fix; or all codes\n"
    "  show K.pkir [--kernel NAME] [--target TARGET]\n"
    "                                the kernels of a text: operands, types, target\n"
    "  print K.pkir                  the text in canonical form\n"
    "  mutate K.pkir --out DIR [--per-kind N] [--kernel NAME]\n"
    "      kernels with one mistake each, as files, and their list DIR/mutants.json: what a checker is graded by\n"
    "  conformance [FILE.case | FOLDER]...\n"
    "      run conformance cases, by default all that came with this program; one line each and what differs\n"
    "  ops [--format text|json]      every operation with its backends and status\n"
    "  doctor                        version, SIMD targets\n"
    "  help                          this text\n"
    "exit codes: 0 clean, 1 defect found, 2 outputs differ between schedules, 3 unsupported feature met,\n"
    "4 usage or malformed input, 5 internal error, 6 budget or a limit spent, or interrupted\n";

void ShowOperands(const std::vector<OperandDescription>& operands, std::string_view role, std::ostream& out) {
  for (const OperandDescription& operand : operands) {
    out << "  " << role << " " << operand.name << ": " << TypeString(operand.dtype, operand.shape);
    if (!operand.label.empty()) out << "  (" << operand.label << ")";
    out << "\n";
  }
}

absl::StatusOr<ExitCode> CommandShow(absl::Span<const std::string> arguments, const Console& console) {
  std::ostream& out = console.out;
  PALLADION_ASSIGN_OR_RETURN(CommandLine line, ParseCommandLine(arguments, {"kernel", "target"}));
  PALLADION_ASSIGN_OR_RETURN(std::string path, OneFile(line));
  PALLADION_ASSIGN_OR_RETURN(std::string text, ReadFile(path));
  PALLADION_ASSIGN_OR_RETURN(std::vector<std::string> names, KernelNames(text, path));
  if (!line.Flag("kernel").empty()) names = {line.Flag("kernel")};
  for (const std::string& name : names) {
    PALLADION_ASSIGN_OR_RETURN(PreparedKernel kernel,
                               PrepareText(text, {.kernel = name, .target = line.Flag("target"), .path = path}));
    out << "kernel @" << kernel.name() << " on " << kernel.target() << "\n";
    ShowOperands(kernel.inputs(), "in ", out);
    ShowOperands(kernel.outputs(), "out", out);
  }
  return ExitCode::kClean;
}

absl::StatusOr<ExitCode> CommandPrint(absl::Span<const std::string> arguments, const Console& console) {
  std::ostream& out = console.out;
  PALLADION_ASSIGN_OR_RETURN(CommandLine line, ParseCommandLine(arguments, {}));
  PALLADION_ASSIGN_OR_RETURN(std::string path, OneFile(line));
  PALLADION_ASSIGN_OR_RETURN(std::string text, ReadFile(path));
  PALLADION_ASSIGN_OR_RETURN(std::string canonical, CanonicalText(text, path));
  out << canonical;
  return ExitCode::kClean;
}

absl::StatusOr<ExitCode> CommandOps(absl::Span<const std::string> arguments, const Console& console) {
  std::ostream& out = console.out;
  PALLADION_ASSIGN_OR_RETURN(CommandLine line, ParseCommandLine(arguments, {"format"}));
  PALLADION_RETURN_IF_ERROR(NoWords(line));
  PALLADION_ASSIGN_OR_RETURN(const std::string format, ChoiceFlag(line, "format", {"text", "json"}));
  out << (format == "json" ? OperationsJson() : OperationsText());
  return ExitCode::kClean;
}

absl::StatusOr<ExitCode> CommandDoctor(absl::Span<const std::string> arguments, const Console& console) {
  std::ostream& out = console.out;
  PALLADION_ASSIGN_OR_RETURN(const CommandLine line, ParseCommandLine(arguments, {}));
  PALLADION_RETURN_IF_ERROR(NoWords(line));
  out << "palladion " << PALLADION_VERSION << "\nSIMD targets of this host:";
  for (simd::Target target : simd::HostTargets()) out << " " << simd::Name(target);
  out << "\nSIMD target in use: " << simd::Name(simd::ActiveTarget()) << " (PALLADION_SIMD chooses another)\n";
  return ExitCode::kClean;
}

struct Command {
  std::string_view name;
  absl::StatusOr<ExitCode> (*run)(absl::Span<const std::string> arguments, const Console& console);
};
constexpr Command kCommands[] = {
    {"run", CommandRun},
    {"check", CommandCheck},
    {"explain", CommandExplain},
    {"trace", CommandTrace},
    {"why", CommandWhy},
    {"log", CommandLog},
    {"diff", CommandDiff},
    {"mutate", CommandMutate},
    {"show", CommandShow},
    {"print", CommandPrint},
    {"ops", CommandOps},
    {"doctor", CommandDoctor},
    {"conformance", CommandConformance},
};

absl::StatusOr<ExitCode> Dispatch(const std::vector<std::string>& arguments, const Console& console) {
  PALLADION_RETURN_IF_ERROR(simd::CheckSimdEnvironment());
  std::string names;
  for (const Command& command : kCommands) {
    if (command.name == arguments[0]) return command.run(absl::MakeSpan(arguments).subspan(1), console);
    Append(&names, command.name, ", ");
  }
  return absl::InvalidArgumentError(Cat("unknown command '", arguments[0], "'; the commands are ", names, "help"));
}

// What a library throws becomes a status; Run has its own message for memory.
absl::StatusOr<ExitCode> Guarded(const std::vector<std::string>& arguments, const Console& console) {
  try {
    return Dispatch(arguments, console);
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError("out of memory; use smaller shapes or a larger host");
  } catch (const std::exception& e) {
    return absl::InternalError(Cat("internal error: ", e.what()));
  }
}

}  // namespace

ExitCode RunCommand(const std::vector<std::string>& arguments, const Console& console) {
  if (arguments.empty()) {
    console.err << kUsage;
    return ExitCode::kMalformed;
  }
  const auto asks_help = [](const std::string& word) { return word == "--help" || word == "-h"; };
  if (arguments[0] == "help" || std::any_of(arguments.begin(), arguments.end(), asks_help)) {
    console.out << kUsage;
    return ExitCode::kClean;
  }
  const absl::StatusOr<ExitCode> code = Guarded(arguments, console);
  if (code.ok()) return *code;
  console.err << "palladion: " << ToStd(code.status().message()) << "\n";
  return ExitCodeOf(code.status());
}

}  // namespace palladion
