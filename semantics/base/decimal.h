// Floating-point numbers from and to decimal text. Based on std::from_chars and std::to_chars (decimal.cc);
// decimal_wasm.cc gives the same with Abseil and printf, because emscripten 3.1.6 comes with libc++ 13, whose
// <charconv> has integers only. Only finite numbers are written.
#ifndef PALLADION_SEMANTICS_BASE_DECIMAL_H_
#define PALLADION_SEMANTICS_BASE_DECIMAL_H_

#include <charconv>
#include <string>

namespace palladion {

// std::from_chars: not hexadecimal.
std::from_chars_result ReadDecimal(const char* from, const char* to, double& value, std::chars_format format);

// The fewest digits that read back as the same number, with or without an exponent, whichever is shorter.
std::string ShortestText(double value);
std::string ShortestText(float value);

// The same without an exponent.
std::string ShortestFixedText(double value);

// One digit, a point, `digits` more and an exponent.
std::string ScientificText(double value, int digits);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_BASE_DECIMAL_H_
