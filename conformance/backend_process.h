// A backend's program while it runs: asked by a line on its standard input, it answers by a line on its standard
// output. It may crash, hang, or write without end; each is an error here, after which the program is ended.
// Based on posix_spawn and poll. What it does not catch: processes that it started and that left its process group.
#ifndef PALLADION_CONFORMANCE_BACKEND_PROCESS_H_
#define PALLADION_CONFORMANCE_BACKEND_PROCESS_H_

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace palladion::conformance {

inline constexpr std::size_t kLongestAnswer = std::size_t{1} << 20;  // bytes

class BackendProcess {
 public:
  // `command` is the shell's (sh -c). Internal: it cannot be started.
  static absl::StatusOr<std::unique_ptr<BackendProcess>> Start(const std::string& command);
  BackendProcess(const BackendProcess&) = delete;
  BackendProcess& operator=(const BackendProcess&) = delete;
  ~BackendProcess();  // ends it, and what is in its process group

  // The line that it answers to `line`, without its end. DeadlineExceeded: none came in time. ResourceExhausted: one
  // without an end. InvalidArgument: more than one. Unavailable: it has ended. Cancelled: `interrupted` became true.
  // After an error it is not to be asked again. SIGPIPE is blocked in the thread that asks.
  absl::StatusOr<std::string> Ask(const std::string& line, std::chrono::milliseconds time,
                                  const std::atomic<bool>& interrupted);

  // Since its last answer, of which nothing is wrong then.
  bool HasEnded() { return pid_ == 0 || WaitFor(std::chrono::milliseconds(0)); }

 private:
  BackendProcess() = default;
  absl::Status Write(std::string_view& unsent);
  absl::Status ReadAnswer();
  bool ReadErrors();  // false: nothing more will come
  absl::Status Ended();
  bool WaitFor(std::chrono::milliseconds time);  // true: it has ended

  pid_t pid_ = 0;
  int in_ = -1, out_ = -1, err_ = -1;
  bool gave_up_ = false;
  int exit_ = 0;        // as waitpid has it, once pid_ is 0
  std::string answer_;  // read so far
  std::string errors_;  // the end of what it has written there
};

}  // namespace palladion::conformance

#endif  // PALLADION_CONFORMANCE_BACKEND_PROCESS_H_
