#include "semantics/base/fd_stream.h"

#include <unistd.h>

#include <cerrno>

#include "semantics/base/system_error.h"

namespace palladion {

absl::Status WriteFully(int fd, const void* data, std::size_t n) {
  const char* p = static_cast<const char*>(data);
  while (n > 0) {
    const ::ssize_t done = ::write(fd, p, n);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return SystemStatus(done == 0 ? EIO : errno);
    p += done;
    n -= static_cast<std::size_t>(done);
  }
  return absl::OkStatus();
}

FdBuffer::int_type FdBuffer::overflow(int_type c) {
  if (sync() != 0) return traits_type::eof();
  if (!traits_type::eq_int_type(c, traits_type::eof())) {
    *pptr() = traits_type::to_char_type(c);
    pbump(1);
  }
  return traits_type::not_eof(c);
}

int FdBuffer::sync() {
  if (status_.ok()) status_ = WriteFully(fd_, pbase(), static_cast<std::size_t>(pptr() - pbase()));
  Clear();
  return status_.ok() ? 0 : -1;
}

}  // namespace palladion
