#include "emu/reports/json.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "emu/reports/printable.h"

namespace palladion::reports {

std::size_t Utf8Length(std::string_view text, std::size_t i) {
  const auto lead = static_cast<unsigned char>(text[i]);
  const std::size_t length = lead < 0x80                   ? 1
                             : lead >= 0xc2 && lead < 0xe0 ? 2
                             : lead >= 0xe0 && lead < 0xf0 ? 3
                             : lead >= 0xf0 && lead < 0xf5 ? 4
                                                           : 0;
  if (length == 0 || i + length > text.size()) return 0;
  for (std::size_t k = 1; k < length; ++k) {
    if ((static_cast<unsigned char>(text[i + k]) & 0xc0) != 0x80) return 0;
  }
  return length;
}

std::string JsonString(std::string_view text) {
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    const std::size_t length = Utf8Length(text, i);
    if (length == 0) {
      out += "\\ufffd";
      ++i;
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
      ++i;
    } else if (const std::uint32_t code = CodePointAt(text, i, length); IsUnprintable(code)) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(code));
      out += escaped;
      i += length;
    } else {
      out.append(text, i, length);
      i += length;
    }
  }
  return out + '"';
}

JsonWriter& JsonWriter::Raw(std::string_view text) {
  if (!after_key_ && !first_) json_ += ", ";
  after_key_ = first_ = false;
  json_ += text;
  return *this;
}

JsonWriter& JsonWriter::Key(std::string_view name) {
  Raw(JsonString(name) + ": ");
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::Open(char bracket) {
  Raw(std::string(1, bracket));
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::Close(char bracket) {
  json_ += bracket;
  first_ = false;
  return *this;
}

JsonWriter& JsonWriter::String(std::string_view text) { return Raw(JsonString(text)); }
JsonWriter& JsonWriter::Number(std::int64_t number) { return Raw(std::to_string(number)); }
JsonWriter& JsonWriter::Real(double number) {
  if (!std::isfinite(number)) return Null();
  std::array<char, 32> text{};
  return Raw({text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr});
}
JsonWriter& JsonWriter::Bool(bool value) { return Raw(value ? "true" : "false"); }
JsonWriter& JsonWriter::Null() { return Raw("null"); }

}  // namespace palladion::reports
