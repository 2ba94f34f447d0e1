#include "semantics/base/printable.h"

#include <cstdio>

#include "semantics/base/json.h"

namespace palladion {
namespace {

std::string Escape(std::uint32_t code) {
  char escaped[12];
  std::snprintf(escaped, sizeof escaped, code < 0x100 ? "\\x%02x" : "\\u%04x", static_cast<unsigned>(code));
  return escaped;
}

std::string Shown(std::string_view text, bool lines) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = Utf8Length(text, i);
    if (length == 0) {
      out += Escape(static_cast<unsigned char>(text[i++]));
      continue;
    }
    const std::uint32_t code = CodePointAt(text, i, length);
    if (code == '\n' || code == '\t') {
      out += lines ? std::string(1, text[i]) : code == '\n' ? "\\n" : "\\t";
    } else if (IsUnprintable(code)) {
      out += Escape(code);
    } else {
      out.append(text, i, length);
    }
    i += length;
  }
  return out;
}

}  // namespace

bool IsUnprintable(std::uint32_t code) {
  const auto within = [code](std::uint32_t first, std::uint32_t last) { return code >= first && code <= last; };
  return code < 0x20 || within(0x7f, 0x9f) || code == 0x61c || within(0x200e, 0x200f) || within(0x2028, 0x202e) ||
         within(0x2066, 0x2069);
}

std::uint32_t CodePointAt(std::string_view text, std::size_t i, std::size_t length) {
  const auto lead = static_cast<unsigned char>(text[i]);
  if (length == 1) return lead;
  std::uint32_t code = lead & (0x7fu >> length);
  for (std::size_t k = 1; k < length; ++k) code = code << 6 | (static_cast<unsigned char>(text[i + k]) & 0x3fu);
  return code;
}

std::string Printable(std::string_view text) { return Shown(text, false); }
std::string PrintableLines(std::string_view text) { return Shown(text, true); }

}  // namespace palladion
