// What this process has begun to write and not finished: files and folders named ".palladion-PID-N.part", beside what
// they will become. None of them is left behind: a writer that fails removes its own, a signal that ends the program
// removes all of them (RemoveUnfinishedWhenKilled), and those of programs that were killed outright are removed by the
// next one that writes into the same folder. python/palladion/base/whole_file.py keeps the same names and rules. What
// it does not catch: on a file system without flock, a part of a live program of another host or container whose number
// no program has here.
#ifndef PALLADION_SEMANTICS_BASE_UNFINISHED_H_
#define PALLADION_SEMANTICS_BASE_UNFINISHED_H_

#include <string>

#include "absl/status/statusor.h"

namespace palladion {

// A new file, or a new folder, of such a name. It is locked while it is open here, which shows other programs, also
// those of other containers, that a writer is at work on it.
class Part {
 public:
  // The status' message is the system's ("No space left on device"); its code as in SystemStatus (system_error.h).
  static absl::StatusOr<Part> NewFile(const std::string& folder);
  static absl::StatusOr<Part> NewFolder(const std::string& folder);
  // A folder under its own name, which `folder` is the first to have; it goes away again only if it is empty then.
  static Part Made(const std::string& folder);
  // A file inside of a part's folder. The folder's lock is its lock.
  static Part Inside(const std::string& path);

  Part(Part&& other) noexcept;
  Part& operator=(Part&&) = delete;
  ~Part();  // removes it, unless it was finished

  const std::string& path() const { return path_; }
  int fd() const { return fd_; }  // of a new file, to be written
  void Finished();                // it has its own name now, or is not to be removed

 private:
  Part() = default;
  static absl::StatusOr<Part> New(const std::string& folder, bool is_folder);
  std::string path_;
  int fd_ = -1;
  void* known_ = nullptr;  // its entry in the list that signal handlers see
};

// Removes from `folder` what programs that no longer run have left there. Nothing is said of what cannot be removed.
void RemovePartsOfDeadPrograms(const std::string& folder);

// From now on a signal that would end the program (hangup, Ctrl-C, quit, termination, a closed pipe, no processor time
// left) first removes what is unfinished, and a limit on the size of files is an error of write(), not the program's
// end. For programs; a library leaves the signals of its process alone. What is ignored stays so.
void RemoveUnfinishedWhenKilled();

// The first half of that, for handlers of others: may be called in a signal handler.
void RemoveUnfinished();

// While one of these lives such a signal waits: for what must not be seen half done, like several renames.
class Undivided {
 public:
  Undivided();
  ~Undivided();
  Undivided(const Undivided&) = delete;
  Undivided& operator=(const Undivided&) = delete;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_BASE_UNFINISHED_H_
