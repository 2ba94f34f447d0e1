// The handler of XLA's typed custom call "palladion_call": buffers as they lie, attributes text, kernel, target,
// options (strings) and session (i64), as palladion_call_request has them.
//
// Based on: XLA's FFI, API 0.1 to 0.3 (jaxlib 0.8 to 0.10), of which it uses the C header only: every struct it reads
// is the same in these, so it returns the calling XLA's version, and one binary serves all. What it does not do: 2- and
// 4-bit types and PRNG keys, which come in carriers (python/palladion/jax/carriers.py): the kernel's own type is what
// counts, where its storage has the size of the carrier's.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "emu/front/bridge/bridge.h"
#include "emu/front/bridge/c_arrays.h"
#include "semantics/base/cat.h"
#include "semantics/base/dtype.h"
#include "semantics/base/printable.h"
#include "semantics/base/status.h"
#include "xla/ffi/api/c_api.h"

namespace palladion {
namespace {

XLA_FFI_Error* MakeError(const XLA_FFI_Api* api, const absl::Status& status) {
  const std::string text = PrintableLines(ToStd(status.message()));
  XLA_FFI_Error_Create_Args args = {};
  args.struct_size = XLA_FFI_Error_Create_Args_STRUCT_SIZE;
  args.message = text.c_str();
  args.errc = static_cast<XLA_FFI_Error_Code>(status.code());  // both are the canonical codes
  return api->XLA_FFI_Error_Create(&args);
}

absl::StatusOr<DType> DTypeOf(XLA_FFI_DataType type) {
  static constexpr std::pair<XLA_FFI_DataType, DType> kTypes[] = {
      {XLA_FFI_DataType_PRED, DType::kBool},
      {XLA_FFI_DataType_S8, DType::kI8},
      {XLA_FFI_DataType_S16, DType::kI16},
      {XLA_FFI_DataType_S32, DType::kI32},
      {XLA_FFI_DataType_S64, DType::kI64},
      {XLA_FFI_DataType_U8, DType::kU8},
      {XLA_FFI_DataType_U16, DType::kU16},
      {XLA_FFI_DataType_U32, DType::kU32},
      {XLA_FFI_DataType_U64, DType::kU64},
      {XLA_FFI_DataType_F16, DType::kF16},
      {XLA_FFI_DataType_BF16, DType::kBF16},
      {XLA_FFI_DataType_F32, DType::kF32},
      {XLA_FFI_DataType_F64, DType::kF64},
      {XLA_FFI_DataType_F8E3M4, DType::kF8E3M4},
      {XLA_FFI_DataType_F8E4M3, DType::kF8E4M3},
      {XLA_FFI_DataType_F8E4M3FN, DType::kF8E4M3FN},
      {XLA_FFI_DataType_F8E4M3B11FNUZ, DType::kF8E4M3B11FNUZ},
      {XLA_FFI_DataType_F8E4M3FNUZ, DType::kF8E4M3FNUZ},
      {XLA_FFI_DataType_F8E5M2, DType::kF8E5M2},
      {XLA_FFI_DataType_F8E5M2FNUZ, DType::kF8E5M2FNUZ},
      {XLA_FFI_DataType_F8E8M0FNU, DType::kF8E8M0FNU},
  };
  for (const auto& [xla, ours] : kTypes) {
    if (xla == type) return ours;
  }
  return absl::UnimplementedError(Cat("buffers of XLA's data type ", static_cast<int>(type), " do not reach kernels"));
}

// 2-, 4- and 6-bit elements, one a byte, come as bytes: what type they are of stands in `types`, one letter string
// each.
template <class Array, class Byte>
absl::StatusOr<Array> ArrayOf(const XLA_FFI_Buffer& buffer, std::string_view type) {
  PALLADION_ASSIGN_OR_RETURN(DType dtype, DTypeOf(buffer.dtype));
  if (!type.empty()) {
    const std::optional<DType> carried = DTypeFromName(type);
    if (!carried.has_value() || StorageBytes(*carried) != StorageBytes(dtype))
      return absl::InternalError(Cat("a buffer of ", Name(dtype), " cannot carry '", type, "'"));
    dtype = *carried;
  }
  return Array{dtype, absl::MakeConstSpan(buffer.dims, static_cast<std::size_t>(buffer.rank)),
               static_cast<Byte*>(buffer.data)};
}

struct Attributes {
  bridge::BridgeRequest request;
  std::string_view types;  // the carried types of all operands and results, parted by commas; "" is the buffer's own
};

absl::StatusOr<Attributes> AttributesOf(const XLA_FFI_Attrs& attrs) {
  Attributes found;
  const std::pair<std::string_view, std::string_view*> texts[] = {{"text", &found.request.text},
                                                                  {"kernel", &found.request.kernel},
                                                                  {"target", &found.request.target},
                                                                  {"options", &found.request.options},
                                                                  {"types", &found.types}};
  for (std::int64_t i = 0; i < attrs.size; ++i) {
    const std::string_view name(attrs.names[i]->ptr, attrs.names[i]->len);
    if (name == "session" && attrs.types[i] == XLA_FFI_AttrType_SCALAR) {
      const auto& scalar = *static_cast<const XLA_FFI_Scalar*>(attrs.attrs[i]);
      if (scalar.dtype == XLA_FFI_DataType_S64) found.request.session = *static_cast<const std::int64_t*>(scalar.value);
      continue;
    }
    const auto* place =
        std::find_if(std::begin(texts), std::end(texts), [&](const auto& t) { return t.first == name; });
    if (place == std::end(texts) || attrs.types[i] != XLA_FFI_AttrType_STRING)
      return absl::InternalError(Cat("palladion_call has no attribute '", name, "' of this type"));
    const auto& value = *static_cast<const XLA_FFI_ByteSpan*>(attrs.attrs[i]);
    *place->second = std::string_view(value.ptr, value.len);
  }
  return found;
}

std::string_view NextOf(std::string_view& list) {
  const std::size_t comma = list.find(',');
  const std::string_view first = list.substr(0, comma);
  list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
  return first;
}

absl::Status Call(const XLA_FFI_CallFrame& frame) {
  PALLADION_ASSIGN_OR_RETURN(Attributes attributes, AttributesOf(frame.attrs));
  std::vector<ConstArray> inputs;
  std::vector<MutableArray> outputs;
  for (std::int64_t i = 0; i < frame.args.size; ++i) {
    const auto& buffer = *static_cast<const XLA_FFI_Buffer*>(frame.args.args[i]);
    PALLADION_ASSIGN_OR_RETURN(ConstArray array,
                               (ArrayOf<ConstArray, const std::byte>(buffer, NextOf(attributes.types))));
    inputs.push_back(array);
  }
  for (std::int64_t i = 0; i < frame.rets.size; ++i) {
    const auto& buffer = *static_cast<const XLA_FFI_Buffer*>(frame.rets.rets[i]);
    PALLADION_ASSIGN_OR_RETURN(MutableArray array,
                               (ArrayOf<MutableArray, std::byte>(buffer, NextOf(attributes.types))));
    outputs.push_back(array);
  }
  return bridge::ProcessBridge().Call(attributes.request, inputs, outputs);
}

// XLA queries the version before anything else, and refuses a handler that is newer than itself.
void AnswerVersion(const XLA_FFI_CallFrame& frame) {
  auto* extension = reinterpret_cast<XLA_FFI_Metadata_Extension*>(frame.extension_start);
  XLA_FFI_Api_Version& version = extension->metadata->api_version;
  version.struct_size = XLA_FFI_Api_Version_STRUCT_SIZE;
  version.extension_start = nullptr;
  version.major_version = XLA_FFI_API_MAJOR;
  constexpr int kOldest = 1;  // an XLA of that version does not pass its own with the query
  version.minor_version =
      frame.api == nullptr ? kOldest : std::min(XLA_FFI_API_MINOR, frame.api->api_version.minor_version);
  extension->metadata->traits = 0;
  extension->metadata->state_type_id = XLA_FFI_UNKNOWN_TYPE_ID;
}

}  // namespace
}  // namespace palladion

extern "C" PALLADION_API XLA_FFI_Error* PalladionCall(XLA_FFI_CallFrame* frame) {
  if (frame->extension_start != nullptr && frame->extension_start->type == XLA_FFI_Extension_Metadata) {
    palladion::AnswerVersion(*frame);
    return nullptr;
  }
  const absl::Status status = palladion::bridge::Guarded([&] { return palladion::Call(*frame); });
  return status.ok() ? nullptr : palladion::MakeError(frame->api, status);
}
