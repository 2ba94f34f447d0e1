// Element types: their names, kinds and widths. Values of a type live in dense row-major storage of `storage_bytes`
// per element; types narrower than a byte take one byte each (as NumPy and ml_dtypes store them).
// Based on: JAX dtypes, ml_dtypes, OCP Microscaling Formats v1.0.
#ifndef PALLADION_SEMANTICS_BASE_DTYPE_H_
#define PALLADION_SEMANTICS_BASE_DTYPE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/types/span.h"

namespace palladion {

enum class DType : std::uint8_t {
  kBool,
  kI2,
  kI4,
  kI8,
  kI16,
  kI32,
  kI64,
  kU2,
  kU4,
  kU8,
  kU16,
  kU32,
  kU64,
  kF16,
  kBF16,
  kF32,
  kF64,
  kF8E3M4,
  kF8E4M3,
  kF8E4M3FN,
  kF8E4M3B11FNUZ,
  kF8E4M3FNUZ,
  kF8E5M2,
  kF8E5M2FNUZ,
  kF8E8M0FNU,
  kF6E2M3FN,
  kF6E3M2FN,
  kF4E2M1FN,
};
inline constexpr int kDTypeCount = static_cast<int>(DType::kF4E2M1FN) + 1;

enum class DTypeKind : std::uint8_t { kBool, kSigned, kUnsigned, kFloat };

struct DTypeInfo {
  DType dtype;
  std::string_view name;        // as kernel text spells it: "f8e4m3fn"
  std::string_view numpy_name;  // as NumPy and ml_dtypes spell it: "float8_e4m3fn"
  DTypeKind kind;
  int bits;
  int storage_bytes;
};

const DTypeInfo& Info(DType dtype);
absl::Span<const DTypeInfo> AllDTypes();
std::optional<DType> DTypeFromName(std::string_view name);
std::optional<DType> DTypeFromNumpyName(std::string_view name);

inline std::string_view Name(DType dtype) { return Info(dtype).name; }
inline std::size_t StorageBytes(DType dtype) { return static_cast<std::size_t>(Info(dtype).storage_bytes); }
inline bool IsFloat(DType dtype) { return Info(dtype).kind == DTypeKind::kFloat; }
inline bool IsSigned(DType dtype) { return Info(dtype).kind == DTypeKind::kSigned; }
inline bool IsUnsigned(DType dtype) { return Info(dtype).kind == DTypeKind::kUnsigned; }
inline bool IsInteger(DType dtype) { return IsSigned(dtype) || IsUnsigned(dtype); }
inline bool IsBool(DType dtype) { return dtype == DType::kBool; }

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_BASE_DTYPE_H_
