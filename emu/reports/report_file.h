// The file that --output names. That it can be written is known before a long check starts, and it is replaced whole or
// not at all.
#ifndef PALLADION_EMU_REPORTS_REPORT_FILE_H_
#define PALLADION_EMU_REPORTS_REPORT_FILE_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace palladion {

class ReportFile {
 public:
  // InvalidArgument: its folder is missing or cannot be written, or it is a folder. Devices and pipes are written to.
  static absl::StatusOr<ReportFile> Open(const std::string& path);
  ReportFile(ReportFile&& other) noexcept;
  ReportFile& operator=(ReportFile&&) = delete;
  ~ReportFile();

  // ResourceExhausted: the disk is full, and the file is what it was.
  absl::Status Write(std::string_view text);

 private:
  explicit ReportFile(std::string path) : path_(std::move(path)) {}
  std::string path_, aside_;  // aside_: written first; "" for what is no plain file
};

}  // namespace palladion

#endif  // PALLADION_EMU_REPORTS_REPORT_FILE_H_
