#include "emu/reports/report_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "semantics/base/cat.h"

namespace palladion {
namespace {

namespace fs = std::filesystem;

absl::Status Unwritable(const std::string& path, std::string_view why) {
  return absl::InvalidArgumentError(Cat("--output ", path, ": cannot be written: ", why, "; choose another file"));
}

}  // namespace

absl::StatusOr<ReportFile> ReportFile::Open(const std::string& path) {
  ReportFile file(path);
  if (path.empty()) return Unwritable("''", "the name is empty");
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) return Unwritable(path, "it is a directory");
  if (fs::exists(status) && ::access(path.c_str(), W_OK) != 0) return Unwritable(path, std::strerror(errno));
  if (fs::exists(status) && !fs::is_regular_file(status)) return file;
  // The target of a link is what gets replaced, not the link.
  if (fs::exists(status)) file.path_ = fs::canonical(path, error).string();
  if (error && fs::exists(status)) return Unwritable(path, error.message());
  std::string aside = file.path_ + ".part-XXXXXX";
  const int descriptor = ::mkstemp(aside.data());
  if (descriptor < 0) return Unwritable(path, std::strerror(errno));
  file.aside_ = aside;
  const ::mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(descriptor, 0666 & ~mask);
  ::close(descriptor);
  return file;
}

ReportFile::ReportFile(ReportFile&& other) noexcept
    : path_(std::move(other.path_)), aside_(std::exchange(other.aside_, {})) {}

ReportFile::~ReportFile() {
  std::error_code ignored;  // nothing else can be done about it here
  if (!aside_.empty()) fs::remove(aside_, ignored);
}

absl::Status ReportFile::Write(std::string_view text) {
  std::ofstream stream(aside_.empty() ? path_ : aside_, std::ios::binary);
  stream << text;
  stream.close();
  if (!stream)
    return absl::ResourceExhaustedError(Cat(
        "--output ", path_, ": cannot be written to its end: ", errno == 0 ? "unknown error" : std::strerror(errno)));
  if (aside_.empty()) return absl::OkStatus();
  std::error_code error;
  fs::rename(aside_, path_, error);
  if (error) return Unwritable(path_, error.message());
  aside_.clear();
  return absl::OkStatus();
}

}  // namespace palladion
