// Arrays from and to .npy files. Based on: NumPy's format (npy_header.h). Reading takes C and Fortran order; writing is
// C order, version 1.0. Not for files larger than memory, pipes, or several arrays in one file.
#ifndef PALLADION_SEMANTICS_TENSOR_NPY_H_
#define PALLADION_SEMANTICS_TENSOR_NPY_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "semantics/base/dtype.h"
#include "semantics/tensor/tensor.h"

namespace palladion {

// The array in the file. `declared` is the type the caller expects: required for ml_dtypes' types, which NumPy saves as
// raw bytes, and checked for all others. Bits above those of a sub-byte type are dropped; any byte but 0 is true.
// InvalidArgument names the path and what to do: no such file, malformed, truncated, too long, another type.
// ResourceExhausted: no memory.
absl::StatusOr<Tensor> ReadNpy(const std::string& path, std::optional<DType> declared = std::nullopt);

// The same from bytes in memory; errors do not name a file.
absl::StatusOr<Tensor> ParseNpy(std::string_view file, std::optional<DType> declared = std::nullopt);

// The file is written whole or not at all (semantics/base/whole_file.h); a symbolic link is followed. InvalidArgument:
// the folder is missing or not writable, or `path` is a folder or device. ResourceExhausted: disk full, quota or file
// size limit.
absl::Status WriteNpy(const std::string& path, const Tensor& tensor);

// The same as bytes in memory.
std::string FormatNpy(const Tensor& tensor);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_TENSOR_NPY_H_
