// palladion conformance: hands its arguments to conformance_run, the program beside it. The cases see only what users
// see (emu/public_headers.txt), so their runner is built on top of emu and cannot be part of it.
#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "emu/front/bridge/interrupt.h"
#include "emu/front/command/command_common.h"
#include "semantics/base/cat.h"

extern char** environ;  // POSIX declares it nowhere

namespace palladion::command {

absl::StatusOr<ExitCode> CommandConformance(const CommandLine& line, const Console& console) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string runner = (self.parent_path() / "conformance_run").string();
  if (error || !std::filesystem::exists(runner, error))
    return absl::InvalidArgumentError(Cat("the runner of the cases was looked for at ", runner,
                                          " and is not there; build it beside the command: cmake --build ",
                                          Quoted(self.parent_path().string()), " --target conformance_run"));
  std::vector<std::string> words = {runner};
  words.insert(words.end(), line.words.begin(), line.words.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  console.out.flush();
  const bridge::InterruptListener listener;  // the runner says what it knows and ends
  pid_t child = 0;
  if (const int failed = posix_spawn(&child, runner.c_str(), nullptr, nullptr, pointers.data(), environ); failed != 0)
    return absl::InternalError(Cat("cannot start ", runner, ": ", std::strerror(failed)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return absl::InternalError(Cat("cannot wait for ", runner, ": ", std::strerror(errno)));
    if (listener.interrupted()) kill(child, SIGTERM);  // a signal to this process alone ends both
  }
  if (!WIFEXITED(status)) return absl::InternalError(Cat(runner, " was ended by signal ", WTERMSIG(status)));
  return static_cast<ExitCode>(WEXITSTATUS(status));
}

}  // namespace palladion::command
