#include "semantics/base/decimal.h"

#include <array>

namespace palladion {
namespace {

template <class T, class... Format>
std::string Text(T value, Format... format) {
  std::array<char, 400> buffer;  // 309 digits before the point, or 324 zeros behind it and 17 digits
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format...).ptr};
}

}  // namespace

std::from_chars_result ReadDecimal(const char* from, const char* to, double& value, std::chars_format format) {
  return std::from_chars(from, to, value, format);
}

std::string ShortestText(double value) { return Text(value); }
std::string ShortestText(float value) { return Text(value); }
std::string ShortestFixedText(double value) { return Text(value, std::chars_format::fixed); }
std::string ScientificText(double value, int digits) { return Text(value, std::chars_format::scientific, digits); }

}  // namespace palladion
