// Errors of the operating system on reading and writing files, as a status: whether the user or the system caused it
// decides the code, and with it the exit code of the command.
#ifndef PALLADION_SEMANTICS_BASE_SYSTEM_ERROR_H_
#define PALLADION_SEMANTICS_BASE_SYSTEM_ERROR_H_

#include <cerrno>
#include <cstring>

#include "absl/status/status.h"

namespace palladion {

// No room on the disk, of a quota, or under a limit (ulimit -f).
inline bool IsNoRoom(int error) { return error == ENOSPC || error == EDQUOT || error == EFBIG; }

// ResourceExhausted: a limit is spent. Internal: the disk is broken. InvalidArgument: everything else, a wrong path.
inline absl::StatusCode CodeOfSystemError(int error) {
  if (IsNoRoom(error) || error == ENOMEM || error == EMFILE) return absl::StatusCode::kResourceExhausted;
  return error == EIO ? absl::StatusCode::kInternal : absl::StatusCode::kInvalidArgument;
}

inline absl::Status SystemStatus(int error) { return {CodeOfSystemError(error), std::strerror(error)}; }

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_BASE_SYSTEM_ERROR_H_
