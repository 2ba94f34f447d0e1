#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "absl/strings/charconv.h"
#include "semantics/base/decimal.h"

namespace palladion {
namespace {

// A number is 0.DIGITS times ten to the power of `point`.
struct Digits {
  bool negative = false;
  std::string digits;
  int point = 0;
};

double Read(const std::string& text, double) { return std::strtod(text.c_str(), nullptr); }
float Read(const std::string& text, float) { return std::strtof(text.c_str(), nullptr); }

std::string Printed(const char* format, double value, int digits) {
  std::array<char, 400> buffer;
  return {buffer.data(), static_cast<std::size_t>(std::snprintf(buffer.data(), buffer.size(), format, digits, value))};
}

// `text` is printf's %e.
Digits Parsed(std::string_view text) {
  Digits out;
  out.negative = text.front() == '-';
  if (out.negative) text.remove_prefix(1);
  const std::size_t exponent = text.find('e');
  out.point = std::atoi(std::string(text.substr(exponent + 1)).c_str()) + 1;
  out.digits = text.front();
  if (exponent > 2) out.digits.append(text.substr(2, exponent - 2));
  return out;
}

std::string Scientific(const Digits& number) {
  std::string text = number.negative ? "-" : "";
  text += number.digits.front();
  if (number.digits.size() > 1) text.append(".").append(number.digits, 1);
  const int exponent = number.point - 1;
  text += exponent < 0 ? "e-" : "e+";
  if (std::abs(exponent) < 10) text += '0';
  return text + std::to_string(std::abs(exponent));
}

// The next number of as many digits, away from zero.
Digits Next(Digits number) {
  std::size_t at = number.digits.size();
  while (at > 0 && number.digits[at - 1] == '9') number.digits[--at] = '0';
  if (at > 0) {
    ++number.digits[at - 1];
    return number;
  }
  number.digits.insert(0, "1").pop_back();
  ++number.point;
  return number;
}

// The fewest digits that read back as `value`, and of those the nearest. Numbers above a power of two lie twice as far
// apart as those below, so the nearest of few digits may read back as another number where the next one does not.
template <class T>
Digits Shortest(T value) {
  for (int digits = 0;; ++digits) {
    const Digits nearest = Parsed(Printed("%.*e", static_cast<double>(value), digits));
    for (const Digits& number : {nearest, Next(nearest)}) {
      if (Read(Scientific(number), value) == value) return number;
    }
  }
}

template <class T>
std::string Fixed(T value, const Digits& number) {
  const int size = static_cast<int>(number.digits.size());
  if (number.point >= size) return Printed("%.*f", static_cast<double>(value), 0);
  std::string text = number.negative ? "-" : "";
  if (number.point <= 0) return text.append("0.").append(static_cast<std::size_t>(-number.point), '0') + number.digits;
  const std::size_t whole = static_cast<std::size_t>(number.point);
  return text.append(number.digits, 0, whole).append(".").append(number.digits, whole);
}

// Which of the two forms is shorter is known from the number of digits alone; an exponent of three digits is never
// where they are close.
template <class T>
std::string Text(T value) {
  if (value == 0) return std::signbit(value) ? "-0" : "0";
  const Digits number = Shortest(value);
  const int size = static_cast<int>(number.digits.size()), exponent = number.point - size;
  const int one = size == 1 ? 1 : 0;  // no point in the form with an exponent
  const bool fixed = exponent >= -(size + 3) + one && exponent <= 5 - one;
  return fixed ? Fixed(value, number) : Scientific(number);
}

}  // namespace

std::from_chars_result ReadDecimal(const char* from, const char* to, double& value, std::chars_format format) {
  // Abseil reads hexadecimal numbers by their prefix; of 0x10 the 0 alone is a decimal one.
  const char* const first = from != to && *from == '-' ? from + 1 : from;
  if (to - first > 1 && *first == '0' && (first[1] == 'x' || first[1] == 'X')) to = first + 1;
  double read = 0;
  const auto wanted = static_cast<absl::chars_format>(static_cast<int>(format));
  const absl::from_chars_result result = absl::from_chars(from, to, read, wanted);
  if (result.ec == std::errc()) value = read;
  return {result.ptr, result.ec};
}

std::string ShortestText(double value) { return Text(value); }
std::string ShortestText(float value) { return Text(value); }
std::string ShortestFixedText(double value) {
  if (value == 0) return Text(value);
  return Fixed(value, Shortest(value));
}
std::string ScientificText(double value, int digits) { return Printed("%.*e", value, digits); }

}  // namespace palladion
