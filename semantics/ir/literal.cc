#include "semantics/ir/literal.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>

#include "absl/strings/charconv.h"
#include "semantics/base/cat.h"
#include "semantics/base/decimal.h"
#include "semantics/tensor/element.h"

namespace palladion {
namespace {

template <DType kD>
constexpr bool kIsInteger = !Element<kD>::kIsFloat && kD != DType::kBool;

template <typename T>
ElementBytes BytesOf(T storage) {
  ElementBytes bytes{};
  std::memcpy(bytes.data(), &storage, sizeof(storage));
  return bytes;
}

std::uint64_t BitsOf(DType dtype, const std::byte* element) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, element, StorageBytes(dtype));
  return bits;
}

bool IsWholeNumber(std::string_view number) { return number.find_first_not_of("0123456789") == std::string_view::npos; }

// Digits in base 10 or 16 as an unsigned number; nullopt past 64 bits or without digits.
std::optional<std::uint64_t> ParseWhole(std::string_view digits, int base) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

absl::StatusOr<ElementBytes> ParseBits(DType dtype, bool negative, std::string_view number) {
  const int bits = Info(dtype).bits;
  const std::optional<std::uint64_t> value = ParseWhole(number.substr(2), 16);
  if (negative || !value.has_value() || (bits < 64 && *value >> bits != 0)) {
    return absl::InvalidArgumentError(Cat("expected 0x and the storage bits of one ", Name(dtype), ", at most ", bits,
                                          " bits and no sign, found ", negative ? "-" : "", number.substr(0, 40)));
  }
  return VisitDType(dtype, [&](auto tag) -> ElementBytes {
    constexpr DType kD = decltype(tag)::value;
    if constexpr (kIsInteger<kD>) {
      return BytesOf(Element<kD>::Wrap(*value));
    } else {
      ElementBytes bytes{};
      std::memcpy(bytes.data(), &*value, StorageBytes(kD));
      return bytes;
    }
  });
}

template <DType kD>
absl::StatusOr<ElementBytes> ParseInteger(bool negative, std::string_view number) {
  using E = Element<kD>;
  if (!IsWholeNumber(number)) {
    return absl::InvalidArgumentError(Cat("expected a whole number for ", Name(kD), ", found ", number.substr(0, 40)));
  }
  const std::optional<std::uint64_t> value = ParseWhole(number, 10);
  constexpr auto kMax = static_cast<std::uint64_t>(E::kMax);
  constexpr std::uint64_t kMagnitudeOfMin =
      std::uint64_t{0} - static_cast<std::uint64_t>(static_cast<std::int64_t>(E::kMin));
  const std::uint64_t limit = !negative ? kMax : kMagnitudeOfMin;
  if (!value.has_value() || *value > limit) {
    return absl::InvalidArgumentError(Cat("expected a ", Name(kD), ", which holds ", +E::kMin, " to ", +E::kMax,
                                          ", found ", negative ? "-" : "", number.substr(0, 40)));
  }
  return BytesOf(E::Wrap(negative ? std::uint64_t{0} - *value : *value));
}

float ParseFloat(std::string_view number) {
  float value = 0;
  const auto result = absl::from_chars(number.data(), number.data() + number.size(), value);
  return result.ec == std::errc::result_out_of_range && value >= 1 ? HUGE_VALF : value;
}

template <DType kD>
absl::StatusOr<ElementBytes> ParseFinite(bool negative, std::string_view number) {
  using E = Element<kD>;
  if constexpr (kD == DType::kF32) {
    const float value = ParseFloat(number);
    if (std::isfinite(value)) return BytesOf(negative ? -value : value);
  } else {
    const double magnitude = ParseDouble(number);
    const double value = negative ? -magnitude : magnitude;
    if constexpr (kD == DType::kF64) {
      if (std::isfinite(value)) return BytesOf(value);
    } else {
      const auto storage = E::FromDouble(value);
      const double back = E::ToDouble(storage);
      bool held = std::isfinite(value) && std::isfinite(back);
      // A type without infinity saturates: a decimal past its largest value would silently become another number.
      if constexpr (!E::kHasNaN) held = held && std::abs(value) <= E::ToDouble(E::kFormat.max_finite);
      if (held) return BytesOf(storage);
    }
  }
  return absl::InvalidArgumentError(Cat("expected a number that ", Name(kD), " holds, found ", negative ? "-" : "",
                                        number.substr(0, 40), "; write inf, nan or the 0x bits where one is meant"));
}

template <DType kD>
absl::StatusOr<ElementBytes> ParseSpecial(bool negative, std::string_view word) {
  using E = Element<kD>;
  const double value = word == "inf" ? HUGE_VAL : std::nan("");
  const auto storage = E::FromDouble(negative ? -value : value);
  const double back = static_cast<double>(E::ToDouble(storage));
  const bool held = word == "inf" ? std::isinf(back) : std::isnan(back) && !negative;
  if (!held) {
    return absl::InvalidArgumentError(Cat("expected a number that ", Name(kD), " holds, found ", negative ? "-" : "",
                                          word, "; write the 0x bits of the value that is meant"));
  }
  return BytesOf(storage);
}

// An exponent-only type has no sign or zero, so the smallest code needs its exact decimal like every other.
template <DType kD>
std::string NarrowText(std::uint64_t bits) {
  using E = Element<kD>;
  const auto storage = static_cast<StorageOf<kD>>(bits);
  const double value = E::ToDouble(storage);
  for (int digits = 0; digits < 17; ++digits) {
    const std::string text = ScientificText(value, digits);
    const bool negative = text[0] == '-';
    const double decimal = ParseDouble(std::string_view(text).substr(negative ? 1 : 0));
    if (E::FromDouble(negative ? -decimal : decimal) == storage) {
      const std::string shortest = ShortestDecimal(negative ? -decimal : decimal);
      std::string exact = ShortestDecimal(value);  // 448.0 rather than 450.0, which reads back to it too
      return exact.size() <= shortest.size() ? exact : shortest;
    }
  }
  return Cat("0x", absl::Hex(bits));
}

template <DType kD>
std::string FloatText(const std::byte* element) {
  using E = Element<kD>;
  StorageOf<kD> storage;
  std::memcpy(&storage, element, sizeof(storage));
  const std::uint64_t bits = BitsOf(kD, element);
  const double value = E::ToDouble(storage);
  if (std::isnan(value)) {
    const ElementBytes quiet = BytesOf(E::kQuietNaN);
    return BitsOf(kD, quiet.data()) == bits ? "nan" : Cat("0x", absl::Hex(bits));
  }
  if constexpr (E::kBits < 8) {
    if (bits >> E::kBits != 0) return Cat("0x", absl::Hex(bits));  // no code of the type
  }
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  if constexpr (kD == DType::kF32) return ShortestDecimal(storage);
  if constexpr (kD == DType::kF64) return ShortestDecimal(value);
  return NarrowText<kD>(bits);
}

template <typename T>
std::string Shortest(T value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::string text = ShortestText(value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

std::string ShortestDecimal(double value) { return Shortest(value); }
std::string ShortestDecimal(float value) { return Shortest(value); }

double ParseDouble(std::string_view number) {
  double value = 0;
  const auto result = absl::from_chars(number.data(), number.data() + number.size(), value);
  // Out of range both ways: absl leaves the largest finite number, or the nearest tiny one or zero.
  return result.ec == std::errc::result_out_of_range && value >= 1 ? HUGE_VAL : value;
}

absl::StatusOr<ElementBytes> ParseNumber(DType dtype, bool negative, std::string_view number) {
  if (number.substr(0, 2) == "0x") {
    const bool not_bool = IsBool(dtype) && number != "0x0" && number != "0x1";
    if (!not_bool) return ParseBits(dtype, negative, number);
  }
  return VisitDType(dtype, [&](auto tag) -> absl::StatusOr<ElementBytes> {
    constexpr DType kD = decltype(tag)::value;
    const bool is_truth = number == "true" || number == "false";
    if constexpr (kD == DType::kBool) {
      if (is_truth && !negative) return BytesOf(static_cast<std::uint8_t>(number == "true"));
      return absl::InvalidArgumentError(
          Cat("expected true or false for bool, found ", negative ? "-" : "", number.substr(0, 40)));
    } else if constexpr (kIsInteger<kD>) {
      return ParseInteger<kD>(negative, number);
    } else {
      if (number == "inf" || number == "nan") return ParseSpecial<kD>(negative, number);
      if (is_truth) return absl::InvalidArgumentError(Cat("expected a number for ", Name(kD), ", found ", number));
      return ParseFinite<kD>(negative, number);
    }
  });
}

std::string NumberText(DType dtype, const std::byte* element) {
  return VisitDType(dtype, [&](auto tag) -> std::string {
    constexpr DType kD = decltype(tag)::value;
    if constexpr (kD == DType::kBool) {
      return *element != std::byte{0} ? "true" : "false";  // any other byte reads as true
    } else if constexpr (kIsInteger<kD>) {
      StorageOf<kD> value;
      std::memcpy(&value, element, sizeof(value));
      return Cat(+Element<kD>::Wrap(static_cast<std::uint64_t>(value)));
    } else {
      return FloatText<kD>(element);
    }
  });
}

}  // namespace palladion
