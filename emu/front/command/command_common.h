// What the commands share: where they print, the kernel's text, its inputs, and options of one kind.
#ifndef PALLADION_EMU_FRONT_COMMAND_COMMAND_COMMON_H_
#define PALLADION_EMU_FRONT_COMMAND_COMMAND_COMMON_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/check.h"
#include "emu/emulate.h"
#include "emu/front/command/command_line.h"

namespace palladion::command {

// Where a command prints; nothing is coloured, and no progress shown, on what is no terminal.
struct Console {
  std::ostream& out;
  std::ostream& err;
  bool out_is_terminal = false, err_is_terminal = false;
};

// --color=auto|always|never; auto: on a terminal, unless the environment has NO_COLOR (no-color.org) or TERM=dumb.
bool ColorWanted(std::string_view color, bool is_terminal);

inline constexpr std::string_view kKernelText = "kernel text";

// A text is at most kMaxTextBytes long, so at most one byte more is read, even of a device. InvalidArgument: no file,
// one that cannot be read, or Python where kernel text is expected.
absl::StatusOr<std::string> ReadFile(const std::string& path, std::string_view what = kKernelText);

absl::StatusOr<std::string> OneFile(const CommandLine& line);  // the one word of the line
absl::Status NoWords(const CommandLine& line);

// The kernel of the line's file, --kernel and --target.
struct KernelFile {
  std::string path, text;
  PreparedKernel kernel;
};
absl::StatusOr<KernelFile> LoadKernel(const CommandLine& line, bool observable = false);

// --in NAME=VALUE for every input; NAME is the operand's name in the text or the user's own.
// `words`, where it is not nullptr: what each was given as, where that is a text and no file, else "".
absl::StatusOr<std::vector<Tensor>> ReadInputs(const CommandLine& line, const PreparedKernel& kernel,
                                               std::vector<std::string>* words = nullptr);

// A whole number of at least 1; `fallback` where the flag is not given.
absl::StatusOr<std::int64_t> PositiveFlag(const CommandLine& line, const std::string& flag, std::int64_t fallback);

// How --budget is called in messages.
inline constexpr std::string_view kBudgetFlag = "--budget";

// One of the choices that the table has for the flag, the first where it is not given.
absl::StatusOr<std::string> ChoiceFlag(const CommandLine& line, const std::string& flag);

// Sets those of these options (emu/front/options/check_options.h) that the line has.
absl::Status SetOptions(const CommandLine& line, absl::Span<const std::string_view> names, CheckOptions& options);

// The string of --replay itself, or of `@FILE` what is in there, but for the end of its line.
absl::StatusOr<std::string> ReplayOf(const std::string& flag);

// How a check reads what the hardware leaves open.
inline constexpr std::string_view kReadings[] = {"fill", "proxy", "links", "bounds"};

// A word as a shell reads it back.
std::string Quoted(const std::string& word);

// The commands with a file of their own.
absl::StatusOr<ExitCode> CommandRun(const CommandLine& line, const Console& console);
absl::StatusOr<ExitCode> CommandCheck(const CommandLine& line, const Console& console);
absl::StatusOr<ExitCode> CommandTrace(const CommandLine& line, const Console& console);
absl::StatusOr<ExitCode> CommandConformance(const CommandLine& line, const Console& console);
absl::StatusOr<ExitCode> CommandMutate(const CommandLine& line, const Console& console);
absl::StatusOr<ExitCode> CommandGolden(const CommandLine& line, const Console& console);
absl::StatusOr<ExitCode> CommandCompare(const CommandLine& line, const Console& console);
absl::StatusOr<ExitCode> CommandReduce(const CommandLine& line, const Console& console);
absl::StatusOr<ExitCode> CommandDiffDumps(const CommandLine& line, const Console& console);  // diff --dump
absl::StatusOr<ExitCode> CommandTime(const CommandLine& line, const Console& console);
absl::StatusOr<ExitCode> CommandFit(const CommandLine& line, const Console& console);
absl::StatusOr<ExitCode> CommandAdvise(const CommandLine& line, const Console& console);
absl::StatusOr<ExitCode> CommandExplain(const CommandLine& line, const Console& console);

}  // namespace palladion::command

#endif  // PALLADION_EMU_FRONT_COMMAND_COMMAND_COMMON_H_
