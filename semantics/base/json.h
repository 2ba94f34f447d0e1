// Writing JSON: strings are quoted as RFC 8259 requires. Bytes that are not UTF-8 are written as U+FFFD, and characters
// that a terminal takes for commands are escaped although JSON does not require it.
#ifndef PALLADION_SEMANTICS_BASE_JSON_H_
#define PALLADION_SEMANTICS_BASE_JSON_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace palladion {

std::string JsonString(std::string_view text);

// The same JSON where a page has it in a script element: "</" and "<!" could end that, or hide its end.
std::string ForScript(std::string_view json);

// The length of the UTF-8 sequence that starts at `i`, or 0 where there is none.
std::size_t Utf8Length(std::string_view text, std::size_t i);

// Objects and lists, one member after the other, on one line. The caller closes what it opens.
class JsonWriter {
 public:
  JsonWriter& Key(std::string_view name);
  JsonWriter& Open(char bracket);  // '{' or '['
  JsonWriter& Close(char bracket);
  JsonWriter& String(std::string_view text);
  JsonWriter& Number(std::int64_t number);
  JsonWriter& Real(double number);  // the shortest that reads back the same; null for NaN and infinities
  JsonWriter& Bool(bool value);
  JsonWriter& Null();
  JsonWriter& OptionalReal(const std::optional<double>& number);  // null where there is none
  std::string Take() { return std::move(json_); }

 private:
  void Separate();
  JsonWriter& Raw(std::string_view text);
  std::string json_;
  bool first_ = true, after_key_ = false;
};

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_BASE_JSON_H_
