#include "emu/command/command_line.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "semantics/base/cat.h"

namespace palladion {

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

absl::Status UnknownFlag(const std::string& name, absl::Span<const std::string_view> known,
                         absl::Span<const std::string_view> switches) {
  std::vector<std::string_view> all(known.begin(), known.end());
  all.insert(all.end(), switches.begin(), switches.end());
  const std::string names =
      absl::StrJoin(all, ", ", [](std::string* out, std::string_view flag) { Append(out, "--", flag); });
  return absl::InvalidArgumentError(
      Cat("unknown option --", name, names.empty() ? "; this command has none" : Cat("; known here: ", names)));
}

bool Holds(absl::Span<const std::string_view> names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

absl::StatusOr<CommandLine> ParseCommandLine(absl::Span<const std::string> arguments,
                                             absl::Span<const std::string_view> known,
                                             absl::Span<const std::string_view> switches) {
  CommandLine line;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument.size() < 2 || argument.substr(0, 2) != "--") {
      line.words.push_back(argument);
      continue;
    }
    const std::size_t equals = argument.find('=');
    const std::string name = argument.substr(2, equals == std::string::npos ? equals : equals - 2);
    const bool is_switch = Holds(switches, name);
    if (!is_switch && !Holds(known, name)) return UnknownFlag(name, known, switches);
    if (name != "in" && line.Has(name)) return absl::InvalidArgumentError(Cat("option --", name, " is given twice"));
    if (is_switch && equals != std::string::npos) {
      return absl::InvalidArgumentError(Cat("--", name, " takes no value; found '", argument.substr(equals + 1), "'"));
    } else if (is_switch) {
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

}  // namespace palladion
