#include "emu/front/bridge/c_arrays.h"

#include <cstdlib>
#include <cstring>

#include "emu/kernel/out_of_memory.h"
#include "semantics/base/dtype.h"
#include "semantics/base/printable.h"
#include "semantics/base/status.h"

namespace palladion::bridge {
namespace {

absl::StatusOr<DType> DTypeOf(const palladion_array& array) {
  const char* name = array.dtype == nullptr ? "" : array.dtype;
  if (auto dtype = DTypeFromName(name)) return *dtype;
  return absl::InvalidArgumentError(
      Cat("unknown dtype '", name, "'; the names are those of kernel text, such as f32 or bf16"));
}

template <class Array, class Byte>
absl::StatusOr<std::vector<Array>> Convert(const palladion_array* arrays, std::size_t n) {
  if (n > 0 && arrays == nullptr)
    return absl::InvalidArgumentError(Cat("expected ", n, " arrays; found the null pointer"));
  std::vector<Array> converted;
  for (std::size_t i = 0; i < n; ++i) {
    if (arrays[i].rank < 0 || (arrays[i].rank > 0 && arrays[i].shape == nullptr)) {
      return absl::InvalidArgumentError(Cat("array ", i,
                                            " must have a rank of 0 or more and as many sizes; found rank ",
                                            arrays[i].rank, arrays[i].shape == nullptr ? " and no sizes" : ""));
    }
    PALLADION_ASSIGN_OR_RETURN(const DType dtype, DTypeOf(arrays[i]));
    converted.push_back({dtype, absl::MakeSpan(arrays[i].shape, static_cast<std::size_t>(arrays[i].rank)),
                         static_cast<Byte*>(arrays[i].data)});
  }
  return converted;
}

// Errors that say all of it in their message. An internal one is a mistake of ours, and is to be seen as one.
bool IsPlain(absl::StatusCode code) {
  return code == absl::StatusCode::kInvalidArgument || code == absl::StatusCode::kNotFound ||
         code == absl::StatusCode::kUnimplemented || code == absl::StatusCode::kResourceExhausted ||
         code == absl::StatusCode::kFailedPrecondition;
}

}  // namespace

char* CopyText(std::string_view text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) return nullptr;
  if (!text.empty()) std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = '\0';
  return copy;
}

void SetText(char** place, const std::string& text) {
  if (place != nullptr) *place = CopyText(text);
}

palladion_code SetError(const absl::Status& status, palladion_error* error) {
  const auto code = static_cast<palladion_code>(ExitCodeOf(status));
  if (status.ok() || error == nullptr) return code;
  const std::string message = IsPlain(status.code())
                                  ? std::string(ToStd(status.message()))
                                  : Cat(absl::StatusCodeToString(status.code()), ": ", status.message());
  *error = {.code = code,
            .interrupted = status.code() == absl::StatusCode::kCancelled ? 1 : 0,
            .out_of_memory = kernel::IsOutOfMemory(status) ? 1 : 0,
            .message = CopyText(PrintableLines(message))};
  return code;
}

std::string_view TextOf(const char* text) { return text == nullptr ? std::string_view() : std::string_view(text); }

std::string_view TextOf(const char* text, std::size_t size) {
  return text == nullptr ? std::string_view() : std::string_view(text, size);
}

absl::StatusOr<std::vector<ConstArray>> ConstArrays(const palladion_array* arrays, std::size_t n) {
  return Convert<ConstArray, const std::byte>(arrays, n);
}

absl::StatusOr<std::vector<MutableArray>> MutableArrays(const palladion_array* arrays, std::size_t n) {
  return Convert<MutableArray, std::byte>(arrays, n);
}

std::vector<std::string_view> TextsOf(const char* const* texts) {
  std::vector<std::string_view> found;
  for (; texts != nullptr && *texts != nullptr; ++texts) found.emplace_back(*texts);
  return found;
}

}  // namespace palladion::bridge
