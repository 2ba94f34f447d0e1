#include "emu/front/command/command.h"

#include <algorithm>
#include <exception>
#include <new>
#include <vector>

#include "absl/strings/str_join.h"
#include "emu/emulate.h"
#include "emu/front/command/command_common.h"
#include "emu/front/command/command_log.h"
#include "emu/front/command/command_machines.h"
#include "emu/front/command/command_table.h"
#include "emu/front/command/command_why.h"
#include "emu/front/command/help.h"
#include "emu/kernel/out_of_memory.h"
#include "emu/operations.h"
#include "semantics/base/cat.h"
#include "semantics/base/edit_distance.h"
#include "semantics/base/json.h"
#include "semantics/base/printable.h"
#include "semantics/base/status.h"
#include "semantics/simd/target.h"

namespace palladion::command {
namespace {

void ShowOperands(const std::vector<OperandDescription>& operands, std::string_view role, std::ostream& out) {
  for (const OperandDescription& operand : operands) {
    out << "  " << role << " " << operand.name << ": " << TypeString(operand.dtype, operand.shape);
    if (!operand.label.empty()) out << "  (" << Printable(operand.label) << ")";
    out << "\n";
  }
}

void ShowOperands(const std::vector<OperandDescription>& operands, std::string_view role, JsonWriter& json) {
  json.Key(role).Open('[');
  for (const OperandDescription& operand : operands) {
    json.Open('{').Key("name").String(operand.name).Key("label").String(operand.label);
    json.Key("dtype").String(Name(operand.dtype)).Key("shape").Open('[');
    for (const std::int64_t size : operand.shape) json.Number(size);
    json.Close(']').Close('}');
  }
  json.Close(']');
}

absl::StatusOr<ExitCode> CommandShow(const CommandLine& line, const Console& console) {
  std::ostream& out = console.out;
  PALLADION_ASSIGN_OR_RETURN(std::string path, OneFile(line));
  PALLADION_ASSIGN_OR_RETURN(std::string text, ReadFile(path));
  PALLADION_ASSIGN_OR_RETURN(std::vector<std::string> names, KernelNames(text, path));
  if (!line.Flag("kernel").empty()) names = {line.Flag("kernel")};
  PALLADION_ASSIGN_OR_RETURN(const std::string format, ChoiceFlag(line, "format"));
  JsonWriter json;
  json.Open('{').Key("kernels").Open('[');
  for (const std::string& name : names) {
    PALLADION_ASSIGN_OR_RETURN(PreparedKernel kernel,
                               PrepareText(text, {.kernel = name, .target = line.Flag("target"), .path = path}));
    if (format == "json") {
      json.Open('{').Key("name").String(kernel.name()).Key("target").String(kernel.target());
      ShowOperands(kernel.inputs(), "inputs", json);
      ShowOperands(kernel.outputs(), "outputs", json);
      json.Close('}');
      continue;
    }
    out << "kernel @" << kernel.name() << " on " << kernel.target() << "\n";
    ShowOperands(kernel.inputs(), "in ", out);
    ShowOperands(kernel.outputs(), "out", out);
  }
  if (format == "json") out << json.Close(']').Close('}').Take() << "\n";
  return ExitCode::kClean;
}

absl::StatusOr<ExitCode> CommandPrint(const CommandLine& line, const Console& console) {
  std::ostream& out = console.out;
  PALLADION_ASSIGN_OR_RETURN(std::string path, OneFile(line));
  PALLADION_ASSIGN_OR_RETURN(std::string text, ReadFile(path));
  PALLADION_ASSIGN_OR_RETURN(const std::string format, ChoiceFlag(line, "format"));
  if (format == "json") {
    PALLADION_ASSIGN_OR_RETURN(const std::string json, TextAsJson(text, path));
    out << json << "\n";
    return ExitCode::kClean;
  }
  PALLADION_ASSIGN_OR_RETURN(std::string canonical, CanonicalText(text, path));
  out << canonical;
  return ExitCode::kClean;
}

absl::StatusOr<ExitCode> CommandOps(const CommandLine& line, const Console& console) {
  std::ostream& out = console.out;
  PALLADION_RETURN_IF_ERROR(NoWords(line));
  PALLADION_ASSIGN_OR_RETURN(const std::string format, ChoiceFlag(line, "format"));
  out << (format == "json" ? OperationsJson() : OperationsText());
  return ExitCode::kClean;
}

absl::StatusOr<ExitCode> CommandDoctor(const CommandLine& line, const Console& console) {
  std::ostream& out = console.out;
  PALLADION_RETURN_IF_ERROR(NoWords(line));
  out << "palladion " << PALLADION_VERSION << "\nSIMD targets of this host:";
  for (simd::Target target : simd::HostTargets()) out << " " << simd::Name(target);
  out << "\nSIMD target in use: " << simd::Name(simd::ActiveTarget()) << " (PALLADION_SIMD chooses another)\n";
  return ExitCode::kClean;
}

absl::StatusOr<ExitCode> CommandCompletion(const CommandLine& line, const Console& console) {
  const std::string script = line.words.size() == 1 ? CompletionScript(line.words[0]) : "";
  if (script.empty())
    return absl::InvalidArgumentError(Cat("completion is for one of the shells bash, zsh and fish; found ",
                                          line.words.empty() ? "none" : Cat("'", absl::StrJoin(line.words, " "), "'")));
  console.out << script;
  return ExitCode::kClean;
}

absl::Status UnknownCommand(const std::string& word) {
  if (word == "export")
    return absl::InvalidArgumentError(
        "export needs the Python package: python -m palladion export FILE.py:NAME -o K.pkir");
  if (word == "to-jax")
    return absl::InvalidArgumentError("to-jax needs the Python package: python -m palladion to-jax K.pkir -o FILE.py");
  if (word == "tune")
    return absl::InvalidArgumentError(
        "tune needs the Python package: python -m palladion tune FILE.py:NAME --space block=64,128");
  if (word == "learn") return absl::InvalidArgumentError("learn needs the Python package: python -m palladion learn");
  std::vector<std::string_view> names;
  for (const CommandInfo& command : AllCommands()) names.push_back(command.name);
  const std::string meant = Nearest(word, names);
  return absl::InvalidArgumentError(Cat(
      "unknown command '", word, "'", "; ", meant.empty() ? "" : Cat("did you mean ", meant, "? "), "the commands are ",
      absl::StrJoin(names, ", ", [](std::string* out, std::string_view name) { Append(out, name); })));
}

absl::StatusOr<ExitCode> CommandHelp(const CommandLine& line, const Console& console) {
  PALLADION_ASSIGN_OR_RETURN(const std::string format, ChoiceFlag(line, "format"));
  if (line.words.size() > 1) return absl::InvalidArgumentError(Cat("expected one command; found ", line.words.size()));
  const CommandInfo* about = line.words.empty() ? nullptr : FindCommand(line.words[0]);
  if (!line.words.empty() && about == nullptr) return UnknownCommand(line.words[0]);
  console.out << (format == "json" ? HelpJson() : about == nullptr ? HelpText() : HelpText(*about));
  return ExitCode::kClean;
}

struct Command {
  std::string_view name;  // a row of AllCommands
  absl::StatusOr<ExitCode> (*run)(const CommandLine& line, const Console& console);
};
constexpr Command kCommands[] = {
    {"run", CommandRun},
    {"check", CommandCheck},
    {"explain", CommandExplain},
    {"trace", CommandTrace},
    {"why", CommandWhy},
    {"log", CommandLog},
    {"diff", CommandDiff},
    {"golden", CommandGolden},
    {"compare", CommandCompare},
    {"mutate", CommandMutate},
    {"reduce", CommandReduce},
    {"show", CommandShow},
    {"print", CommandPrint},
    {"machines", CommandMachines},
    {"time", CommandTime},
    {"advise", CommandAdvise},
    {"fit", CommandFit},
    {"ops", CommandOps},
    {"doctor", CommandDoctor},
    {"conformance", CommandConformance},
    {"completion", CommandCompletion},
    {"help", CommandHelp},
};

absl::StatusOr<ExitCode> Dispatch(const std::vector<std::string>& arguments, const Console& console) {
  PALLADION_RETURN_IF_ERROR(simd::CheckSimdEnvironment());
  for (const Command& command : kCommands) {
    if (command.name != arguments[0]) continue;
    const CommandInfo* info = FindCommand(command.name);
    const absl::Span<const std::string> rest = absl::MakeSpan(arguments).subspan(1);
    // conformance_run, a program of its own, knows its options itself.
    if (command.name == "conformance")
      return command.run({.command = info, .words = {rest.begin(), rest.end()}, .flags = {}}, console);
    PALLADION_ASSIGN_OR_RETURN(const CommandLine line, ParseCommandLine(*info, rest));
    return command.run(line, console);
  }
  return UnknownCommand(arguments[0]);
}

// What a library throws becomes a status; Run has its own message for memory.
absl::StatusOr<ExitCode> Guarded(const std::vector<std::string>& arguments, const Console& console) {
  try {
    return Dispatch(arguments, console);
  } catch (const std::bad_alloc&) {
    return kernel::OutOfMemory("out of memory; use smaller shapes or a larger host");
  } catch (const std::exception& e) {
    return absl::InternalError(Cat("internal error: ", e.what()));
  }
}

}  // namespace

ExitCode RunCommand(const std::vector<std::string>& arguments, const Console& console) {
  if (arguments.empty()) {
    console.err << HelpText();
    return ExitCode::kMalformed;
  }
  if (arguments[0] == "--version") {
    console.out << "palladion " << PALLADION_VERSION << "\n";
    return ExitCode::kClean;
  }
  const auto is_help = [](const std::string& word) { return word == "--help" || word == "-h"; };
  if (std::any_of(arguments.begin(), arguments.end(), is_help)) {
    const CommandInfo* about = FindCommand(arguments[0]);
    console.out << (about == nullptr ? HelpText() : HelpText(*about));
    return ExitCode::kClean;
  }
  const absl::StatusOr<ExitCode> code = Guarded(arguments, console);
  if (code.ok()) return *code;
  console.err << "palladion: " << PrintableLines(ToStd(code.status().message())) << "\n";
  return ExitCodeOf(code.status());
}

}  // namespace palladion::command
