#include "emu/tools/debug/source_excerpts.h"

#include <algorithm>
#include <map>
#include <set>

namespace palladion::debug {
namespace {

constexpr int kMostBetween = 8;  // lines between two of the kernel's: more are left out
constexpr int kMostBefore = 8;   // lines from a function's `def` to its first one in the kernel
constexpr std::size_t kMostLines = 400;

bool BeginsFunction(const std::string& line) {
  const std::size_t first = line.find_first_not_of(" \t");
  return first != std::string::npos && (line.compare(first, 4, "def ") == 0 || line.compare(first, 6, "async ") == 0);
}

// With the lines between neighbours, and those up to the `def` before the first.
std::set<int> Widened(const std::set<int>& lines, const std::string& file, const SourceLine& source_line) {
  std::set<int> wide;
  int before = 0;
  for (const int line : lines) {
    int first = line;
    if (before != 0 && line - before <= kMostBetween) {
      first = before + 1;
    } else {
      for (int up = line - 1; up > std::max(before, line - kMostBefore); --up) {
        const std::optional<std::string> text = source_line(file, up);
        if (!text.has_value()) break;
        if (!BeginsFunction(*text)) continue;
        first = up;
        break;
      }
    }
    for (int shown = first; shown <= line; ++shown) wide.insert(shown);
    before = line;
  }
  return wide;
}

}  // namespace

UserPlace PlaceOf(const Module& module, LocId id) {
  // A hand-made module may link frames in a ring.
  for (std::size_t frames = 0; id.valid() && id.index() < module.locs.size() && frames < module.locs.size(); ++frames) {
    const Loc& loc = module.locs[id.index()];
    const std::string& file = module.files[loc.file.index()];
    if (file.find("/jax/_src/") == std::string::npos) return {file, loc.line};
    id = loc.via;
  }
  return {};
}

std::vector<SourceExcerpt> ExcerptsOf(absl::Span<const UserPlace> places, const SourceLine& source_line) {
  std::map<std::string, std::set<int>> used;
  for (const UserPlace& place : places) {
    if (place.line > 0) used[place.file].insert(place.line);
  }
  std::vector<SourceExcerpt> excerpts;
  std::size_t count = 0;
  for (const auto& [file, lines] : used) {
    SourceExcerpt excerpt{.file = file, .lines = {}};
    for (const int line : Widened(lines, file, source_line)) {
      std::optional<std::string> text = count < kMostLines ? source_line(file, line) : std::nullopt;
      if (!text.has_value()) continue;
      ++count;
      excerpt.lines.emplace_back(line, *std::move(text));
    }
    if (!excerpt.lines.empty()) excerpts.push_back(std::move(excerpt));
  }
  return excerpts;
}

}  // namespace palladion::debug
