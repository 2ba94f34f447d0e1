#include "emu/front/command/output_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "emu/front/command/output_file.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/base/system_error.h"
#include "semantics/base/whole_file.h"
#include "semantics/tensor/npy.h"

namespace palladion::command {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRemedy = "; choose another with --out";

absl::Status WithPlace(std::string_view place, const absl::Status& status) {
  return absl::Status(status.code(), ToAbsl(Cat(place, ToStd(status.message()), kRemedy)));
}

// What `to` was is then at `from`, so that it can be brought back; nothing where it was not.
int MoveKeeping(const std::string& from, const std::string& to) {
  std::error_code error;
  if (fs::is_directory(fs::symlink_status(to, error))) return EISDIR;
#ifdef RENAME_EXCHANGE  // not in WebAssembly's C library, whose files end with the program
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0) return 0;
  if (errno != ENOENT && errno != EINVAL && errno != ENOSYS) return errno;
#endif
  return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

}  // namespace

absl::Status OutputDirectory::MakeDirectories() {
  std::vector<fs::path> missing;
  std::error_code error;
  for (fs::path at = directory_; !at.empty() && !fs::exists(at, error); at = at.parent_path()) {
    missing.push_back(at);
    if (at == at.parent_path()) break;
  }
  for (std::size_t i = missing.size(); i-- > 0;) {
    if (::mkdir(missing[i].c_str(), 0777) == 0) {
      made_.push_back(Part::Made(missing[i].string()));
    } else if (errno != EEXIST) {
      return SystemStatus(errno);
    }
  }
  if (!fs::is_directory(directory_, error)) return SystemStatus(ENOTDIR);
  return absl::OkStatus();
}

absl::StatusOr<OutputDirectory> OutputDirectory::Open(const CommandLine& line) {
  const std::string path = line.Flag("out");
  OutputDirectory output(line, path);
  if (const absl::Status status = output.MakeDirectories(); !status.ok())
    return WithPlace(Cat(path, ": the output directory cannot be made: "), status);
  RemovePartsOfDeadPrograms(path);
  absl::StatusOr<Part> aside = Part::NewFolder(path);
  if (!aside.ok()) return WithPlace(Cat(path, ": the output directory cannot be written: "), aside.status());
  output.aside_.emplace(*std::move(aside));
  return output;
}

OutputDirectory::~OutputDirectory() {
  written_.clear();
  aside_.reset();
  while (!made_.empty()) made_.pop_back();
}

absl::Status OutputDirectory::Expect(const std::string& name) const {
  std::error_code error;
  const std::string path = PathOf(name);
  if (fs::is_directory(path, error))
    return absl::InvalidArgumentError(Cat(path, ": expected a file or nothing; found a directory", kRemedy));
  return CheckIsNoInput(*line_, "out", path);
}

std::string OutputDirectory::Begin(const std::string& name) {
  names_.push_back(name);
  written_.push_back(Part::Inside((fs::path(aside_->path()) / name).string()));
  return written_.back().path();
}

// The messages name the place that the file was to have.
absl::Status OutputDirectory::Write(const std::string& name, const Tensor& tensor) {
  PALLADION_RETURN_IF_ERROR(Expect(name));
  const std::string aside = Begin(name);
  const absl::Status status = WriteNpy(aside, tensor);
  if (status.ok()) return status;
  std::string message(ToStd(status.message()));
  if (message.compare(0, aside.size(), aside) == 0) message.replace(0, aside.size(), PathOf(name));
  return absl::Status(status.code(), ToAbsl(Cat(message, "; nothing was written to ", directory_.string())));
}

absl::Status OutputDirectory::Write(const std::string& name, std::string_view text) {
  PALLADION_RETURN_IF_ERROR(Expect(name));
  const auto write_all = [&] {
    PALLADION_ASSIGN_OR_RETURN(WholeFile file, WholeFile::Open(Begin(name)));
    PALLADION_RETURN_IF_ERROR(file.Write(text));
    return file.Commit();
  };
  const absl::Status status = write_all();
  if (status.ok()) return status;
  return absl::Status(status.code(), ToAbsl(Cat(PathOf(name), ": cannot be written: ", ToStd(status.message()),
                                                "; nothing was written to ", directory_.string())));
}

// Moves within one directory need no room; only another process can make one fail.
absl::Status OutputDirectory::Commit() {
  const Undivided together;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const int error = MoveKeeping(written_[i].path(), PathOf(names_[i]));
    if (error == 0) continue;
    for (std::size_t j = i; j-- > 0;) {
      // Where nothing was before, there is nothing to exchange it with.
      std::error_code ignored;
      if (fs::exists(written_[j].path(), ignored)) {
        MoveKeeping(written_[j].path(), PathOf(names_[j]));
      } else {
        ::unlink(PathOf(names_[j]).c_str());
      }
    }
    return WithPlace(Cat(PathOf(names_[i]), ": cannot be written: "), SystemStatus(error));
  }
  if (!names_.empty()) {
    for (Part& directory : made_) directory.Finished();
  }
  return absl::OkStatus();
}

}  // namespace palladion::command
