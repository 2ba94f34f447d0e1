#include "emu/tools/reduce/keep_exit.h"

namespace palladion::reduce {
namespace {

absl::Status NoProcesses() {
  return absl::UnimplementedError(
      "this build of Palladion, for WebAssembly, starts no other programs, so none can say which kernels are of "
      "interest; keep what a check finds instead, or use the native command");
}

}  // namespace

absl::StatusOr<KeepExit> KeepExit::Create(KeepExitOptions) { return NoProcesses(); }
KeepExit::~KeepExit() = default;
absl::StatusOr<ExitOf> KeepExit::Run(const State&) const { return NoProcesses(); }

}  // namespace palladion::reduce
