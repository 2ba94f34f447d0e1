// The arguments of a command: words, and flags with or without a value ("--out DIR" or "--out=DIR").
#ifndef PALLADION_EMU_FRONT_COMMAND_COMMAND_LINE_H_
#define PALLADION_EMU_FRONT_COMMAND_COMMAND_LINE_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/front/command/command_table.h"

namespace palladion::command {

struct CommandLine {
  const CommandInfo* command = nullptr;  // whose line it is
  std::vector<std::string> words;
  std::vector<std::pair<std::string, std::string>> flags;  // in order; a flag may come more than once

  bool Has(std::string_view name) const;
  std::string Flag(std::string_view name, std::string fallback = "") const;  // the last one given
};

// InvalidArgument: an option that the command does not have, a value that is missing or too much, or an option that is
// given twice and may not be.
absl::StatusOr<CommandLine> ParseCommandLine(const CommandInfo& command, absl::Span<const std::string> arguments);

}  // namespace palladion::command

#endif  // PALLADION_EMU_FRONT_COMMAND_COMMAND_LINE_H_
