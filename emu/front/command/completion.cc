// The scripts of `palladion completion SHELL`: words that the table of commands knows; names of files are the shell's.

#include <algorithm>

#include "absl/strings/str_join.h"
#include "emu/chip/machines/chip.h"
#include "emu/chip/machines/description.h"
#include "emu/front/command/help.h"
#include "emu/front/reports/explain.h"
#include "semantics/base/cat.h"
#include "semantics/base/finding.h"
#include "semantics/base/target_names.h"

namespace palladion::command {
namespace {

// What may be given: words from a list, or names of files or folders.
struct Values {
  std::vector<std::string> words;
  bool files = false, folders = false;
};

Values ValuesOf(const Option& option) {
  Values values;
  for (const std::string_view choice : option.Choices()) values.words.emplace_back(choice);
  if (option.name == "target") {
    values.words = TargetNames();
    for (const machines::Chip& chip : machines::AllChips()) values.words.emplace_back(chip.name);
  }
  values.folders = option.value == "DIR";
  values.files = option.value == "FILE" || option.value.find('.') != std::string_view::npos;
  return values;
}

Values WordsOf(const CommandInfo& command) {
  Values values;
  if (command.name == "explain") {
    for (const CodeRow& row : AllCodes()) values.words.emplace_back(row.name);
  } else if (command.name == "help") {
    for (const CommandInfo& one : AllCommands()) values.words.emplace_back(one.name);
  } else if (command.name == "completion") {
    values.words = {"bash", "zsh", "fish"};
  } else if (command.name == "machines") {
    values.words = {"show"};
    for (const machines::Machine& one : machines::AllMachines()) values.words.push_back(one.name());
  } else {
    values.files = !command.words.empty();
  }
  return values;
}

std::string Joined(const std::vector<std::string>& words) { return absl::StrJoin(words, " "); }

std::string NamesOfCommands() {
  return absl::StrJoin(AllCommands(), " ", [](std::string* out, const CommandInfo& one) { Append(out, one.name); });
}

// Up to the first full stop or colon, without what shells or Markdown would read: what a list of words has room for.
std::string Brief(std::string_view help) {
  std::string brief;
  for (std::size_t i = 0; i < help.size(); ++i) {
    const bool ends = i + 1 == help.size() || help[i + 1] == ' ';
    if ((help[i] == '.' || help[i] == ';' || (help[i] == ':' && ends)) && ends) break;
    if (help[i] == '(' && i > 0 && help[i - 1] == ']')
      i = std::min(help.find(')', i), help.size() - 1);
    else if (std::string_view("`[]()'\"\\$:").find(help[i]) == std::string_view::npos)
      brief += help[i];
  }
  return brief;
}

std::string Bash() {
  std::string script =
      "# palladion: completion for bash; load it with: source <(palladion completion bash)\n"
      "_palladion() {\n"
      "  local cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"${COMP_WORDS[COMP_CWORD-1]}\" cmd=\"${COMP_WORDS[1]}\" w=\"\"\n"
      "  COMPREPLY=()\n"
      "  # --format=json is three words here\n"
      "  [ \"$cur\" = \"=\" ] && cur=\"\"\n"
      "  [ \"$prev\" = \"=\" ] && prev=\"${COMP_WORDS[COMP_CWORD-2]}\"\n";
  Append(&script, "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    COMPREPLY=($(compgen -W \"", NamesOfCommands(),
         " --help --version\" -- \"$cur\"))\n    return\n  fi\n  case \"$cmd $prev\" in\n");
  std::string options, words;
  for (const CommandInfo& command : AllCommands()) {
    Append(&options, "      ", command.name, ") w=\"--help");
    for (const Option& option : command.options) {
      Append(&options, " --", option.name);
      if (option.value.empty()) continue;
      const Values values = ValuesOf(option);
      Append(&script, "    \"", command.name, " --", option.name, "\") ",
             !values.words.empty() ? Cat("COMPREPLY=($(compgen -W \"", Joined(values.words), "\" -- \"$cur\"))")
             : values.folders      ? std::string("COMPREPLY=($(compgen -d -- \"$cur\"))")
                                   : std::string("COMPREPLY=($(compgen -f -- \"$cur\"))"),
             "; return ;;\n");
    }
    options += "\" ;;\n";
    if (const Values values = WordsOf(command); !values.words.empty())
      Append(&words, "      ", command.name, ") COMPREPLY=($(compgen -W \"", Joined(values.words),
             "\" -- \"$cur\")); return ;;\n");
  }
  return Cat(script, "  esac\n  if [ \"${cur#-}\" != \"$cur\" ]; then\n    case \"$cmd\" in\n", options,
             "    esac\n    COMPREPLY=($(compgen -W \"$w\" -- \"$cur\"))\n  else\n    case \"$cmd\" in\n", words,
             "    esac\n    COMPREPLY=($(compgen -f -- \"$cur\"))\n  fi\n}\n"
             "complete -o filenames -F _palladion palladion\n");
}

std::string ZshAction(const Values& values) {
  if (!values.words.empty()) return Cat("(", Joined(values.words), ")");
  return values.folders ? "_files -/" : "_files";
}

std::string Zsh() {
  std::string script =
      "#compdef palladion\n"
      "# palladion: completion for zsh; load it with: source <(palladion completion zsh), after compinit\n"
      "_palladion() {\n  local -a commands\n  commands=(\n";
  for (const CommandInfo& command : AllCommands())
    Append(&script, "    '", command.name, ":", Brief(command.summary), "'\n");
  script +=
      "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n"
      "  local cmd=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $cmd in\n";
  for (const CommandInfo& command : AllCommands()) {
    Append(&script, "    ", command.name, ") _arguments '--help[what it does]'");
    for (const Option& option : command.options) {
      Append(&script, " \\\n      '", option.repeats ? "*" : "", "--", option.name, option.value.empty() ? "" : "=",
             "[", Brief(option.help), "]",
             option.value.empty() ? std::string() : Cat(":", option.name, ":", ZshAction(ValuesOf(option))), "'");
    }
    const Values values = WordsOf(command);
    if (!values.words.empty() || values.files) Append(&script, " \\\n      '*:word:", ZshAction(values), "'");
    script += " ;;\n";
  }
  return script + "  esac\n}\ncompdef _palladion palladion\n";
}

std::string Fish() {
  std::string script =
      "# palladion: completion for fish; load it with: palladion completion fish | source\n"
      "complete -c palladion -n __fish_use_subcommand -f\n"
      "complete -c palladion -n __fish_use_subcommand -l version -d 'the version'\n"
      "complete -c palladion -l help -d 'what it does'\n";
  for (const CommandInfo& command : AllCommands()) {
    Append(&script, "complete -c palladion -n __fish_use_subcommand -a ", command.name, " -d '", Brief(command.summary),
           "'\n");
    const std::string seen = Cat("complete -c palladion -n '__fish_seen_subcommand_from ", command.name, "'");
    for (const Option& option : command.options) {
      const Values values = ValuesOf(option);
      Append(&script, seen, " -l ", option.name, option.letter == 0 ? "" : Cat(" -s ", std::string(1, option.letter)),
             option.value.empty()   ? std::string()
             : values.words.empty() ? std::string(values.folders ? " -x -a '(__fish_complete_directories)'" : " -r")
                                    : Cat(" -x -a '", Joined(values.words), "'"),
             " -d '", Brief(option.help), "'\n");
    }
    if (const Values values = WordsOf(command); !values.words.empty())
      Append(&script, seen, " -f -a '", Joined(values.words), "'\n");
  }
  return script;
}

}  // namespace

std::string CompletionScript(std::string_view shell) {
  return shell == "bash" ? Bash() : shell == "zsh" ? Zsh() : shell == "fish" ? Fish() : "";
}

}  // namespace palladion::command
