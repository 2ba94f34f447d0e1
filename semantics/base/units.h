// Bytes and elements, which must not be confused with each other: an offset in bytes beside the number of an element, a
// size in bytes beside a number of elements. Based on: the rule that a signature or a struct with both units
// distinguishes them by type (docs/develop/contributing.md); loops take value() once and use plain integers. Not
// distinguished: offsets from lengths, and elements of one array from elements of another.
#ifndef PALLADION_SEMANTICS_BASE_UNITS_H_
#define PALLADION_SEMANTICS_BASE_UNITS_H_

#include <compare>
#include <cstddef>
#include <cstdint>

namespace palladion {

// So many of one unit, or the place that has so many before it.
template <class Unit>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(std::int64_t value) : value_(value) {}

  constexpr std::int64_t value() const { return value_; }
  constexpr std::size_t size() const { return static_cast<std::size_t>(value_); }  // for containers and memcpy

  constexpr Quantity& operator+=(Quantity more) {
    value_ += more.value_;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.value_ + b.value_); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.value_ - b.value_); }
  friend constexpr Quantity operator*(std::int64_t times, Quantity each) { return Quantity(times * each.value_); }
  friend constexpr Quantity operator/(Quantity all, std::int64_t parts) { return Quantity(all.value_ / parts); }
  friend constexpr std::int64_t operator/(Quantity all, Quantity each) { return all.value_ / each.value_; }
  friend constexpr auto operator<=>(Quantity a, Quantity b) = default;

 private:
  std::int64_t value_ = 0;
};

using ByteCount = Quantity<struct ByteUnit>;
using ElementCount = Quantity<struct ElementUnit>;

// How many bytes an element has: what leads from one unit to the other.
class ElementSize {
 public:
  constexpr explicit ElementSize(std::int64_t bytes) : bytes_(bytes) {}

  constexpr std::int64_t value() const { return bytes_; }
  constexpr std::size_t size() const { return static_cast<std::size_t>(bytes_); }

  friend constexpr bool operator==(ElementSize a, ElementSize b) = default;

 private:
  std::int64_t bytes_;
};

constexpr ByteCount operator*(ElementCount elements, ElementSize each) {
  return ByteCount(elements.value() * each.value());
}
// The element that a byte lies in, and how many whole ones so many bytes are.
constexpr ElementCount operator/(ByteCount bytes, ElementSize each) {
  return ElementCount(bytes.value() / each.value());
}

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_BASE_UNITS_H_
