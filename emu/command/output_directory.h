// The directory that a run's outputs go to. It is made, and shown to be writable, before the kernel runs, so that a
// long run is not lost to a wrong path; the files appear in it together, when all of them are complete.
#ifndef PALLADION_EMU_COMMAND_OUTPUT_DIRECTORY_H_
#define PALLADION_EMU_COMMAND_OUTPUT_DIRECTORY_H_

#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "semantics/tensor/tensor.h"

namespace palladion {

class OutputDirectory {
 public:
  // InvalidArgument: it cannot be made or written, or one of the files to come, NAME.npy, is a directory there.
  static absl::StatusOr<OutputDirectory> Open(const std::string& path, std::vector<std::string> names);
  OutputDirectory(OutputDirectory&& other) noexcept;
  OutputDirectory& operator=(OutputDirectory&&) = delete;
  ~OutputDirectory();  // what was written aside goes, and so does an empty directory that Open made

  // One tensor for each name. On an error the directory holds what it held before.
  absl::Status Write(const std::vector<Tensor>& tensors);

 private:
  OutputDirectory(std::filesystem::path directory, std::vector<std::string> names)
      : directory_(std::move(directory)), names_(std::move(names)) {}
  std::filesystem::path FileOf(std::size_t i) const { return directory_ / (names_[i] + ".npy"); }

  std::filesystem::path directory_, aside_;
  std::vector<std::string> names_;
  bool made_ = false;
};

}  // namespace palladion

#endif  // PALLADION_EMU_COMMAND_OUTPUT_DIRECTORY_H_
