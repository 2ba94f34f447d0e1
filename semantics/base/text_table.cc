#include "semantics/base/text_table.h"

#include <algorithm>
#include <cstddef>

#include "semantics/base/cat.h"

namespace palladion {

std::string TextTable(const TableRows& rows, LastColumn last) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string fill(widths[c] - row[c].size(), ' ');
      const bool words = c + 1 == row.size() && last == LastColumn::kWords;
      Append(&line, "  ", c == 0 || words ? "" : fill, row[c], c == 0 ? fill : "");
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace palladion
