#include "emu/front/command/command_line.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_join.h"
#include "semantics/base/cat.h"
#include "semantics/base/edit_distance.h"

namespace palladion::command {

std::string CommandLine::Flag(std::string_view name, std::string fallback) const {
  for (const auto& [flag, value] : flags) {
    if (flag == name) fallback = value;
  }
  return fallback;
}

bool CommandLine::Has(std::string_view name) const {
  return std::any_of(flags.begin(), flags.end(), [&](const auto& flag) { return flag.first == name; });
}

namespace {

// "-x" and "--name" are options, "-" and "-5" are words.
bool LooksLikeOption(const std::string& argument) {
  return argument.size() > 1 && argument[0] == '-' &&
         (argument[1] == '-' || (argument.size() == 2 && argument[1] >= 'a' && argument[1] <= 'z'));
}

absl::Status UnknownOption(const std::string& argument, const CommandInfo& command) {
  std::vector<std::string_view> names;
  for (const Option& option : command.options) names.push_back(option.name);
  if (names.empty())
    return absl::InvalidArgumentError(Cat("unknown option ", argument, "; the command ", command.name, " has none"));
  const std::string meant = Nearest(std::string_view(argument).substr(argument[1] == '-' ? 2 : 1), names);
  const std::string list =
      absl::StrJoin(names, ", ", [](std::string* out, std::string_view name) { Append(out, "--", name); });
  return absl::InvalidArgumentError(Cat("unknown option ", argument, "; ",
                                        meant.empty() ? "" : Cat("did you mean --", meant, "? "),
                                        "known here: ", list));
}

const Option* FindByLetter(const CommandInfo& command, char letter) {
  for (const Option& option : command.options) {
    if (option.letter == letter) return &option;
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<CommandLine> ParseCommandLine(const CommandInfo& command, absl::Span<const std::string> arguments) {
  CommandLine line{.command = &command, .words = {}, .flags = {}};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (!LooksLikeOption(argument)) {
      line.words.push_back(argument);
      continue;
    }
    const std::size_t equals = argument[1] == '-' ? argument.find('=') : std::string::npos;
    const std::string spelled = argument.substr(0, equals);
    const Option* option = argument[1] == '-' ? command.Find(spelled.substr(2)) : FindByLetter(command, argument[1]);
    if (option == nullptr) return UnknownOption(spelled, command);
    const std::string name(option->name);
    if (!option->repeats && line.Has(name))
      return absl::InvalidArgumentError(Cat("option --", name, " is given twice"));
    if (option->value.empty() && equals != std::string::npos) {
      return absl::InvalidArgumentError(Cat("--", name, " takes no value; found '", argument.substr(equals + 1), "'"));
    } else if (option->value.empty()) {
      line.flags.emplace_back(name, "");
    } else if (equals != std::string::npos) {
      line.flags.emplace_back(name, argument.substr(equals + 1));
    } else if (i + 1 < arguments.size() && arguments[i + 1].substr(0, 2) != "--") {
      line.flags.emplace_back(name, arguments[++i]);
    } else {
      return absl::InvalidArgumentError(Cat("--", name, " needs a value: --", name, " VALUE or --", name, "=VALUE"));
    }
  }
  return line;
}

}  // namespace palladion::command
