// An interestingness test by another program, as in C-Reduce: it is run with the path of a kernel and exits with 0 when
// the kernel is still of interest. The inputs, NAME.npy, are in the same folder. A program that times out, or is ended
// by a signal, counts as no.
#ifndef PALLADION_EMU_TOOLS_REDUCE_KEEP_EXIT_H_
#define PALLADION_EMU_TOOLS_REDUCE_KEEP_EXIT_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "emu/tools/reduce/state.h"
#include "semantics/base/run_control.h"

namespace palladion::reduce {

struct KeepExitOptions {
  std::string command;  // for the shell; the path is put after it
  double seconds = 60;  // that it may take for one kernel
  RunControl* control = nullptr;
};

// How a run of the program ended.
struct ExitOf {
  int code = 0;  // as a shell has it; 128 + N: signal N ended it
  bool timed_out = false;
};

class KeepExit {
 public:
  // ResourceExhausted, InvalidArgument: no folder can be made for the kernels.
  static absl::StatusOr<KeepExit> Create(KeepExitOptions options);
  KeepExit(KeepExit&& other) noexcept
      : options_(std::move(other.options_)), folder_(std::exchange(other.folder_, "")) {}
  KeepExit& operator=(KeepExit&&) = delete;
  ~KeepExit();  // removes the folder

  // Internal: the shell could not be started. As WriteNpy: the files cannot be written.
  absl::StatusOr<ExitOf> Run(const State& state) const;

 private:
  explicit KeepExit(KeepExitOptions options, std::string folder)
      : options_(std::move(options)), folder_(std::move(folder)) {}
  absl::StatusOr<ExitOf> Wait(int child) const;
  KeepExitOptions options_;
  std::string folder_;
};

}  // namespace palladion::reduce

#endif  // PALLADION_EMU_TOOLS_REDUCE_KEEP_EXIT_H_
