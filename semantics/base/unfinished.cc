#include "semantics/base/unfinished.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/base/system_error.h"

namespace palladion {
namespace {

namespace fs = std::filesystem;

// One thing to remove. Entries are only ever added, since a handler may be reading the list; each costs its name.
struct Known {
  std::string path;
  bool folder = false;
  std::atomic<bool> unfinished{true};
  Known* next = nullptr;
};

// The only things that a signal handler can reach: no object is passed to it.
std::atomic<Known*> newest{nullptr};
std::atomic<int> undivided{0}, waiting_signal{0};

std::atomic<int> given{0};  // numbers in names

Known* Remember(const std::string& path, bool folder) {
  auto* known = new Known;  // never freed: see Known
  known->path = path;
  known->folder = folder;
  known->next = newest.load();
  while (!newest.compare_exchange_weak(known->next, known)) {
  }
  return known;
}

std::string NewName(const std::string& folder) {
  return (fs::path(folder) / Cat(".palladion-", ::getpid(), "-", given.fetch_add(1), ".part")).string();
}

// The process' number in such a name, or 0.
::pid_t OwnerOf(const char* name) {
  int pid = 0, number = 0, length = 0;
  if (std::sscanf(name, ".palladion-%d-%d.part%n", &pid, &number, &length) != 2 || length == 0) return 0;
  return name[length] == '\0' && pid > 0 ? static_cast<::pid_t>(pid) : 0;
}

// It is not locked. A file system without locks says no more than that.
bool Unlocked(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return false;
  const bool held = ::flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(fd);
  return !held;
}

void RemoveAndEnd(int signal) {
  if (undivided.load() > 0) {
    waiting_signal.store(signal);
    return;
  }
  RemoveUnfinished();
  std::signal(signal, SIG_DFL);
  ::raise(signal);
}

}  // namespace

Part::Part(Part&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)), known_(std::exchange(other.known_, nullptr)) {}

Part::~Part() {
  if (known_ != nullptr) {
    auto* known = static_cast<Known*>(known_);
    std::error_code ignored;  // nothing else can be done about it here
    if (!known->folder) ::unlink(path_.c_str());
    if (known->folder && fd_ >= 0) fs::remove_all(path_, ignored);
    if (known->folder && fd_ < 0) ::rmdir(path_.c_str());
    known->unfinished = false;
  }
  if (fd_ >= 0) ::close(fd_);
}

// Remembered first: a signal in between finds nothing yet to remove, or removes a name that is not used elsewhere.
absl::StatusOr<Part> Part::New(const std::string& folder, bool is_folder) {
  for (int attempt = 0; attempt < 1000; ++attempt) {
    Part part;
    part.path_ = NewName(folder);
    Known* known = Remember(part.path_, is_folder);
    const char* path = part.path_.c_str();
    if (!is_folder) {
      part.fd_ = ::open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } else if (::mkdir(path, 0777) == 0) {
      part.fd_ = ::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    if (part.fd_ >= 0) {
      part.known_ = known;
      ::flock(part.fd_, LOCK_EX | LOCK_NB);
      return part;
    }
    known->unfinished = false;
    if (errno != EEXIST) return SystemStatus(errno);
  }
  return SystemStatus(EEXIST);
}

absl::StatusOr<Part> Part::NewFile(const std::string& folder) { return New(folder, false); }
absl::StatusOr<Part> Part::NewFolder(const std::string& folder) { return New(folder, true); }

Part Part::Made(const std::string& folder) {
  Part part;
  part.path_ = folder;
  part.known_ = Remember(folder, true);
  return part;
}

Part Part::Inside(const std::string& path) {
  Part part;
  part.path_ = path;
  part.known_ = Remember(path, false);
  return part;
}

void Part::Finished() {
  if (known_ != nullptr) static_cast<Known*>(std::exchange(known_, nullptr))->unfinished = false;
}

void RemovePartsOfDeadPrograms(const std::string& folder) {
  const std::unique_ptr<::DIR, int (*)(::DIR*)> entries(::opendir(folder.empty() ? "." : folder.c_str()), ::closedir);
  if (entries == nullptr) return;
  while (const ::dirent* entry = ::readdir(entries.get())) {
    const ::pid_t owner = OwnerOf(entry->d_name);
    if (owner == 0) continue;
    // Our own number is also that of a program in another container, or of one before us in this.
    if (owner != ::getpid() && (::kill(owner, 0) == 0 || errno != ESRCH)) continue;
    const std::string path = (fs::path(folder) / entry->d_name).string();
    if (!Unlocked(path)) continue;
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
}

void RemoveUnfinished() {
  const int before = errno;
  for (const bool folders : {false, true}) {
    for (const Known* known = newest.load(); known != nullptr; known = known->next) {
      if (!known->unfinished.load() || known->folder != folders) continue;
      if (folders) {
        ::rmdir(known->path.c_str());
      } else {
        ::unlink(known->path.c_str());
      }
    }
  }
  errno = before;
}

Undivided::Undivided() { undivided.fetch_add(1); }

Undivided::~Undivided() {
  if (undivided.fetch_sub(1) != 1) return;
  if (const int signal = waiting_signal.exchange(0); signal != 0) RemoveAndEnd(signal);
}

void RemoveUnfinishedWhenKilled() {
  struct ::sigaction action = {}, old = {};
  action.sa_handler = RemoveAndEnd;
  action.sa_flags = SA_NODEFER;
  ::sigemptyset(&action.sa_mask);
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGXCPU}) {
    if (::sigaction(signal, nullptr, &old) == 0 && old.sa_handler == SIG_DFL) ::sigaction(signal, &action, nullptr);
  }
  std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace palladion
