// The arguments of a command: words, and flags with or without a value ("--out DIR" or "--out=DIR").
#ifndef PALLADION_EMU_COMMAND_COMMAND_LINE_H_
#define PALLADION_EMU_COMMAND_COMMAND_LINE_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace palladion {

struct CommandLine {
  std::vector<std::string> words;
  std::vector<std::pair<std::string, std::string>> flags;  // in order; a flag may come more than once

  bool Has(std::string_view name) const;
  std::string Flag(std::string_view name, std::string fallback = "") const;  // the last one given
};

// InvalidArgument: a flag that is neither in `known` (each takes a value) nor in `switches` (none does), a value that
// is missing or too much, or a flag other than --in that is given twice.
absl::StatusOr<CommandLine> ParseCommandLine(absl::Span<const std::string> arguments,
                                             absl::Span<const std::string_view> known,
                                             absl::Span<const std::string_view> switches = {});

}  // namespace palladion

#endif  // PALLADION_EMU_COMMAND_COMMAND_LINE_H_
