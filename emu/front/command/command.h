// The command `palladion`, callable from tests: arguments in, exit code out, text to the two streams.
#ifndef PALLADION_EMU_FRONT_COMMAND_COMMAND_H_
#define PALLADION_EMU_FRONT_COMMAND_COMMAND_H_

#include <string>
#include <vector>

#include "emu/front/command/command_common.h"
#include "emu/report.h"

namespace palladion::command {

ExitCode RunCommand(const std::vector<std::string>& arguments, const Console& console);

}  // namespace palladion::command

#endif  // PALLADION_EMU_FRONT_COMMAND_COMMAND_H_
