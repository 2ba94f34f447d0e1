#ifndef PALLADION_EMU_FRONT_COMMAND_COMMAND_MACHINES_H_
#define PALLADION_EMU_FRONT_COMMAND_COMMAND_MACHINES_H_

#include "absl/status/statusor.h"
#include "emu/front/command/command_common.h"

namespace palladion::command {

// `palladion machines`: what the chips are in numbers, and what if one were another.
absl::StatusOr<ExitCode> CommandMachines(const CommandLine& line, const Console& console);

}  // namespace palladion::command

#endif  // PALLADION_EMU_FRONT_COMMAND_COMMAND_MACHINES_H_
