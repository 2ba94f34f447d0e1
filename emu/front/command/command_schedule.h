// palladion trace --view schedule and --replay: the run of a finding as lanes (docs/guides/schedule-pictures.md).
#ifndef PALLADION_EMU_FRONT_COMMAND_COMMAND_SCHEDULE_H_
#define PALLADION_EMU_FRONT_COMMAND_COMMAND_SCHEDULE_H_

#include "absl/status/statusor.h"
#include "emu/front/command/command_common.h"

namespace palladion::command {

// Does the line of a trace ask for it?
bool AsksForSchedule(const CommandLine& line);
absl::StatusOr<ExitCode> TraceSchedule(const CommandLine& line, const Console& console);

}  // namespace palladion::command

#endif  // PALLADION_EMU_FRONT_COMMAND_COMMAND_SCHEDULE_H_
