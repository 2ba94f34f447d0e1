#include "conformance/case_selection.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
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

std::string HashOf(std::string_view text) {
  Tensor bytes(DType::kU8, {static_cast<std::int64_t>(text.size())});
  std::copy_n(reinterpret_cast<const std::byte*>(text.data()), text.size(), bytes.bytes());
  return absl::StrFormat("%016x", Fnv1a(bytes));
}

// The files to read, and of each the cases that are wanted; none: all.
using Files = std::map<std::string, std::set<std::string>>;

absl::Status NoSuchCase(const std::string& path, const std::string& name, const std::vector<CaseSource>& sources) {
  const auto name_of = [](std::string* out, const CaseSource& source) { out->append(source.name); };
  return absl::InvalidArgumentError(
      Cat(path, " has no case ", name, "; it has ", absl::StrJoin(sources, ", ", name_of)));
}

absl::Status ReadFile(const std::string& path, const std::set<std::string>& wanted, std::vector<SelectedCase>& cases) {
  const absl::StatusOr<std::string> text = ReadText(path);
  const auto sources = text.ok() ? SplitCases(*text, path) : text.status();
  const fs::path file = fs::absolute(path).lexically_normal();
  const auto name_of = [&](const fs::path& own) { return (file.parent_path().filename() / own).string(); };
  if (!sources.ok()) {
    if (!wanted.empty()) return sources.status();
    cases.push_back({.name = name_of(file.stem()), .path = path, .place = path, .hash = "", .test = sources.status()});
    return absl::OkStatus();
  }
  std::set<std::string> missing = wanted;
  for (const CaseSource& source : *sources) {
    missing.erase(source.name);
    if (!wanted.empty() && !wanted.contains(source.name)) continue;
    const bool is_file = sources->size() == 1 && source.line == 1;
    cases.push_back({.name = name_of(source.name),
                     .path = path,
                     .place = is_file ? path : Cat(path, ":", source.name),
                     .line = source.line,
                     .hash = HashOf(source.text),
                     .test = ParseCase(source.text, path, source.line)});
  }
  return missing.empty() ? absl::OkStatus() : NoSuchCase(path, *missing.begin(), *sources);
}

// Of a path that names no file: the case that its last part names may be one of several in a file beside it.
std::string OtherPlace(const std::string& path) {
  std::error_code error;
  const fs::path wanted(path), folder = wanted.has_parent_path() ? wanted.parent_path() : ".";
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string other = entry.path().string();
    const absl::StatusOr<std::string> text = other.ends_with(".case") ? ReadText(other) : "";
    if (!text.ok()) continue;
    const auto sources = SplitCases(*text, other);
    const auto same = [&](const CaseSource& source) { return source.name == wanted.stem().string(); };
    if (sources.ok() && std::any_of(sources->begin(), sources->end(), same))
      return Cat(other, ":", wanted.stem().string());
  }
  return "";
}

// FILE.case, or FILE.case:NAME.
absl::Status AddFile(const std::string& word, Files& files) {
  const std::size_t colon = word.ends_with(".case") ? std::string::npos : word.rfind(":");
  const std::string path = word.substr(0, colon);
  if (std::error_code error; !fs::exists(path, error)) {
    if (const std::string other = OtherPlace(path); !other.empty())
      return absl::InvalidArgumentError(Cat("there is no file ", path, "; the case is ", other));
  }
  const auto [file, added] = files.try_emplace(path);
  if (colon == std::string::npos) {
    file->second.clear();
  } else if (added || !file->second.empty()) {
    file->second.insert(word.substr(colon + 1));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<SelectedCase>> ReadAll(const Files& files) {
  std::vector<SelectedCase> cases;
  for (const auto& [path, wanted] : files) PALLADION_RETURN_IF_ERROR(ReadFile(path, wanted, cases));
  const auto by_name = [](const SelectedCase& a, const SelectedCase& b) { return a.name < b.name; };
  std::sort(cases.begin(), cases.end(), by_name);
  const auto same = [](const SelectedCase& a, const SelectedCase& b) { return a.name == b.name; };
  if (const auto twice = std::adjacent_find(cases.begin(), cases.end(), same); twice != cases.end())
    return absl::InvalidArgumentError(Cat("two cases are called ", twice->name, ": ", twice->place, " and ",
                                          std::next(twice)->place, "; rename one or give them one after the other"));
  return cases;
}

}  // namespace

absl::StatusOr<std::vector<SelectedCase>> SelectCases(const std::vector<std::string>& words,
                                                      const std::string& default_folder) {
  Files files;
  std::vector<std::string> folders, filters;
  for (const std::string& word : words) {
    if (word.ends_with(".case") || word.find(".case:") != std::string::npos) {
      PALLADION_RETURN_IF_ERROR(AddFile(word, files));
    } else {
      (IsFolder(word) ? folders : filters).push_back(word);
    }
  }
  if (files.empty() && folders.empty()) folders.push_back(default_folder);
  for (const std::string& folder : folders) {
    PALLADION_ASSIGN_OR_RETURN(const std::vector<std::string> found, FindCases(folder));
    for (const std::string& path : found) files[path].clear();
  }
  PALLADION_ASSIGN_OR_RETURN(std::vector<SelectedCase> cases, ReadAll(files));
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
