// The command `why`.
#ifndef PALLADION_EMU_FRONT_COMMAND_COMMAND_WHY_H_
#define PALLADION_EMU_FRONT_COMMAND_COMMAND_WHY_H_

#include <string>

#include "absl/status/statusor.h"
#include "emu/front/command/command_common.h"

namespace palladion::command {

absl::StatusOr<ExitCode> CommandWhy(const CommandLine& line, const Console& console);

}  // namespace palladion::command

#endif  // PALLADION_EMU_FRONT_COMMAND_COMMAND_WHY_H_
