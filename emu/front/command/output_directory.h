// The directory of a command's output files. It is created, and tested to be writable, before the kernel runs, so that
// a long run is not lost to a wrong path; the files appear in it together, when all of them are complete. What it does
// not catch: a program that is killed outright (SIGKILL) between the renames of two files.
#ifndef PALLADION_EMU_FRONT_COMMAND_OUTPUT_DIRECTORY_H_
#define PALLADION_EMU_FRONT_COMMAND_OUTPUT_DIRECTORY_H_

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "emu/front/command/command_line.h"
#include "semantics/base/unfinished.h"
#include "semantics/tensor/tensor.h"

namespace palladion::command {

class OutputDirectory {
 public:
  // That of --out. InvalidArgument: it cannot be made or written.
  static absl::StatusOr<OutputDirectory> Open(const CommandLine& line);
  OutputDirectory(OutputDirectory&&) = default;
  OutputDirectory& operator=(OutputDirectory&&) = delete;
  ~OutputDirectory();  // what was written aside goes, and so do empty directories that Open made

  // InvalidArgument: a file NAME that is to come is a directory there, or one that the command reads.
  absl::Status Expect(const std::string& name) const;

  // Aside, until Commit.
  absl::Status Write(const std::string& name, const Tensor& tensor);
  absl::Status Write(const std::string& name, std::string_view text);

  // All files get their places. On an error the directory holds what it held before.
  absl::Status Commit();

  std::string PathOf(const std::string& name) const { return (directory_ / name).string(); }

 private:
  OutputDirectory(const CommandLine& line, const std::string& path) : line_(&line), directory_(path) {}
  absl::Status MakeDirectories();
  std::string Begin(const std::string& name);

  const CommandLine* line_;
  std::filesystem::path directory_;
  std::vector<Part> made_;  // outermost first
  std::optional<Part> aside_;
  std::vector<std::string> names_;
  std::vector<Part> written_;  // of each name, aside
};

}  // namespace palladion::command

#endif  // PALLADION_EMU_FRONT_COMMAND_OUTPUT_DIRECTORY_H_
