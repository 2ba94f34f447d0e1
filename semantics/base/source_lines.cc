#include "semantics/base/source_lines.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "semantics/base/json.h"
#include "semantics/base/printable.h"

namespace palladion {
namespace {

constexpr std::uintmax_t kMaxFileBytes = std::uintmax_t{8} << 20;

std::string ReadSmallFile(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return "";
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error || size > kMaxFileBytes) return "";
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool ContinuesCharacter(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// Tabs as spaces and what cannot be printed as '?', one column each; `at` goes with its character.
std::string Shown(std::string_view line, std::size_t* at) {
  std::string out;
  std::size_t moved = *at;
  for (std::size_t i = 0; i < line.size();) {
    const std::size_t length = Utf8Length(line, i);
    const std::size_t from = out.size();
    if (length > 0 && !IsUnprintable(CodePointAt(line, i, length))) {
      out.append(line, i, length);
    } else {
      out += line[i] == '\t' ? ' ' : '?';
    }
    i += std::max<std::size_t>(length, 1);
    if (*at >= i) moved -= std::max<std::size_t>(length, 1) - (out.size() - from);
  }
  *at = moved;
  return out;
}

}  // namespace

std::optional<std::string> LineOfText(std::string_view text, int line) {
  if (line < 1) return std::nullopt;
  std::size_t start = 0;
  for (int i = 1; i < line; ++i) {
    start = text.find('\n', start);
    if (start == std::string_view::npos) return std::nullopt;
    ++start;
  }
  if (start >= text.size()) return std::nullopt;
  std::string_view found = text.substr(start, text.find('\n', start) - start);
  if (!found.empty() && found.back() == '\r') found.remove_suffix(1);
  return std::string(found);
}

std::optional<std::string> SourceFiles::Line(const std::string& file, int line) { return LineOfText(Text(file), line); }

const std::string& SourceFiles::Text(const std::string& file) {
  const auto [place, is_new] = texts_.try_emplace(file);
  if (is_new) place->second = ReadSmallFile(file);
  return place->second;
}

Excerpt MakeExcerpt(std::string_view line, int column, std::size_t width) {
  Excerpt excerpt{.text = std::string(line.substr(0, line.find_last_not_of(" \t") + 1))};
  std::size_t at = column > 0 ? static_cast<std::size_t>(column) - 1 : excerpt.text.size();
  excerpt.text = Shown(excerpt.text, &at);
  if (at >= excerpt.text.size()) at = std::min(excerpt.text.find_first_not_of(' '), excerpt.text.size());
  // The text around the column, where the line is longer than fits.
  std::size_t begin = at + 20 > width ? at + 20 - width : 0;
  while (begin > 0 && begin < excerpt.text.size() && ContinuesCharacter(excerpt.text[begin])) ++begin;
  const bool cut_front = begin > 0;
  std::string shown = excerpt.text.substr(begin);
  std::size_t end = std::min(shown.size(), width);
  const bool cut_back = end < shown.size();
  while (end > 0 && end < shown.size() && ContinuesCharacter(shown[end])) --end;
  shown.resize(end);
  excerpt.caret = static_cast<std::size_t>(
      std::count_if(shown.begin(), shown.begin() + static_cast<std::ptrdiff_t>(std::min(at - begin, end)),
                    [](char c) { return !ContinuesCharacter(c); }));
  if (cut_front) excerpt.caret += 4;
  excerpt.text = (cut_front ? "... " : "") + shown + (cut_back ? " ..." : "");
  return excerpt;
}

}  // namespace palladion
