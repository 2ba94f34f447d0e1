// The commands `log` and `diff`.
#ifndef PALLADION_EMU_FRONT_COMMAND_COMMAND_LOG_H_
#define PALLADION_EMU_FRONT_COMMAND_COMMAND_LOG_H_

#include <ostream>
#include <string>

#include "absl/status/statusor.h"
#include "emu/front/command/command_common.h"

namespace palladion::command {

absl::StatusOr<ExitCode> CommandLog(const CommandLine& line, const Console& console);
absl::StatusOr<ExitCode> CommandDiff(const CommandLine& line, const Console& console);

}  // namespace palladion::command

#endif  // PALLADION_EMU_FRONT_COMMAND_COMMAND_LOG_H_
