// The header of a .npy file: magic, version, and a Python dict literal that names element type, order and shape.
// Based on: NumPy's format description (NEP 1; versions 1.0, 2.0 and 3.0). Structured, object, string, complex, date
// and big-endian arrays are refused with what to do about them.
#ifndef PALLADION_SEMANTICS_TENSOR_NPY_HEADER_H_
#define PALLADION_SEMANTICS_TENSOR_NPY_HEADER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "semantics/base/dtype.h"

namespace palladion {

// Headers reach at most this far into a file; longer ones are refused (NumPy reads no more than 10,000 bytes).
inline constexpr std::size_t kMaxNpyDataOffset = (std::size_t{1} << 16) + 12;

struct NpyHeader {
  std::string descr;  // "<f4"
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
  std::size_t data_offset = 0;  // bytes from the file's start
};

// Reads the header at the start of `file`, of which kMaxNpyDataOffset bytes are enough. InvalidArgument says what is
// wrong with it, without the file's name.
absl::StatusOr<NpyHeader> ParseNpyHeader(std::string_view file);

// The element type of a descr. NumPy has no codes for ml_dtypes' types and writes them as raw bytes, "<V1" and "<V2";
// those need `declared`. A descr that names its type must agree with `declared` where that is given. InvalidArgument
// otherwise.
absl::StatusOr<DType> DTypeFromNpyDescr(std::string_view descr, std::optional<DType> declared);

// The header np.save writes for a C-ordered array, byte for byte, except that f8e5m2 is "<V1": np.save writes "<f1",
// which np.load cannot read. After np.load, `.view(ml_dtypes.bfloat16)` and its kin give ml_dtypes' types back.
std::string NpyHeaderFor(DType dtype, absl::Span<const std::int64_t> shape);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_TENSOR_NPY_HEADER_H_
