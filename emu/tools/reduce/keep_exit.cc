#include "emu/tools/reduce/keep_exit.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/base/whole_file.h"
#include "semantics/tensor/npy.h"

namespace palladion::reduce {
namespace {

namespace fs = std::filesystem;

absl::Status WriteText(const std::string& path, const std::string& text) {
  PALLADION_ASSIGN_OR_RETURN(WholeFile file, WholeFile::Open(path));
  PALLADION_RETURN_IF_ERROR(file.Write(text));
  return file.Commit();
}

// Attributes and file actions of posix_spawn, which are given back whatever happens.
struct SpawnPlan {
  SpawnPlan() {
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);  // a group of its own, ended as a whole
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawn_file_actions_init(&actions);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
      posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  }
  ~SpawnPlan() {
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  posix_spawnattr_t attributes{};
  posix_spawn_file_actions_t actions{};
};

}  // namespace

absl::StatusOr<KeepExit> KeepExit::Create(KeepExitOptions options) {
  std::error_code error;
  std::string name = (fs::temp_directory_path(error) / "palladion-reduce-XXXXXX").string();
  if (error || ::mkdtemp(name.data()) == nullptr) {
    return absl::InvalidArgumentError(Cat("no folder for candidates can be made as ", name, ": ", std::strerror(errno),
                                          "; set TMPDIR to a folder that can be written"));
  }
  return KeepExit(std::move(options), std::move(name));
}

KeepExit::~KeepExit() {
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

absl::StatusOr<ExitOf> KeepExit::Run(const State& state) const {
  const std::string path = (fs::path(folder_) / "candidate.pkir").string();
  PALLADION_RETURN_IF_ERROR(WriteText(path, state.text));
  for (const Input& input : state.inputs)
    PALLADION_RETURN_IF_ERROR(WriteNpy((fs::path(folder_) / (input.name + ".npy")).string(), *input.value));
  const std::string script = options_.command + " \"$1\"";
  std::array<std::string, 5> words = {"sh", "-c", script, "sh", path};
  std::array<char*, 6> arguments{};
  std::transform(words.begin(), words.end(), arguments.begin(), [](std::string& word) { return word.data(); });
  SpawnPlan plan;
  ::pid_t child = 0;
  const int failed = ::posix_spawn(&child, "/bin/sh", &plan.actions, &plan.attributes, arguments.data(), environ);
  if (failed != 0) return absl::InternalError(Cat("/bin/sh cannot be started: ", std::strerror(failed)));
  return Wait(child);
}

absl::StatusOr<ExitOf> KeepExit::Wait(int child) const {
  const auto began = std::chrono::steady_clock::now();
  std::chrono::milliseconds pause{1};
  ExitOf exit;
  for (int status = 0;;
       std::this_thread::sleep_for(pause), pause = std::min(pause * 2, std::chrono::milliseconds{20})) {
    siginfo_t info = {};
    const int waited = ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT);
    if (waited < 0 && errno != EINTR) return absl::InternalError(Cat("waitid: ", std::strerror(errno)));
    if (waited == 0 && info.si_pid == child) {
      ::kill(-child, SIGKILL);  // what it left running: the group keeps its number until it is waited for
      if (::waitpid(child, &status, 0) != child) return absl::InternalError(Cat("waitpid: ", std::strerror(errno)));
      exit.code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
      return exit;
    }
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - began;
    if (spent.count() <= options_.seconds && !Interrupted(options_.control)) continue;
    exit.timed_out = spent.count() > options_.seconds;
    ::kill(-child, SIGKILL);
  }
}

}  // namespace palladion::reduce
