// A stream buffer over an open file that keeps the error of a failed write, unlike the standard library's.
#ifndef PALLADION_SEMANTICS_BASE_FD_STREAM_H_
#define PALLADION_SEMANTICS_BASE_FD_STREAM_H_

#include <array>
#include <cstddef>
#include <streambuf>

#include "absl/status/status.h"

namespace palladion {

// All of it, however many calls that takes. The status is the system's (system_error.h).
absl::Status WriteFully(int fd, const void* data, std::size_t n);

class FdBuffer final : public std::streambuf {
 public:
  explicit FdBuffer(int fd) : fd_(fd) { Clear(); }
  const absl::Status& status() const { return status_; }  // of what was flushed

 protected:
  int_type overflow(int_type c) override;
  int sync() override;

 private:
  void Clear() { setp(bytes_.data(), bytes_.data() + bytes_.size()); }
  const int fd_;
  std::array<char, std::size_t{1} << 16> bytes_;
  absl::Status status_;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_BASE_FD_STREAM_H_
