// Escaping of text for XML and URIs. Control characters stay in; code that prints foreign text removes them first
// (semantics/base/printable.h).
#ifndef PALLADION_SEMANTICS_BASE_ESCAPES_H_
#define PALLADION_SEMANTICS_BASE_ESCAPES_H_

#include <string>
#include <string_view>

namespace palladion {

// For contents of elements and of attributes in double quotes. U+FFFE and U+FFFF, which are no characters of XML, are
// '?'. The text is UTF-8 without other control characters than tabs and ends of lines.
std::string XmlEscaped(std::string_view text);

// A path as a URI reference (RFC 3986): absolute ones get the scheme.
std::string UriOf(std::string_view path);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_BASE_ESCAPES_H_
