#include "conformance/case_selection.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/str_format.h"
#include "conformance/case_runner.h"
#include "emu/values.h"
#include "semantics/base/cat.h"
#include "semantics/base/status.h"

namespace palladion::conformance {
namespace {

namespace fs = std::filesystem;

bool IsFolder(const std::string& word) {
  std::error_code error;
  return fs::is_directory(word, error);
}

// Whether `pattern`, with * and ?, is all of `text`.
bool IsMatch(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, behind_star = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      behind_star = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++behind_star;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool Meets(std::string_view filter, std::string_view text) {
  return filter.find_first_of("*?") == std::string_view::npos ? text.find(filter) != std::string_view::npos
                                                              : IsMatch(filter, text);
}

bool Meets(const std::string& filter, const SelectedCase& selected) {
  if (Meets(filter, selected.name)) return true;
  return selected.test.ok() && std::any_of(selected.test->specs.begin(), selected.test->specs.end(),
                                           [&](const std::string& spec) { return Meets(filter, spec); });
}

// A filter that is a case's whole name is that case, and not also those whose names go on.
std::set<std::string> NamesThatMeet(const std::string& filter, const std::vector<SelectedCase>& cases) {
  std::set<std::string> names;
  for (const SelectedCase& selected : cases) {
    if (selected.name == filter) return {filter};
    if (Meets(filter, selected)) names.insert(selected.name);
  }
  return names;
}

SelectedCase Read(const std::string& path) {
  const fs::path file = fs::absolute(path).lexically_normal();
  SelectedCase selected{
      .name = (file.parent_path().filename() / file.stem()).string(), .path = path, .hash = "", .test = ReadCase(path)};
  if (const absl::StatusOr<std::string> text = ReadText(path); text.ok()) {
    Tensor bytes(DType::kU8, {static_cast<std::int64_t>(text->size())});
    std::copy_n(reinterpret_cast<const std::byte*>(text->data()), text->size(), bytes.bytes());
    selected.hash = absl::StrFormat("%016x", Fnv1a(bytes));
  }
  return selected;
}

absl::StatusOr<std::vector<SelectedCase>> ReadAll(const std::set<std::string>& paths) {
  std::vector<SelectedCase> cases;
  for (const std::string& path : paths) cases.push_back(Read(path));
  const auto by_name = [](const SelectedCase& a, const SelectedCase& b) { return a.name < b.name; };
  std::sort(cases.begin(), cases.end(), by_name);
  const auto same = [](const SelectedCase& a, const SelectedCase& b) { return a.name == b.name; };
  if (const auto twice = std::adjacent_find(cases.begin(), cases.end(), same); twice != cases.end())
    return absl::InvalidArgumentError(Cat("two cases are called ", twice->name, ": ", twice->path, " and ",
                                          std::next(twice)->path, "; rename one or give them one after the other"));
  return cases;
}

}  // namespace

absl::StatusOr<std::vector<SelectedCase>> SelectCases(const std::vector<std::string>& words,
                                                      const std::string& default_folder) {
  std::set<std::string> paths;
  std::vector<std::string> folders, filters;
  for (const std::string& word : words) {
    if (word.ends_with(".case")) {
      paths.insert(word);
    } else {
      (IsFolder(word) ? folders : filters).push_back(word);
    }
  }
  if (paths.empty() && folders.empty()) folders.push_back(default_folder);
  for (const std::string& folder : folders) {
    PALLADION_ASSIGN_OR_RETURN(const std::vector<std::string> found, FindCases(folder));
    paths.insert(found.begin(), found.end());
  }
  PALLADION_ASSIGN_OR_RETURN(std::vector<SelectedCase> cases, ReadAll(paths));
  if (filters.empty()) return cases;
  std::set<std::string> wanted;
  for (const std::string& filter : filters) {
    const std::set<std::string> met = NamesThatMeet(filter, cases);
    if (met.empty())
      return absl::InvalidArgumentError(
          Cat("no case meets '", filter, "'; expected a file, a folder, or a part of the names of cases"));
    wanted.insert(met.begin(), met.end());
  }
  std::erase_if(cases, [&](const SelectedCase& selected) { return !wanted.contains(selected.name); });
  return cases;
}

std::vector<SelectedCase> OfTier(std::vector<SelectedCase> cases, Tier tier) {
  if (tier == Tier::kFull) return cases;
  std::set<std::string> rules;
  std::erase_if(cases, [&](const SelectedCase& selected) {
    if (!selected.test.ok()) return false;
    bool is_first = false;
    for (const std::string& rule : selected.test->specs) is_first = rules.insert(rule).second || is_first;
    return !is_first;
  });
  return cases;
}

std::vector<SelectedCase> OfShard(std::vector<SelectedCase> cases, Shard shard) {
  std::vector<SelectedCase> own;
  for (std::size_t i = shard.index - 1; i < cases.size(); i += shard.count) own.push_back(std::move(cases[i]));
  return own;
}

}  // namespace palladion::conformance
