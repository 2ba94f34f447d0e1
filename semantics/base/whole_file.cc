#include "semantics/base/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "semantics/base/status.h"
#include "semantics/base/system_error.h"

namespace palladion {
namespace {

namespace fs = std::filesystem;

// What `path` leads to, which need not be there.
fs::path Resolved(fs::path path) {
  std::error_code error;
  for (int links = 0; links < 40 && fs::is_symlink(fs::symlink_status(path, error)); ++links) {
    const fs::path to = fs::read_symlink(path, error);
    if (error) break;
    path = to.is_absolute() ? to : path.parent_path() / to;
  }
  return path;
}

// /dev/stdout and its kin are links to what may be a plain file that another process has open.
bool IsOpenElsewhere(std::string_view path) { return path.substr(0, 5) == "/dev/" || path.substr(0, 6) == "/proc/"; }

}  // namespace

absl::StatusOr<WholeFile> WholeFile::Open(const std::string& path) {
  if (path.empty()) return absl::InvalidArgumentError("the name is empty");
  WholeFile file;
  struct ::stat info;
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) return absl::InvalidArgumentError("it is a directory");
  if (exists && ::access(path.c_str(), W_OK) != 0) return SystemStatus(errno);
  if (exists && (!S_ISREG(info.st_mode) || IsOpenElsewhere(path))) {
    file.device_ = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    if (file.device_ < 0) return SystemStatus(errno);
    return file;
  }
  const fs::path target = Resolved(path);
  file.target_ = target.string();
  RemovePartsOfDeadPrograms(target.parent_path().string());
  PALLADION_ASSIGN_OR_RETURN(Part part, Part::NewFile(target.parent_path().string()));
  if (exists) ::fchmod(part.fd(), info.st_mode & 0777);
  file.part_.emplace(std::move(part));
  return file;
}

WholeFile::WholeFile(WholeFile&& other) noexcept
    : target_(std::move(other.target_)),
      part_(std::move(other.part_)),
      device_(std::exchange(other.device_, -1)),
      buffer_(std::move(other.buffer_)),
      stream_(std::move(other.stream_)) {
  other.part_.reset();
}

WholeFile::~WholeFile() {
  if (device_ >= 0) ::close(device_);
}

absl::Status WholeFile::Write(const void* data, std::size_t n) {
  return WriteFully(part_.has_value() ? part_->fd() : device_, data, n);
}

std::ostream& WholeFile::stream() {
  if (stream_ == nullptr) {
    buffer_ = std::make_unique<FdBuffer>(part_.has_value() ? part_->fd() : device_);
    stream_ = std::make_unique<std::ostream>(buffer_.get());
  }
  return *stream_;
}

absl::Status WholeFile::Commit() {
  if (stream_ != nullptr) {
    stream_->flush();
    PALLADION_RETURN_IF_ERROR(buffer_->status());
  }
  if (!part_.has_value()) return ::close(std::exchange(device_, -1)) == 0 ? absl::OkStatus() : SystemStatus(errno);
  // Without this a crash of the host soon after could leave an empty file under the new name.
  if (::fsync(part_->fd()) != 0 && errno != EINVAL && errno != ENOSYS) return SystemStatus(errno);
  if (::rename(part_->path().c_str(), target_.c_str()) != 0) return SystemStatus(errno);
  part_->Finished();
  return absl::OkStatus();
}

}  // namespace palladion
