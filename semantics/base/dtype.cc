#include "semantics/base/dtype.h"

#include <array>

namespace palladion {
namespace {

constexpr std::array<DTypeInfo, kDTypeCount> kInfos = {{
    {DType::kBool, "bool", "bool", DTypeKind::kBool, 1, 1},
    {DType::kI2, "i2", "int2", DTypeKind::kSigned, 2, 1},
    {DType::kI4, "i4", "int4", DTypeKind::kSigned, 4, 1},
    {DType::kI8, "i8", "int8", DTypeKind::kSigned, 8, 1},
    {DType::kI16, "i16", "int16", DTypeKind::kSigned, 16, 2},
    {DType::kI32, "i32", "int32", DTypeKind::kSigned, 32, 4},
    {DType::kI64, "i64", "int64", DTypeKind::kSigned, 64, 8},
    {DType::kU2, "u2", "uint2", DTypeKind::kUnsigned, 2, 1},
    {DType::kU4, "u4", "uint4", DTypeKind::kUnsigned, 4, 1},
    {DType::kU8, "u8", "uint8", DTypeKind::kUnsigned, 8, 1},
    {DType::kU16, "u16", "uint16", DTypeKind::kUnsigned, 16, 2},
    {DType::kU32, "u32", "uint32", DTypeKind::kUnsigned, 32, 4},
    {DType::kU64, "u64", "uint64", DTypeKind::kUnsigned, 64, 8},
    {DType::kF16, "f16", "float16", DTypeKind::kFloat, 16, 2},
    {DType::kBF16, "bf16", "bfloat16", DTypeKind::kFloat, 16, 2},
    {DType::kF32, "f32", "float32", DTypeKind::kFloat, 32, 4},
    {DType::kF64, "f64", "float64", DTypeKind::kFloat, 64, 8},
    {DType::kF8E3M4, "f8e3m4", "float8_e3m4", DTypeKind::kFloat, 8, 1},
    {DType::kF8E4M3, "f8e4m3", "float8_e4m3", DTypeKind::kFloat, 8, 1},
    {DType::kF8E4M3FN, "f8e4m3fn", "float8_e4m3fn", DTypeKind::kFloat, 8, 1},
    {DType::kF8E4M3B11FNUZ, "f8e4m3b11fnuz", "float8_e4m3b11fnuz", DTypeKind::kFloat, 8, 1},
    {DType::kF8E4M3FNUZ, "f8e4m3fnuz", "float8_e4m3fnuz", DTypeKind::kFloat, 8, 1},
    {DType::kF8E5M2, "f8e5m2", "float8_e5m2", DTypeKind::kFloat, 8, 1},
    {DType::kF8E5M2FNUZ, "f8e5m2fnuz", "float8_e5m2fnuz", DTypeKind::kFloat, 8, 1},
    {DType::kF8E8M0FNU, "f8e8m0fnu", "float8_e8m0fnu", DTypeKind::kFloat, 8, 1},
    {DType::kF6E2M3FN, "f6e2m3fn", "float6_e2m3fn", DTypeKind::kFloat, 6, 1},
    {DType::kF6E3M2FN, "f6e3m2fn", "float6_e3m2fn", DTypeKind::kFloat, 6, 1},
    {DType::kF4E2M1FN, "f4e2m1fn", "float4_e2m1fn", DTypeKind::kFloat, 4, 1},
}};

constexpr bool InfosFollowEnumOrder() {
  for (int i = 0; i < kDTypeCount; ++i) {
    if (static_cast<int>(kInfos[i].dtype) != i) return false;
  }
  return true;
}
static_assert(InfosFollowEnumOrder());

}  // namespace

const DTypeInfo& Info(DType dtype) { return kInfos[static_cast<std::size_t>(dtype)]; }

absl::Span<const DTypeInfo> AllDTypes() { return kInfos; }

std::optional<DType> DTypeFromName(std::string_view name) {
  for (const DTypeInfo& info : kInfos) {
    if (info.name == name) return info.dtype;
  }
  return std::nullopt;
}

std::optional<DType> DTypeFromNumpyName(std::string_view name) {
  for (const DTypeInfo& info : kInfos) {
    if (info.numpy_name == name) return info.dtype;
  }
  return std::nullopt;
}

}  // namespace palladion
