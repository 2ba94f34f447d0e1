// Atomic file writes: into a temporary file beside the target (unfinished.h), which is renamed when everything is on
// the disk. A full disk, a signal or an error in between leaves the old contents. Devices and pipes are written
// directly: nothing can be undone there.
#ifndef PALLADION_SEMANTICS_BASE_WHOLE_FILE_H_
#define PALLADION_SEMANTICS_BASE_WHOLE_FILE_H_

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "semantics/base/fd_stream.h"
#include "semantics/base/unfinished.h"

namespace palladion {

class WholeFile {
 public:
  // A link is followed; a file that is there keeps its permissions, and must be one that could be written. The messages
  // of errors, here and below, are the system's, without the path; the codes as in system_error.h.
  static absl::StatusOr<WholeFile> Open(const std::string& path);
  WholeFile(WholeFile&& other) noexcept;
  WholeFile& operator=(WholeFile&&) = delete;
  ~WholeFile();

  absl::Status Write(const void* data, std::size_t n);
  absl::Status Write(std::string_view text) { return Write(text.data(), text.size()); }
  // For what writes to streams; Commit says what went wrong.
  std::ostream& stream();

  absl::Status Commit();

 private:
  WholeFile() = default;
  std::string target_;
  std::optional<Part> part_;  // nothing for a device or a pipe
  int device_ = -1;
  std::unique_ptr<FdBuffer> buffer_;
  std::unique_ptr<std::ostream> stream_;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_BASE_WHOLE_FILE_H_
