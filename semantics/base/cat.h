// String concatenation that takes std::string_view: Debian's Abseil is built with its own string_view, which does not.
#ifndef PALLADION_SEMANTICS_BASE_CAT_H_
#define PALLADION_SEMANTICS_BASE_CAT_H_

#include <string>
#include <string_view>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace palladion {

inline absl::string_view ToAbsl(std::string_view s) { return absl::string_view(s.data(), s.size()); }
inline absl::string_view ToAbsl(const std::string& s) { return absl::string_view(s.data(), s.size()); }
inline std::string_view ToStd(absl::string_view s) { return std::string_view(s.data(), s.size()); }
template <typename T>
const T& ToAbsl(const T& part) {
  static_assert(!std::is_enum_v<T>, "an enumeration has a Name(); Abseil would write its number");
  return part;
}

// absl::StrCat of all parts: strings, numbers, absl::Hex, ...
template <typename... Parts>
std::string Cat(const Parts&... parts) {
  return absl::StrCat(ToAbsl(parts)...);
}

// Appends to *out without building the joined string first.
template <typename... Parts>
void Append(std::string* out, const Parts&... parts) {
  absl::StrAppend(out, ToAbsl(parts)...);
}

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_BASE_CAT_H_
