#include "semantics/tensor/npy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"
#include "semantics/base/system_error.h"
#include "semantics/base/units.h"
#include "semantics/base/whole_file.h"
#include "semantics/tensor/normalise.h"
#include "semantics/tensor/npy_header.h"

namespace palladion {
namespace {

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

// Messages are made without the path, which WithPath puts before them once.
absl::Status WithPath(const std::string& path, const absl::Status& status) {
  return status.ok() ? status : absl::Status(status.code(), absl::StrCat(path, ": ", status.message()));
}

// The system's message with what was done and what to do.
absl::Status Advised(const char* doing, const absl::Status& status) {
  if (status.ok()) return status;
  const std::string_view remedy = status.code() == absl::StatusCode::kResourceExhausted
                                      ? "make room or choose another place"
                                  : status.code() == absl::StatusCode::kInternal ? "the disk reports a fault"
                                                                                 : "check the path and its permissions";
  return absl::Status(status.code(), ToAbsl(Cat("cannot ", doing, ": ", ToStd(status.message()), "; ", remedy)));
}

absl::Status SystemError(const char* doing, int error) { return Advised(doing, SystemStatus(error)); }

// Fortran order: the first index runs fastest. Walks the destination in its own order, so writes are sequential.
void TransposeFromFortran(const std::byte* src, std::byte* dst, const std::vector<std::int64_t>& shape,
                          ElementSize element_size, ElementCount count) {
  const std::size_t rank = shape.size(), element_bytes = element_size.size();
  std::vector<std::size_t> stride(rank), index(rank, 0);  // strides in bytes
  std::size_t step = element_bytes;
  for (std::size_t d = 0; d < rank; ++d) {
    stride[d] = step;
    step *= static_cast<std::size_t>(shape[d]);
  }
  std::size_t from = 0;
  for (std::int64_t i = 0; i < count.value(); ++i) {
    std::memcpy(dst + static_cast<std::size_t>(i) * element_bytes, src + from, element_bytes);
    for (std::size_t d = rank; d-- > 0;) {
      from += stride[d];
      if (++index[d] < static_cast<std::size_t>(shape[d])) break;
      from -= index[d] * stride[d];
      index[d] = 0;
    }
  }
}

// The bytes of a file's elements: as in memory, but ml_dtypes keeps sub-byte integers with clear upper bits.
absl::Status WriteElements(const Tensor& tensor, const auto& write) {
  if (!IsSigned(tensor.dtype()) || Info(tensor.dtype()).bits >= 8) return write(tensor.bytes(), tensor.num_bytes());
  const auto mask = static_cast<std::uint8_t>((1u << Info(tensor.dtype()).bits) - 1);
  std::vector<std::uint8_t> masked(tensor.data<std::uint8_t>(), tensor.data<std::uint8_t>() + tensor.num_bytes());
  for (std::uint8_t& x : masked) x &= mask;
  return write(masked.data(), masked.size());
}

// Fills `dst` with `n` bytes of the file from `offset` on.
using ReadAt = absl::FunctionRef<absl::Status(std::byte* dst, std::size_t n, std::size_t offset)>;

// `head` is the start of a file of `file_bytes`, and holds the whole header.
absl::StatusOr<Tensor> ReadBehindHeader(std::string_view head, std::size_t file_bytes, std::optional<DType> declared,
                                        ReadAt read) {
  PALLADION_ASSIGN_OR_RETURN(NpyHeader header, ParseNpyHeader(head));
  PALLADION_ASSIGN_OR_RETURN(const DType dtype, DTypeFromNpyDescr(header.descr, declared));
  // The file's own size bounds the memory asked for: a header cannot make us allocate more than it brings.
  const absl::StatusOr<std::int64_t> count = CountElements(dtype, header.shape);
  const std::size_t found = file_bytes - header.data_offset;
  if (!count.ok() || static_cast<std::size_t>(*count) * StorageBytes(dtype) != found) {
    const std::string expected = count.ok() ? absl::StrCat(*count * Info(dtype).storage_bytes) : "more than 1 TiB of";
    return absl::InvalidArgumentError(absl::StrCat(
        "not a readable .npy: its shape ", TypeString(dtype, header.shape), " needs ", expected, " bytes and ", found,
        " follow the header: it is truncated or holds more than one array; write it again with numpy.save"));
  }
  PALLADION_ASSIGN_OR_RETURN(Tensor tensor, Tensor::CreateUninitialized(dtype, std::move(header.shape)));
  PALLADION_RETURN_IF_ERROR(read(tensor.bytes(), found, header.data_offset));
  if (header.fortran_order && tensor.rank() > 1) {
    PALLADION_ASSIGN_OR_RETURN(Tensor transposed, Tensor::CreateUninitialized(dtype, tensor.shape()));
    const ElementSize element_size(static_cast<std::int64_t>(StorageBytes(dtype)));
    TransposeFromFortran(tensor.bytes(), transposed.bytes(), tensor.shape(), element_size,
                         ElementCount(tensor.num_elements()));
    tensor = std::move(transposed);
  }
  Normalise(tensor.dtype(), tensor.bytes(), static_cast<std::size_t>(tensor.num_elements()));
  return tensor;
}

absl::Status ReadFully(int fd, std::byte* dst, std::size_t n, std::size_t offset) {
  while (n > 0) {
    const ::ssize_t got = ::pread(fd, dst, n, static_cast<::off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError("read", errno);
    if (got == 0)
      return absl::InvalidArgumentError("it became shorter while it was read; do not write to it meanwhile");
    dst += got;
    n -= static_cast<std::size_t>(got);
    offset += static_cast<std::size_t>(got);
  }
  return absl::OkStatus();
}

absl::StatusOr<Tensor> ReadFile(const std::string& path, std::optional<DType> declared) {
  // Non-blocking, so that a pipe without a writer is refused below rather than waited for.
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) return SystemError("read", errno);
  struct ::stat info;
  if (::fstat(fd.get(), &info) != 0) return SystemError("read", errno);
  if (!S_ISREG(info.st_mode)) {
    return absl::InvalidArgumentError("cannot read: it is not a regular file; name a .npy file");
  }
  const auto size = static_cast<std::size_t>(info.st_size);
  const auto read = [&fd](std::byte* dst, std::size_t n, std::size_t offset) {
    return ReadFully(fd.get(), dst, n, offset);
  };
  std::vector<std::byte> head(std::min(size, kMaxNpyDataOffset));
  PALLADION_RETURN_IF_ERROR(read(head.data(), head.size(), 0));
  return ReadBehindHeader({reinterpret_cast<const char*>(head.data()), head.size()}, size, declared, read);
}

absl::Status WriteFile(const std::string& path, const Tensor& tensor) {
  struct ::stat info;
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat("cannot write: it is ",
                                                   S_ISDIR(info.st_mode) ? "a folder" : "not a regular file",
                                                   "; name a file that does not exist or may be replaced"));
  }
  const auto write_all = [&] {
    PALLADION_ASSIGN_OR_RETURN(WholeFile file, WholeFile::Open(path));
    PALLADION_RETURN_IF_ERROR(file.Write(NpyHeaderFor(tensor.dtype(), tensor.shape())));
    PALLADION_RETURN_IF_ERROR(
        WriteElements(tensor, [&file](const void* data, std::size_t n) { return file.Write(data, n); }));
    return file.Commit();
  };
  return Advised("write", write_all());
}

}  // namespace

absl::StatusOr<Tensor> ParseNpy(std::string_view file, std::optional<DType> declared) {
  return ReadBehindHeader(file, file.size(), declared, [&](std::byte* dst, std::size_t n, std::size_t offset) {
    if (n != 0) std::memcpy(dst, file.data() + offset, n);
    return absl::OkStatus();
  });
}

absl::StatusOr<Tensor> ReadNpy(const std::string& path, std::optional<DType> declared) {
  absl::StatusOr<Tensor> tensor = ReadFile(path, declared);
  if (!tensor.ok()) return WithPath(path, tensor.status());
  return tensor;
}

absl::Status WriteNpy(const std::string& path, const Tensor& tensor) { return WithPath(path, WriteFile(path, tensor)); }

std::string FormatNpy(const Tensor& tensor) {
  std::string file = NpyHeaderFor(tensor.dtype(), tensor.shape());
  const auto append = [&file](const void* data, std::size_t n) {
    file.append(static_cast<const char*>(data), n);
    return absl::OkStatus();
  };
  WriteElements(tensor, append).IgnoreError();  // appending to a string has no errors
  return file;
}

}  // namespace palladion
