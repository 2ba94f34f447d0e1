#include "conformance/backend_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <thread>

#include "conformance/backend_protocol.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

extern char** environ;  // POSIX declares it nowhere

namespace palladion::conformance {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr int kShellSignal = 128;
constexpr std::size_t kKeptErrors = 600;         // bytes of its last words
constexpr milliseconds kInterruptPeriod{100};    // how often an interrupt is looked for
constexpr milliseconds kPatienceAtTheEnd{2000};  // for a program whose input is closed

absl::Status SystemError(std::string_view doing, int error) {
  return absl::InternalError(Cat("cannot ", doing, " the backend: ", std::strerror(error)));
}

void Close(int& fd) {
  if (fd >= 0) ::close(fd);
  fd = -1;
}

// The two ends of a pipe; no other process that is started meanwhile gets them.
class Pipe {
 public:
  Pipe() { error_ = ::pipe2(ends_.data(), O_CLOEXEC) == 0 ? 0 : errno; }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    for (int& end : ends_) Close(end);
  }
  int error() const { return error_; }
  int end(std::size_t i) const { return ends_[i]; }
  int Take(std::size_t i) {
    ::fcntl(ends_[i], F_SETFL, O_NONBLOCK);
    return std::exchange(ends_[i], -1);
  }

 private:
  std::array<int, 2> ends_ = {-1, -1};
  int error_ = 0;
};

// A group of its own, so that all of it can be ended, and none of the signals that are blocked here.
int Spawn(const std::string& command, const std::array<int, 3>& files, pid_t& pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  if (const int error = posix_spawn_file_actions_init(&actions); error != 0) return error;
  if (const int error = posix_spawnattr_init(&attributes); error != 0) {
    posix_spawn_file_actions_destroy(&actions);
    return error;
  }
  for (int i = 0; i < 3; ++i) posix_spawn_file_actions_adddup2(&actions, files[static_cast<std::size_t>(i)], i);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  std::array<std::string, 3> words = {"sh", "-c", command};
  std::array<char*, 4> pointers = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  const int error = posix_spawn(&pid, "/bin/sh", &actions, &attributes, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return error;
}

// Writing to a program that has ended is an error of write(), not our end.
void BlockBrokenPipes() {
  sigset_t broken_pipe;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
}

}  // namespace

absl::StatusOr<std::unique_ptr<BackendProcess>> BackendProcess::Start(const std::string& command) {
  BlockBrokenPipes();
  Pipe in, out, err;
  for (const Pipe* pipe : {&in, &out, &err}) {
    if (pipe->error() != 0) return SystemError("start", pipe->error());
  }
  std::unique_ptr<BackendProcess> process(new BackendProcess);
  if (const int error = Spawn(command, {in.end(0), out.end(1), err.end(1)}, process->pid_); error != 0)
    return SystemError("start", error);
  process->in_ = in.Take(1);
  process->out_ = out.Take(0);
  process->err_ = err.Take(0);
  return process;
}

BackendProcess::~BackendProcess() {
  Close(in_);
  if (pid_ != 0 && (gave_up_ || !WaitFor(kPatienceAtTheEnd))) {
    ::kill(-pid_, SIGKILL);
    while (::waitpid(pid_, &exit_, 0) < 0 && errno == EINTR) {
    }
  }
  Close(out_);
  Close(err_);
}

absl::StatusOr<std::string> BackendProcess::Ask(const std::string& line, milliseconds time,
                                                const std::atomic<bool>& interrupted) {
  gave_up_ = true;  // unless it answers
  answer_.clear();
  std::string_view unsent = line;
  const Clock::time_point end = Clock::now() + time;
  while (answer_.empty() || answer_.back() != '\n') {
    const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now());
    if (interrupted.load()) return absl::CancelledError("interrupted");
    if (left.count() <= 0)
      return absl::DeadlineExceededError(Cat("no answer in ", static_cast<double>(time.count()) / 1000,
                                             " s; it was ended. --timeout SECONDS gives it more"));
    std::array<pollfd, 3> ready = {{{unsent.empty() ? -1 : in_, POLLOUT, 0}, {out_, POLLIN, 0}, {err_, POLLIN, 0}}};
    const auto wait = std::min(left + milliseconds(1), kInterruptPeriod);
    if (::poll(ready.data(), ready.size(), static_cast<int>(wait.count())) < 0 && errno != EINTR)
      return SystemError("wait for", errno);
    if (ready[2].revents != 0 && !ReadErrors()) Close(err_);
    if (ready[0].revents != 0) PALLADION_RETURN_IF_ERROR(Write(unsent));
    if (ready[1].revents != 0) PALLADION_RETURN_IF_ERROR(ReadAnswer());
  }
  answer_.pop_back();
  gave_up_ = false;
  return answer_;
}

// A program that reads no more may still have answered, or have said why it ends: that is read first.
absl::Status BackendProcess::Write(std::string_view& unsent) {
  const ::ssize_t written = ::write(in_, unsent.data(), unsent.size());
  if (written >= 0) {
    unsent.remove_prefix(static_cast<std::size_t>(written));
  } else if (errno == EPIPE) {
    unsent = {};
  } else if (errno != EAGAIN && errno != EINTR) {
    return SystemError("write to", errno);
  }
  return absl::OkStatus();
}

absl::Status BackendProcess::ReadAnswer() {
  std::array<char, 1 << 16> buffer;
  const ::ssize_t got = ::read(out_, buffer.data(), buffer.size());
  if (got < 0) return errno == EAGAIN || errno == EINTR ? absl::OkStatus() : SystemError("read from", errno);
  if (got == 0) return Ended();
  answer_.append(buffer.data(), static_cast<std::size_t>(got));
  const std::size_t line_end = answer_.find('\n');
  if (line_end != std::string::npos && line_end + 1 < answer_.size()) {
    return absl::InvalidArgumentError(Cat("it wrote more than one line to its standard output: behind the first is '",
                                          PlainText(std::string_view(answer_).substr(line_end + 1), 100),
                                          "'; what it prints otherwise goes to its standard error"));
  }
  if (line_end == std::string::npos && answer_.size() > kLongestAnswer) {
    return absl::ResourceExhaustedError(
        Cat("it wrote more than ", kLongestAnswer, " bytes to its standard output without the end of a line"));
  }
  return absl::OkStatus();
}

bool BackendProcess::ReadErrors() {
  std::array<char, 1 << 16> buffer;
  const ::ssize_t got = ::read(err_, buffer.data(), buffer.size());
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  errors_.append(buffer.data(), static_cast<std::size_t>(got));
  if (errors_.size() > kKeptErrors) errors_.erase(0, errors_.size() - kKeptErrors);
  return got > 0;
}

// Its output is closed: it has ended, or is about to.
absl::Status BackendProcess::Ended() {
  const bool ended = WaitFor(kPatienceAtTheEnd);
  // Not for ever: what it leaves running may go on writing.
  for (int reads = 0; reads < 16 && err_ >= 0; ++reads) {
    pollfd more = {err_, POLLIN, 0};
    if (::poll(&more, 1, 0) <= 0 || !ReadErrors()) Close(err_);
  }
  const int code = WEXITSTATUS(exit_);  // a shell says so of a signal that ended what it ran
  const std::string below = code > kShellSignal ? Cat(" (signal ", code - kShellSignal, ")") : "";
  const std::string how = !ended               ? "closed its standard output and did not end"
                          : WIFSIGNALED(exit_) ? Cat("was ended by signal ", WTERMSIG(exit_))
                                               : Cat("ended with exit code ", code, below);
  const std::string cut = answer_.empty() ? "" : Cat(" in the middle of its answer '", PlainText(answer_, 100), "'");
  const std::string words = errors_.empty() ? "" : Cat("; its last words: ", PlainText(errors_));
  return absl::UnavailableError(Cat("it ", how, cut, words));
}

bool BackendProcess::WaitFor(milliseconds time) {
  const Clock::time_point end = Clock::now() + time;
  for (;;) {
    siginfo_t info = {};
    if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid_) {
      ::kill(-pid_, SIGKILL);  // what it has left running; the group keeps its number until it is waited for
      ::waitpid(pid_, &exit_, 0);
      pid_ = 0;
      return true;
    }
    if (Clock::now() >= end) return false;
    std::this_thread::sleep_for(milliseconds(2));
  }
}

}  // namespace palladion::conformance
