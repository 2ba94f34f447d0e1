// Conversion of the arrays, texts and errors of the C ABI.
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
#include "emu/kernel/out_of_memory.h"
#include "semantics/base/cat.h"

namespace palladion::bridge {

char* CopyText(std::string_view text);                // for the caller to free with palladion_free_string
void SetText(char** place, const std::string& text);  // nothing where place is NULL
std::string_view TextOf(const char* text);            // NULL is the empty text
std::string_view TextOf(const char* text, std::size_t size);

// The code of the status. Of an error, which goes to *error (nothing where that is NULL), too: for people the message
// alone, but for what no caller of ours makes, which begins with its name.
palladion_code SetError(const absl::Status& status, palladion_error* error);

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
    return kernel::OutOfMemory("out of memory");
  } catch (const std::exception& e) {
    return absl::InternalError(Cat("exception: ", e.what()));
  }
}

// What `print` gives, for the caller to free, or NULL and its error.
template <class Print>
char* Printed(const Print& print, palladion_error* error) {
  char* text = nullptr;
  const absl::Status status = Guarded([&]() -> absl::Status {
    const absl::StatusOr<std::string> printed = print();
    if (printed.ok()) text = CopyText(*printed);
    return printed.status();
  });
  SetError(status, error);
  return text;
}

}  // namespace palladion::bridge

#endif  // PALLADION_EMU_FRONT_BRIDGE_C_ARRAYS_H_
