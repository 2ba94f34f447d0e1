#include "semantics/base/json.h"

#include <cmath>
#include <cstdio>

#include "semantics/base/decimal.h"
#include "semantics/base/printable.h"

namespace palladion {

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

namespace {

// Most text: it is copied in one go.
bool StandsAsItIs(char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; }

void AppendQuoted(std::string_view text, std::string& out) {
  out += '"';
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t plain = i;
    while (i < text.size() && StandsAsItIs(text[i])) ++i;
    out.append(text, plain, i - plain);
    if (i == text.size()) break;
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
  out += '"';
}

}  // namespace

std::string JsonString(std::string_view text) {
  std::string out;
  AppendQuoted(text, out);
  return out;
}

void JsonWriter::Separate() {
  if (!after_key_ && !first_) json_ += ", ";
  after_key_ = first_ = false;
}

std::string ForScript(std::string_view json) {
  std::string safe;
  safe.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    const bool ends = json[i] == '<' && i + 1 < json.size() && (json[i + 1] == '/' || json[i + 1] == '!');
    ends ? safe.append("\\u003c") : safe.append(1, json[i]);
  }
  return safe;
}

JsonWriter& JsonWriter::Raw(std::string_view text) {
  Separate();
  json_ += text;
  return *this;
}

JsonWriter& JsonWriter::Key(std::string_view name) {
  String(name);
  json_ += ": ";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::Open(char bracket) {
  Raw({&bracket, 1});
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::Close(char bracket) {
  json_ += bracket;
  first_ = false;
  return *this;
}

JsonWriter& JsonWriter::String(std::string_view text) {
  Separate();
  AppendQuoted(text, json_);
  return *this;
}
JsonWriter& JsonWriter::Number(std::int64_t number) { return Raw(std::to_string(number)); }
JsonWriter& JsonWriter::Real(double number) {
  if (!std::isfinite(number)) return Null();
  return Raw(ShortestText(number));
}
JsonWriter& JsonWriter::Bool(bool value) { return Raw(value ? "true" : "false"); }
JsonWriter& JsonWriter::Null() { return Raw("null"); }
JsonWriter& JsonWriter::OptionalReal(const std::optional<double>& number) {
  return number.has_value() ? Real(*number) : Null();
}

}  // namespace palladion
