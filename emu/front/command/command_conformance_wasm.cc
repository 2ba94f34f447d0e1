#include "emu/front/command/command_common.h"

namespace palladion::command {

absl::StatusOr<ExitCode> CommandConformance(const CommandLine&, const Console&) {
  return absl::UnimplementedError(
      "this build of Palladion, for WebAssembly, starts no other programs, and the cases have a runner of their own; "
      "run and check the kernel of a case by itself, or use the native command");
}

}  // namespace palladion::command
