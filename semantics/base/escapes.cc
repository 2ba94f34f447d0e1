#include "semantics/base/escapes.h"

#include <cctype>

#include "semantics/base/cat.h"

namespace palladion {

std::string XmlEscaped(std::string_view text) {
  constexpr std::string_view kBeforeLast = "\xEF\xBF";  // of U+FFFE and U+FFFF
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (text.substr(i, 2) == kBeforeLast && i + 2 < text.size() && static_cast<unsigned char>(text[i + 2]) >= 0xBE) {
      out += '?';
      i += 2;
    } else if (c == '&' || c == '<' || c == '>' || c == '"' || c == '\n' || c == '\t') {
      Append(&out, "&#", static_cast<int>(c), ";");
    } else {
      out += c;
    }
  }
  return out;
}

std::string UriOf(std::string_view path) {
  std::string uri = !path.empty() && path[0] == '/' ? "file://" : "";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || std::string_view("-._~/").find(c) != std::string_view::npos) {
      uri += c;
    } else {
      constexpr std::string_view kDigits = "0123456789ABCDEF";
      uri += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return uri;
}

}  // namespace palladion
