#include "emu/front/reports/text_replacements.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "semantics/base/cat.h"
#include "semantics/ir/parser.h"
#include "semantics/registry/verifier.h"

namespace palladion::reports {
namespace {

std::vector<std::string> LinesOf(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  lines.emplace_back(text);
  return lines;
}

// Without its comment and the spaces before that; what is in strings is not looked at.
std::string CodeOf(std::string_view line) {
  std::string code;
  bool in_string = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (in_string && line[i] == '\\') {
      ++i;
    } else if (line[i] == '"') {
      in_string = !in_string;
    } else if (!in_string) {
      if (line.substr(i, 2) == "//") break;
      code += line[i];
    }
  }
  while (!code.empty() && std::isspace(static_cast<unsigned char>(code.back())) != 0) code.pop_back();
  return code;
}

std::string IndentOf(std::string_view line) { return std::string(line.substr(0, line.find_first_not_of(' '))); }

// The next value of the attribute, or where one can be added; the text from `begin` to `end` goes.
struct ValuePlace {
  std::size_t begin = 0, end = 0;
  bool is_new = false;
};

std::size_t EndOfValue(std::string_view line, std::size_t begin) {
  if (begin >= line.size()) return begin;
  if (line[begin] == '[' || line[begin] == '"') {
    const std::size_t last = line.find(line[begin] == '[' ? ']' : '"', begin + 1);
    return last == std::string_view::npos ? line.size() : last + 1;
  }
  return std::min(line.find_first_of(",}", begin), line.size());
}

std::optional<ValuePlace> FindValue(std::string_view line, std::size_t from, std::string_view name) {
  const std::string key = Cat(name, "=");
  for (std::size_t at = line.find(key, from); at != std::string_view::npos; at = line.find(key, at + 1)) {
    const auto before = static_cast<unsigned char>(at == 0 ? ' ' : line[at - 1]);
    if (std::isalnum(before) != 0 || before == '_') continue;
    return ValuePlace{at + key.size(), EndOfValue(line, at + key.size())};
  }
  return std::nullopt;
}

// Of a ref that is declared as the name: its attributes are between `ref<` and that.
std::optional<ValuePlace> FindDeclared(std::string_view line, const TextEdit& edit) {
  if (edit.of.empty()) return FindValue(line, 0, edit.name);
  const std::size_t as = line.find(Cat("> as \"", edit.of, "\""));
  if (as == std::string_view::npos) return std::nullopt;
  const std::size_t value = line.rfind('%', as);
  const std::size_t ref = line.find("ref<", value == std::string_view::npos ? 0 : value);
  if (ref > as) return std::nullopt;
  if (const std::optional<ValuePlace> found = FindValue(line.substr(0, as), ref, edit.name); found.has_value())
    return found;
  const std::size_t brace = line.find('}', ref);
  if (brace > as) return std::nullopt;
  return ValuePlace{brace, brace, /*is_new=*/true};
}

class Replacer {
 public:
  explicit Replacer(std::string_view text) : lines_(LinesOf(text)) {}

  bool Add(const TextEdit& edit) {
    if (edit.line < 1 || edit.line > Size()) return false;
    if (edit.where == TextEdit::Where::kSet) return Set(edit);
    const std::string indent = IndentOf(lines_[Index(edit.line)]);
    const int end = EndOfStatement(edit.line);
    if (end == 0) return false;
    TextReplacement one{.first = edit.line, .past = edit.line, .inserted = {}};
    if (edit.where == TextEdit::Where::kAfter) one.first = one.past = end + 1;
    if (edit.where == TextEdit::Where::kInstead) one.past = end + 1;
    if (edit.where == TextEdit::Where::kEnd) one.first = one.past = EndOfRegion(edit.line, indent);
    if (one.first == 0) return false;
    for (const std::string& line : edit.insert) one.inserted += Cat(indent, line, "\n");
    others_.push_back(std::move(one));
    return true;
  }

  // Empty where two of them overlap.
  std::vector<TextReplacement> Merged() const {
    std::vector<TextReplacement> all = others_;
    for (const int line : set_) all.push_back({line, line + 1, lines_[Index(line)] + "\n"});
    std::stable_sort(all.begin(), all.end(), [](const TextReplacement& a, const TextReplacement& b) {
      return a.first != b.first ? a.first < b.first : a.past < b.past;
    });
    std::vector<TextReplacement> merged;
    for (TextReplacement& one : all) {
      if (!merged.empty() && one.first < merged.back().past) return {};
      if (!merged.empty() && merged.back().first == one.first) {
        merged.back().inserted += one.inserted;
        merged.back().past = one.past;
      } else {
        merged.push_back(std::move(one));
      }
    }
    return merged;
  }

 private:
  static std::size_t Index(int line) { return static_cast<std::size_t>(line - 1); }
  int Size() const { return static_cast<int>(lines_.size()); }

  // 0: a line with several statements, or none that ends.
  int EndOfStatement(int line) const {
    for (int at = line; at <= Size(); ++at) {
      const std::string code = CodeOf(lines_[Index(at)]);
      const auto ends = std::count(code.begin(), code.end(), ';');
      if (ends > 1 || (ends == 1 && code.back() != ';')) return 0;
      if (ends == 1) return at;
    }
    return 0;
  }

  // The `return` of the region that the line is in.
  int EndOfRegion(int line, std::string_view indent) const {
    const std::string is_return = Cat(indent, "return");
    for (int at = line; at <= Size(); ++at) {
      if (lines_[Index(at)].compare(0, is_return.size(), is_return) == 0) return at;
    }
    return 0;
  }

  bool Set(const TextEdit& edit) {
    for (int at = edit.line; at <= Size(); ++at) {
      std::string& line = lines_[Index(at)];
      const std::optional<ValuePlace> place = FindDeclared(line, edit);
      if (!place.has_value()) continue;
      const std::string value = place->is_new ? Cat(", ", edit.name, "=", edit.value) : edit.value;
      line.replace(place->begin, place->end - place->begin, value);
      if (std::find(set_.begin(), set_.end(), at) == set_.end()) set_.push_back(at);
      return true;
    }
    return false;
  }

  std::vector<std::string> lines_;
  std::vector<int> set_;  // the lines that have another value
  std::vector<TextReplacement> others_;
};

std::string Applied(std::string_view text, const std::vector<TextReplacement>& replacements) {
  const std::vector<std::string> lines = LinesOf(text);
  std::string out;
  std::size_t next = 0;
  const auto copy_to = [&](std::size_t end) {
    for (; next < std::min(end, lines.size()); ++next) out += Cat(lines[next], next + 1 < lines.size() ? "\n" : "");
  };
  for (const TextReplacement& one : replacements) {
    copy_to(static_cast<std::size_t>(one.first - 1));
    out += one.inserted;
    next = static_cast<std::size_t>(one.past - 1);
  }
  copy_to(lines.size());
  return out;
}

}  // namespace

std::vector<TextReplacement> ReplacementsOf(std::string_view kernel_text, const std::vector<TextEdit>& edits) {
  Replacer replacer(kernel_text);
  for (const TextEdit& edit : edits) {
    if (!replacer.Add(edit)) return {};
  }
  std::vector<TextReplacement> replacements = replacer.Merged();
  if (replacements.empty()) return {};
  absl::StatusOr<Module> module = Parse(Applied(kernel_text, replacements));
  if (!module.ok() || !Verify(*std::move(module)).ok()) return {};
  return replacements;
}

}  // namespace palladion::reports
