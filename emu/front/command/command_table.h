// The commands of `palladion`: every command with its options and what they mean. The parser, `palladion help`, the
// completion of shells and the tables of docs/reference/command.md are made from it.
#ifndef PALLADION_EMU_FRONT_COMMAND_COMMAND_TABLE_H_
#define PALLADION_EMU_FRONT_COMMAND_COMMAND_TABLE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"

namespace palladion::command {

struct Option {
  std::string_view name;   // without the dashes
  std::string_view value;  // what is given with it, "DIR" or "text|json", where it is one of these; "": nothing is
  std::string_view help;   // Markdown of one paragraph, as docs/reference/command.md has it
  char letter = 0;         // of a short form
  bool repeats = false;

  std::vector<std::string_view> Choices() const;  // of a value with bars; the first is what holds without the option
};

struct CommandInfo {
  std::string_view name;
  std::string_view words;    // besides the options: "K.pkir"
  std::string_view summary;  // one line
  absl::Span<const Option> options;

  const Option* Find(std::string_view option) const;  // nullptr: it has none of this name
};

absl::Span<const CommandInfo> AllCommands();
const CommandInfo* FindCommand(std::string_view name);  // nullptr: there is none

}  // namespace palladion::command

#endif  // PALLADION_EMU_FRONT_COMMAND_COMMAND_TABLE_H_
