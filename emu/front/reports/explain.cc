#include "emu/front/reports/explain.h"

#include <algorithm>

#include "absl/strings/str_split.h"
#include "emu/check/legality/gpu/limits.h"
#include "emu/check/legality/tpu/limits.h"
#include "emu/check/legality/tpu/refusals.h"
#include "semantics/base/cat.h"
#include "semantics/base/json.h"

namespace palladion::reports {
namespace {

constexpr std::string_view kWrong = "--- wrong\n", kRight = "--- right\n";

std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// "# key: value" at the start; false where the line is something else or the key is unknown.
bool ParseHeader(std::string_view line, ExplainPage& page) {
  const std::size_t colon = line.find(": ");
  if (line.substr(0, 2) != "# " || colon == std::string_view::npos) return false;
  const std::string_view key = line.substr(2, colon - 2);
  const std::string value(line.substr(colon + 2));
  if (key == "inputs") {
    for (const std::string& input : std::vector<std::string>(absl::StrSplit(value, ' '))) {
      page.options.emplace_back("--in");
      page.options.push_back(input);
    }
  } else if (key == "options") {
    for (const std::string& option : std::vector<std::string>(absl::StrSplit(value, ' ')))
      page.options.push_back(option);
  } else if (key == "also") {
    page.also = absl::StrSplit(value, ' ');
  } else {
    return false;
  }
  return true;
}

std::optional<ExplainPage> ParsePage(FindingCode code, std::string_view text) {
  ExplainPage page{.code = code};
  const std::size_t wrong = text.find(kWrong), right = text.find(kRight);
  if (wrong == std::string_view::npos || right == std::string_view::npos || right < wrong) return std::nullopt;
  page.wrong = std::string(text.substr(wrong + kWrong.size(), right - wrong - kWrong.size()));
  page.right = std::string(text.substr(right + kRight.size()));
  text = text.substr(0, wrong);
  while (text.substr(0, 1) == "#") {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (!ParseHeader(text.substr(0, end), page)) return std::nullopt;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  page.text = std::string(text);
  return page;
}

struct DiffLine {
  char mark;  // ' ', '-' or '+'
  std::string_view line;
};

// The longest common subsequence of lines; both texts are short.
std::vector<DiffLine> DiffOf(std::string_view before, std::string_view after) {
  const std::vector<std::string_view> a = LinesOf(before), b = LinesOf(after);
  std::vector<std::vector<std::size_t>> longest(a.size() + 1, std::vector<std::size_t>(b.size() + 1, 0));
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;)
      longest[i][j] = a[i] == b[j] ? longest[i + 1][j + 1] + 1 : std::max(longest[i + 1][j], longest[i][j + 1]);
  }
  std::vector<DiffLine> diff;
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      diff.push_back({' ', a[i++]});
      ++j;
    } else if (j == b.size() || (i < a.size() && longest[i + 1][j] >= longest[i][j + 1])) {
      diff.push_back({'-', a[i++]});
    } else {
      diff.push_back({'+', b[j++]});
    }
  }
  return diff;
}

// Changed lines and two around each.
std::string FixText(const ExplainPage& page, bool color) {
  constexpr std::ptrdiff_t kAround = 2;
  const std::vector<DiffLine> diff = DiffOf(page.wrong, page.right);
  const auto n = static_cast<std::ptrdiff_t>(diff.size());
  std::string text;
  bool skipped = false;
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    const auto near = diff.begin() + std::max<std::ptrdiff_t>(0, i - kAround);
    const auto end = diff.begin() + std::min(n, i + kAround + 1);
    if (std::all_of(near, end, [](const DiffLine& line) { return line.mark == ' '; })) {
      skipped = true;
      continue;
    }
    if (skipped && !text.empty()) text += "      ...\n";
    skipped = false;
    const DiffLine& line = diff[static_cast<std::size_t>(i)];
    const std::string shown = Cat(std::string(1, line.mark), " ", line.line);
    const bool coloured = color && line.mark != ' ';
    Append(&text, "  ", coloured ? (line.mark == '+' ? "\x1b[32m" : "\x1b[31m") : "", shown, coloured ? "\x1b[0m" : "",
           "\n");
  }
  return text;
}

// Of both backends: no two rules have one name.
std::vector<legality::LimitText> AllLimits() {
  std::vector<legality::LimitText> limits = legality::AllGpuLimits();
  for (const legality::LimitText& limit : legality::AllTpuLimits()) limits.push_back(limit);
  return limits;
}

std::string RuleOf(const legality::LimitText& limit) {
  constexpr std::string_view kOnly =
      " (only in texts that JAX wrote: those written by hand may be smaller than a machine's)";
  return Cat(limit.rule, limit.only_from_jax ? kOnly : "");
}

std::string LimitList(std::string_view target, const std::vector<legality::LimitText>& limits) {
  std::string text = Cat("\nLimits of a kernel on ", target, "; a finding ends in the name of its own:\n\n");
  std::size_t width = 0;
  for (const legality::LimitText& limit : limits) width = std::max(width, limit.name.size());
  for (const legality::LimitText& limit : limits)
    Append(&text, "    ", limit.name, std::string(width + 2 - limit.name.size(), ' '), RuleOf(limit), "\n");
  return text;
}

std::string RefusalList() {
  std::vector<legality::LimitText> limits;
  for (const legality::RefusalText& rule : legality::AllRefusals()) limits.push_back(rule.limit);
  return LimitList("mosaic_tpu, as its compiler is known to have them", limits);
}

std::string ChipsOf(const legality::RefusalText& rule) { return rule.chips == "all" ? "" : Cat(" (", rule.chips, ")"); }

void LimitJson(JsonWriter& json, const legality::LimitText& limit, const legality::RefusalText* rule = nullptr) {
  json.Open('{').Key("name").String(limit.name).Key("rule").String(RuleOf(limit));
  json.Key("source").String(limit.source).Key("fix").String(limit.fix);
  if (rule != nullptr) json.Key("chips").String(rule->chips).Key("certainty").String(legality::Words(rule->certainty));
  if (rule != nullptr) json.Key("severity").String(legality::IsNote(rule->certainty) ? "note" : "warning");
  json.Close('}');
}

}  // namespace

std::optional<ExplainPage> PageOf(FindingCode code) {
  for (const EmbeddedPage& page : EmbeddedPages()) {
    if (page.code == Code(code)) return ParsePage(code, page.text);
  }
  return std::nullopt;
}

std::string ExplainText(const ExplainPage& page, bool color) {
  const CodeRow& row = RowOf(page.code);
  std::string text = Cat(color ? "\x1b[1m" : "", row.name, color ? "\x1b[0m" : "", " (", Name(row.severity), ")\n",
                         row.rule, "\n\n", page.text);
  text += "\nA kernel that is wrong:\n\n";
  for (const std::string_view line : LinesOf(page.wrong)) Append(&text, "    ", line, "\n");
  text += "\nThe fix:\n\n" + FixText(page, color);
  if (page.code == FindingCode::kCompiler) return text + RefusalList();
  if (page.code != FindingCode::kIllegal) return text;
  return text + LimitList("mosaic_gpu", legality::AllGpuLimits()) + LimitList("mosaic_tpu", legality::AllTpuLimits());
}

std::string ExplainLimit(std::string_view name) {
  for (const legality::LimitText& limit : AllLimits()) {
    if (limit.name == name)
      return Cat(limit.name, " (", Code(FindingCode::kIllegal), ")\n", RuleOf(limit), "\n\nfrom: ", limit.source,
                 "\nfix: ", limit.fix, "\n");
  }
  for (const legality::RefusalText& rule : legality::AllRefusals()) {
    if (rule.limit.name == name)
      return Cat(rule.limit.name, " (", Code(FindingCode::kCompiler), ")\n", rule.limit.rule, ChipsOf(rule),
                 "\n\nfrom: ", rule.limit.source, "\nhow sure: ", legality::Words(rule.certainty),
                 "\nfix: ", rule.limit.fix, "\n");
  }
  return "";
}

std::string ExplainList() {
  std::size_t width = 0;
  for (const CodeRow& row : AllCodes()) width = std::max(width, row.name.size());
  std::string text;
  for (const CodeRow& row : AllCodes()) {
    const std::string_view severity = Name(row.severity);
    Append(&text, row.name, std::string(width + 2 - row.name.size(), ' '), severity,
           std::string(9 - severity.size(), ' '), row.rule, "\n");
  }
  return text;
}

std::string ExplainJson() {
  JsonWriter json;
  json.Open('[');
  for (const CodeRow& row : AllCodes()) {
    const ExplainPage page = PageOf(row.code).value_or(ExplainPage{});
    json.Open('{').Key("code").String(row.name).Key("severity").String(Name(row.severity)).Key("rule").String(row.rule);
    json.Key("text").String(page.text).Key("wrong").String(page.wrong).Key("right").String(page.right);
    json.Key("options").Open('[');
    for (const std::string& option : page.options) json.String(option);
    json.Close(']').Key("limits").Open('[');
    if (row.code == FindingCode::kIllegal) {
      for (const legality::LimitText& limit : AllLimits()) LimitJson(json, limit);
    }
    if (row.code == FindingCode::kCompiler) {
      for (const legality::RefusalText& rule : legality::AllRefusals()) LimitJson(json, rule.limit, &rule);
    }
    json.Close(']').Key("fix").String(FixText(page, false)).Close('}');
  }
  return json.Close(']').Take() + "\n";
}

}  // namespace palladion::reports
