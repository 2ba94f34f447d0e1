#include "emu/front/command/output_file.h"

#include <sys/stat.h>

#include <utility>
#include <vector>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::command {
namespace {

bool SameFile(const struct ::stat& a, const std::string& path) {
  struct ::stat b;
  return ::stat(path.c_str(), &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

}  // namespace

absl::Status CheckIsNoInput(const CommandLine& line, std::string_view flag, const std::string& path) {
  struct ::stat info;
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return absl::OkStatus();
  std::vector<std::pair<std::string, std::string>> read;  // what it is, and its path
  for (const std::string& word : line.words) read.emplace_back(Cat("the file ", word), word);
  for (const auto& [name, value] : line.flags) {
    if (name == "in") read.emplace_back(Cat("the file of --in ", value), value.substr(value.find('=') + 1));
    if (name == "replay" && value[0] == '@') read.emplace_back(Cat("the file of --replay ", value), value.substr(1));
    if (name == "suppressions") read.emplace_back(Cat("the file of --suppressions ", value), value);
  }
  for (const auto& [what, input] : read) {
    if (!SameFile(info, input)) continue;
    return absl::InvalidArgumentError(Cat("--", flag, " would overwrite ", path, ", which is ", what,
                                          " that this command reads; choose another place"));
  }
  return absl::OkStatus();
}

absl::StatusOr<OutputFile> OutputFile::Open(const CommandLine& line, const std::string& flag) {
  const std::string path = line.Flag(flag);
  const std::string named = Cat("--", flag, " ", path.empty() ? "''" : path);
  PALLADION_RETURN_IF_ERROR(CheckIsNoInput(line, flag, path));
  absl::StatusOr<WholeFile> file = WholeFile::Open(path);
  if (file.ok()) return OutputFile(named, *std::move(file));
  return absl::Status(file.status().code(), ToAbsl(Cat(named, ": cannot be written: ", ToStd(file.status().message()),
                                                       "; choose another file")));
}

absl::Status OutputFile::Failed(const absl::Status& status) const {
  if (status.ok()) return status;
  return absl::Status(status.code(), ToAbsl(Cat(named_, ": cannot be written to its end: ", ToStd(status.message()),
                                                "; make room or choose another place")));
}

absl::Status OutputFile::Write(std::string_view text) {
  absl::Status status = file_.Write(text);
  if (status.ok()) status = file_.Commit();
  return Failed(status);
}

absl::Status OutputFile::Commit() { return Failed(file_.Commit()); }

}  // namespace palladion::command
