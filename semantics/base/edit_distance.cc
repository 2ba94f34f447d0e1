#include "semantics/base/edit_distance.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace palladion {

std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t corner = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = corner + (a[i] != b[j] ? 1 : 0);
      corner = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::string Nearest(std::string_view word, absl::Span<const std::string_view> names) {
  std::string nearest;
  if (word.empty() || word.size() > 40) return nearest;
  // A word that is cut short is near too: --definedness for --no-definedness is not, --supp for --suppressions is.
  std::size_t least = std::min<std::size_t>(3, word.size());
  for (const std::string_view name : names) {
    const bool begun = word.size() >= 3 && name.substr(0, word.size()) == word;
    const std::size_t distance = begun ? 1 : EditDistance(word, name);
    if (distance < least) least = distance, nearest = std::string(name);
  }
  return nearest;
}

}  // namespace palladion
