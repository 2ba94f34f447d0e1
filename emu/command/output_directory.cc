#include "emu/command/output_directory.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/tensor/npy.h"

namespace palladion {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRemedy = "; choose another with --out";

}  // namespace

absl::StatusOr<OutputDirectory> OutputDirectory::Open(const std::string& path, std::vector<std::string> names) {
  OutputDirectory output(path, std::move(names));
  std::error_code error;
  output.made_ = fs::create_directories(output.directory_, error);
  if (!error && !fs::is_directory(output.directory_, error)) error = std::make_error_code(std::errc::not_a_directory);
  if (error)
    return absl::InvalidArgumentError(Cat(path, ": the output directory cannot be made: ", error.message(), kRemedy));
  for (std::size_t i = 0; i < output.names_.size(); ++i) {
    if (!fs::is_directory(output.FileOf(i), error)) continue;
    return absl::InvalidArgumentError(
        Cat(output.FileOf(i).string(), ": expected a file or nothing; found a directory", kRemedy));
  }
  std::string aside = (output.directory_ / ".palladion-XXXXXX").string();
  if (::mkdtemp(aside.data()) == nullptr) {
    return absl::InvalidArgumentError(
        Cat(path, ": the output directory cannot be written: ", std::strerror(errno), kRemedy));
  }
  output.aside_ = aside;
  return output;
}

OutputDirectory::OutputDirectory(OutputDirectory&& other) noexcept
    : directory_(std::move(other.directory_)),
      aside_(std::exchange(other.aside_, {})),
      names_(std::move(other.names_)),
      made_(std::exchange(other.made_, false)) {}

OutputDirectory::~OutputDirectory() {
  std::error_code ignored;  // nothing else can be done about it here
  if (!aside_.empty()) fs::remove_all(aside_, ignored);
  if (made_ && fs::is_empty(directory_, ignored) && !ignored) fs::remove(directory_, ignored);
}

absl::Status OutputDirectory::Write(const std::vector<Tensor>& tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    PALLADION_RETURN_IF_ERROR(WriteNpy((aside_ / FileOf(i).filename()).string(), tensors[i]));
  }
  // Moves within one directory need no room; only somebody else's doing in between can stop one.
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    std::error_code error;
    fs::rename(aside_ / FileOf(i).filename(), FileOf(i), error);
    if (error)
      return absl::InvalidArgumentError(Cat(FileOf(i).string(), ": cannot be written: ", error.message(), kRemedy));
  }
  return absl::OkStatus();
}

}  // namespace palladion
