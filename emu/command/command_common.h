// What the commands share: where they print, the kernel's text, its inputs, and options of one kind.
#ifndef PALLADION_EMU_COMMAND_COMMAND_COMMON_H_
#define PALLADION_EMU_COMMAND_COMMAND_COMMON_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/command/command_line.h"
#include "emu/emulate.h"

namespace palladion {

// Where a command prints; nothing is coloured, and no progress shown, on what is no terminal.
struct Console {
  std::ostream& out;
  std::ostream& err;
  bool out_is_terminal = false, err_is_terminal = false;
};

// --color=auto|always|never; auto: on a terminal, unless the environment has NO_COLOR (no-color.org) or TERM=dumb.
bool ColorWanted(std::string_view color, bool is_terminal);

// A text is at most kMaxTextBytes long, so at most one byte more is read, even of a device. InvalidArgument: no file,
// or one that cannot be read.
absl::StatusOr<std::string> ReadFile(const std::string& path, std::string_view what = "kernel text");

absl::StatusOr<std::string> OneFile(const CommandLine& line);  // the one word of the line
absl::Status NoWords(const CommandLine& line);

// The kernel of the line's file, --kernel and --target.
struct KernelFile {
  std::string path, text;
  PreparedKernel kernel;
};
absl::StatusOr<KernelFile> LoadKernel(const CommandLine& line, bool observable = false);

// --in NAME=VALUE for every input; NAME is the operand's name in the text or the user's own.
absl::StatusOr<std::vector<Tensor>> ReadInputs(const CommandLine& line, const PreparedKernel& kernel);

// A whole number of at least 1; `fallback` where the flag is not given.
absl::StatusOr<std::int64_t> PositiveFlag(const CommandLine& line, const std::string& flag, std::int64_t fallback);

// One of `choices`, the first where the flag is not given.
absl::StatusOr<std::string> ChoiceFlag(const CommandLine& line, const std::string& flag,
                                       absl::Span<const std::string_view> choices);

// The commands with a file of their own.
absl::StatusOr<ExitCode> CommandRun(absl::Span<const std::string> arguments, const Console& console);
absl::StatusOr<ExitCode> CommandCheck(absl::Span<const std::string> arguments, const Console& console);
absl::StatusOr<ExitCode> CommandTrace(absl::Span<const std::string> arguments, const Console& console);
absl::StatusOr<ExitCode> CommandConformance(absl::Span<const std::string> arguments, const Console& console);
absl::StatusOr<ExitCode> CommandMutate(absl::Span<const std::string> arguments, const Console& console);
absl::StatusOr<ExitCode> CommandExplain(absl::Span<const std::string> arguments, const Console& console);

}  // namespace palladion

#endif  // PALLADION_EMU_COMMAND_COMMAND_COMMON_H_
