#include "emu/run/watch/value_hash.h"

#include <bit>
#include <cmath>
#include <type_traits>

#include "semantics/tensor/element.h"

namespace palladion::watch {
namespace {

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014; its constants are Stafford's variant 13).
std::uint64_t Mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

template <class T>
std::uint64_t BitsOf(T value) {
  if constexpr (sizeof(T) == 8) {
    return std::bit_cast<std::uint64_t>(value);
  } else if constexpr (sizeof(T) == 4) {
    return std::bit_cast<std::uint32_t>(value);
  } else if constexpr (sizeof(T) == 2) {
    return std::bit_cast<std::uint16_t>(value);
  } else {
    return std::bit_cast<std::uint8_t>(value);
  }
}

}  // namespace

std::uint64_t HashValue(DType dtype, const std::byte* data, std::size_t n) {
  return VisitDType(dtype, [&](auto tag) {
    using E = Element<decltype(tag)::value>;
    using T = typename E::Storage;
    const T* elements = reinterpret_cast<const T*>(data);
    std::uint64_t sum = 0, place = 0;
    for (std::size_t i = 0; i < n; ++i) {
      T element = elements[i];
      if constexpr (E::kIsFloat) {
        if constexpr (E::kHasNaN) {
          if (std::isnan(E::ToDouble(element))) element = E::kQuietNaN;
        }
      } else if constexpr (decltype(tag)::value == DType::kBool) {
        element = element != 0;
      }
      place += 0x9e3779b97f4a7c15u;
      sum += Mixed(BitsOf(element) + place);
    }
    return Mixed(sum + n);
  });
}

std::string HashText(std::uint64_t hash) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text(16, '0');
  for (std::size_t i = 16; i-- > 0; hash >>= 4) text[i] = kDigits[hash & 15];
  return text;
}

}  // namespace palladion::watch
