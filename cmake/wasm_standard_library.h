// What libc++ 13, with which Debian 12's emscripten comes, does not have of C++20. Included before every file of the
// preset wasm and by none.
#ifndef PALLADION_CMAKE_WASM_STANDARD_LIBRARY_H_
#define PALLADION_CMAKE_WASM_STANDARD_LIBRARY_H_

#include <bit>
#include <cmath>
#include <cstdlib>
#include <type_traits>

#ifndef __cpp_lib_bit_cast
namespace std {

template <class To, class From>
constexpr To bit_cast(const From& from) noexcept {
  static_assert(sizeof(To) == sizeof(From) && is_trivially_copyable_v<To> && is_trivially_copyable_v<From>);
  return __builtin_bit_cast(To, from);
}

}  // namespace std
#endif

#endif  // PALLADION_CMAKE_WASM_STANDARD_LIBRARY_H_
