#include "conformance/results_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "nlohmann/json.hpp"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/base/system_error.h"

namespace palladion::conformance {
namespace {

std::string Head(const std::string& suite) {
  return nlohmann::ordered_json{{"palladion_conformance", 1}, {"suite", suite}}.dump(
      -1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

ResultsFile::ResultsFile(ResultsFile&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)), done_(std::move(other.done_)) {}

ResultsFile::~ResultsFile() {
  if (fd_ >= 0) ::close(fd_);
}

absl::StatusOr<ResultsFile> ResultsFile::Open(const std::string& path, const std::string& suite) {
  ResultsFile file;
  file.path_ = path;
  file.fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
  if (file.fd_ < 0) return file.Wrong(std::strerror(errno));
  if (::flock(file.fd_, LOCK_EX | LOCK_NB) != 0) return file.Wrong("another run writes to it; give each its own file");
  PALLADION_RETURN_IF_ERROR(file.Read(suite));
  return file;
}

absl::Status ResultsFile::Wrong(const std::string& what) const {
  return absl::InvalidArgumentError(Cat("--resume ", path_, ": ", what));
}

absl::Status ResultsFile::Read(const std::string& suite) {
  std::string text;
  std::array<char, 1 << 16> buffer;
  for (::ssize_t got = 0; (got = ::read(fd_, buffer.data(), buffer.size())) != 0;) {
    if (got < 0) return Wrong(std::strerror(errno));
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  // The line that a killed run was writing is not there.
  const std::size_t whole = text.rfind('\n') + 1;
  std::string_view rest = std::string_view(text).substr(0, whole);
  if (rest.empty() && !Head(suite).starts_with(text)) return Wrong("it is no file of results; name a new one");
  if (whole < text.size() && ::ftruncate(fd_, static_cast<::off_t>(whole)) != 0) return Wrong(std::strerror(errno));
  if (rest.empty()) return Append(Head(suite));
  for (int number = 1; !rest.empty(); ++number) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() + 1);
    if (number == 1 && line != Head(suite)) {
      return Wrong(Cat("it is no file of results of this suite: expected the first line ", Head(suite), ", found ",
                       line.substr(0, 200), "; name a new file"));
    }
    if (number == 1) continue;
    absl::StatusOr<CaseRecord> record = ParseRecord(line);
    if (!record.ok()) return Wrong(Cat("line ", number, ": ", ToStd(record.status().message())));
    done_.insert_or_assign(record->name, *std::move(record));
  }
  return absl::OkStatus();
}

absl::Status ResultsFile::Append(const std::string& line) {
  const std::string text = line + "\n";
  std::string_view unwritten = text;
  while (!unwritten.empty()) {
    const ::ssize_t written = ::write(fd_, unwritten.data(), unwritten.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return {CodeOfSystemError(errno), Cat("--resume ", path_, ": ", std::strerror(errno))};
    unwritten.remove_prefix(static_cast<std::size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status ResultsFile::Add(const CaseRecord& record) { return Append(RecordLine(record)); }

}  // namespace palladion::conformance
