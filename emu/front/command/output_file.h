// An output file named by an option, --output or --page. It is tested to be writable before a long check starts, it is
// replaced atomically, and it must not be a file that the command reads.
#ifndef PALLADION_EMU_FRONT_COMMAND_OUTPUT_FILE_H_
#define PALLADION_EMU_FRONT_COMMAND_OUTPUT_FILE_H_

#include <ostream>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "emu/front/command/command_line.h"
#include "semantics/base/whole_file.h"

namespace palladion::command {

// InvalidArgument: `path`, which `flag` gives, is a file that the line's command reads: its words, --in,
// --suppressions; by another name or through a link too.
absl::Status CheckIsNoInput(const CommandLine& line, std::string_view flag, const std::string& path);

class OutputFile {
 public:
  // The file of the line's option `flag`. InvalidArgument: its folder is missing or cannot be written, it is a folder
  // or an input. Devices and pipes are written to as they are.
  static absl::StatusOr<OutputFile> Open(const CommandLine& line, const std::string& flag);

  // ResourceExhausted: the disk is full, and the file is what it was.
  absl::Status Write(std::string_view text);
  std::ostream& stream() { return file_.stream(); }
  absl::Status Commit();  // after stream()

 private:
  OutputFile(std::string named, WholeFile file) : named_(std::move(named)), file_(std::move(file)) {}
  absl::Status Failed(const absl::Status& status) const;
  std::string named_;  // "--output FILE"
  WholeFile file_;
};

}  // namespace palladion::command

#endif  // PALLADION_EMU_FRONT_COMMAND_OUTPUT_FILE_H_
