// Lines of text for the excerpts of a report: of the user's Python files, read when asked for, and of kernel text.
// What it does not catch: a file that was changed since the kernel was exported.
#ifndef PALLADION_SEMANTICS_BASE_SOURCE_LINES_H_
#define PALLADION_SEMANTICS_BASE_SOURCE_LINES_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace palladion {

// Line `line` of a text, 1 the first, without its end; nothing where there is none.
std::optional<std::string> LineOfText(std::string_view text, int line);

class SourceFiles {
 public:
  // Nothing where the file is no regular file, cannot be read, is larger than 8 MiB, or has no such line.
  std::optional<std::string> Line(const std::string& file, int line);
  // All of it; empty where `Line` has nothing.
  const std::string& Text(const std::string& file);

 private:
  std::map<std::string, std::string> texts_;
};

struct Excerpt {
  std::string text;       // what is shown: tabs are spaces, unprintable bytes are '?', at most `width` columns
  std::size_t caret = 0;  // where the column is in it
};

// `column` counts bytes from 1, as Python's does; 0, or one past the end, is the first that is no space.
Excerpt MakeExcerpt(std::string_view line, int column, std::size_t width);

}  // namespace palladion

#endif  // PALLADION_SEMANTICS_BASE_SOURCE_LINES_H_
