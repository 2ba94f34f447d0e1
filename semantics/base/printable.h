// Text that came from a kernel, an array or a path, for a terminal: control characters, which could move the cursor,
// and marks that turn the direction of writing are shown as escapes ("\x1b", "\u202e"), bytes that are no UTF-8 as
// "\xff". A backslash stays one, so that an escape and the same characters written out look alike.
#ifndef PALLADION_SEMANTICS_BASE_PRINTABLE_H_
#define PALLADION_SEMANTICS_BASE_PRINTABLE_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace palladion {

// Control characters, marks of direction, separators of lines and paragraphs.
bool IsUnprintable(std::uint32_t code_point);

// The code point of the UTF-8 sequence of `length` bytes (Utf8Length) at `i`.
std::uint32_t CodePointAt(std::string_view text, std::size_t i, std::size_t length);

std::string Printable(std::string_view text);       // on one line: "\n" and tabs are escaped too
std::string PrintableLines(std::string_view text);  // "\n" and tabs stay

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_BASE_PRINTABLE_H_
