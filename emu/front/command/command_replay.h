// --replay of the commands that run a kernel once (run, why, log): the run of that schedule, instead of a plain one.
#ifndef PALLADION_EMU_FRONT_COMMAND_COMMAND_REPLAY_H_
#define PALLADION_EMU_FRONT_COMMAND_COMMAND_REPLAY_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "emu/check/replayed_run.h"
#include "emu/front/command/command_common.h"

namespace palladion::command {

// The schedule of --replay, which is not empty; of `@FILE` what is in there.
absl::StatusOr<std::string> ScheduleOf(const CommandLine& line);

// The budget, and how accesses beyond an array's shape are read: of a run, with and without --replay.
absl::StatusOr<RunOptions> RunOptionsOf(const CommandLine& line);

// Nothing without --replay; then InvalidArgument for the options that go with it alone.
absl::StatusOr<std::optional<check::ReplayedRun>> ReplayedRunOf(const CommandLine& line, const Console& console,
                                                                const PreparedKernel& kernel,
                                                                const std::vector<Tensor>& inputs);

}  // namespace palladion::command

#endif  // PALLADION_EMU_FRONT_COMMAND_COMMAND_REPLAY_H_
