// Conversion of the arrays and texts of the C ABI.
#ifndef PALLADION_EMU_FRONT_BRIDGE_C_ARRAYS_H_
#define PALLADION_EMU_FRONT_BRIDGE_C_ARRAYS_H_

#include <cstddef>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "emu/c_api.h"
#include "emu/emulate.h"
#include "semantics/base/cat.h"

namespace palladion::bridge {

char* CopyText(std::string_view text);                // for the caller to free with palladion_free_string
void SetText(char** place, const std::string& text);  // nothing where place is NULL
std::string ErrorText(const absl::Status& status);    // "INVALID_ARGUMENT: ...", printable
std::string_view TextOf(const char* text);            // NULL is the empty text
std::string_view TextOf(const char* text, std::size_t size);

// InvalidArgument: a null pointer, a type that is none, a rank below 0.
absl::StatusOr<std::vector<ConstArray>> ConstArrays(const palladion_array* arrays, std::size_t n);
absl::StatusOr<std::vector<MutableArray>> MutableArrays(const palladion_array* arrays, std::size_t n);

// Of a list that ends with NULL; nullptr is an empty one.
std::vector<std::string_view> TextsOf(const char* const* texts);

// Nothing may be thrown across the C ABI: what escapes (memory, above all) becomes a status.
template <class F>
absl::Status Guarded(const F& f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError("out of memory");
  } catch (const std::exception& e) {
    return absl::InternalError(Cat("exception: ", e.what()));
  }
}

}  // namespace palladion::bridge

#endif  // PALLADION_EMU_FRONT_BRIDGE_C_ARRAYS_H_
