#include "emu/front/reports/explain.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "absl/strings/str_split.h"
#include "emu/check/legality/gpu/limits.h"
#include "emu/check/legality/tpu/limits.h"
#include "emu/check/legality/tpu/refusals.h"
#include "emu/front/reports/finding_link.h"
#include "semantics/base/cat.h"
#include "semantics/base/edit_distance.h"
#include "semantics/base/json.h"

namespace palladion::reports {
namespace {

// The parts of a page behind its paragraphs, in this order.
constexpr std::array<std::string_view, 4> kParts = {"--- python wrong\n", "--- python right\n", "--- wrong\n",
                                                    "--- right\n"};

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
  const std::array<std::string*, kParts.size()> parts = {&page.python.wrong, &page.python.right, &page.pkir.wrong,
                                                         &page.pkir.right};
  for (std::size_t i = kParts.size(); i-- > 0;) {
    const std::size_t at = text.find(Cat("\n", kParts[i]));
    if (at == std::string_view::npos) return std::nullopt;
    *parts[i] = std::string(text.substr(at + 1 + kParts[i].size()));
    text = text.substr(0, at + 1);
  }
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
std::string FixText(const KernelPair& kernels, bool color) {
  constexpr std::ptrdiff_t kAround = 2;
  const std::vector<DiffLine> diff = DiffOf(kernels.wrong, kernels.right);
  const auto n = static_cast<std::ptrdiff_t>(diff.size());
  std::string text;
  bool skipped = false;
  std::size_t blank = 0;  // lines that are shown if more of their place follows
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    const auto near = diff.begin() + std::max<std::ptrdiff_t>(0, i - kAround);
    const auto end = diff.begin() + std::min(n, i + kAround + 1);
    if (std::all_of(near, end, [](const DiffLine& line) { return line.mark == ' '; })) {
      skipped = true;
      continue;
    }
    const DiffLine& line = diff[static_cast<std::size_t>(i)];
    if (line.mark == ' ' && line.line.empty()) {
      ++blank;
      continue;
    }
    if (!text.empty()) text += skipped ? "      ...\n" : std::string(blank, '\n');
    skipped = false;
    blank = 0;
    const std::string shown = Cat(std::string(1, line.mark), line.line.empty() ? "" : " ", line.line);
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

// What a code's page ends with: of those that have a rule for each limit.
std::string LimitsOf(FindingCode code) {
  if (code == FindingCode::kCompiler) return RefusalList();
  if (code != FindingCode::kIllegal) return "";
  return LimitList("mosaic_gpu", legality::AllGpuLimits()) + LimitList("mosaic_tpu", legality::AllTpuLimits());
}

std::string ChipsOf(const legality::RefusalText& rule) { return rule.chips == "all" ? "" : Cat(" (", rule.chips, ")"); }

std::string Upper(std::string_view name) {
  std::string upper(name.substr(0, 40));
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
  return upper;
}

// Codes and limits that are `name` with up to two letters changed, nearest first, then those that contain it:
// "RACE_WW, RACE_RW or RACE_XDEV?"; "" of none.
std::string NearNames(std::string_view name) {
  constexpr std::size_t kMostChanged = 2, kLeastPart = 3, kMost = 6;
  std::vector<std::string_view> names;
  for (const CodeRow& row : AllCodes()) names.push_back(row.name);
  const std::vector<legality::LimitText> limits = AllLimits();
  for (const legality::LimitText& limit : limits) names.push_back(limit.name);
  for (const legality::RefusalText& rule : legality::AllRefusals()) names.push_back(rule.limit.name);
  const std::string word = Upper(name);
  std::vector<std::pair<std::size_t, std::string_view>> near;
  for (const std::string_view one : names) {
    const std::size_t distance = EditDistance(word, Upper(one));
    const bool part = word.size() >= kLeastPart && Upper(one).find(word) != std::string::npos;
    if (distance <= kMostChanged && distance < word.size()) {
      near.emplace_back(distance, one);
    } else if (part) {
      near.emplace_back(kMostChanged + 1, one);
    }
  }
  std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  if (!near.empty() && near[0].first == 0) near.resize(1);
  near.resize(std::min(near.size(), kMost));
  std::string text;
  for (std::size_t i = 0; i < near.size(); ++i)
    Append(&text, i == 0 ? "" : (i + 1 == near.size() ? " or " : ", "), near[i].second);
  return text.empty() ? "" : text + "?";
}

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

std::string ExplainText(const ExplainPage& page, const ExplainLook& look) {
  const CodeRow& row = RowOf(page.code);
  const KernelPair& kernels = look.pkir ? page.pkir : page.python;
  std::string text = Cat(look.color ? "\x1b[1m" : "", row.name, look.color ? "\x1b[0m" : "", " (", Name(row.severity),
                         ")\n", row.rule, "\n\n", page.text);
  text += "\nA kernel that is wrong:\n\n";
  for (const std::string_view line : LinesOf(kernels.wrong)) Append(&text, line.empty() ? "" : "    ", line, "\n");
  text += "\nThe fix:\n\n" + FixText(kernels, look.color);
  if (!look.pkir) Append(&text, "\nAs kernel text: palladion explain ", row.name, " --pkir\n");
  return text + LimitsOf(page.code);
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
    json.Key("link").String(LinkOf(page.code)).Key("text").String(page.text);
    json.Key("python").Open('{').Key("wrong").String(page.python.wrong).Key("right").String(page.python.right);
    json.Key("fix").String(FixText(page.python, false)).Close('}');
    json.Key("wrong").String(page.pkir.wrong).Key("right").String(page.pkir.right);
    json.Key("options").Open('[');
    for (const std::string& option : page.options) json.String(option);
    json.Close(']').Key("also").Open('[');
    for (const std::string& also : page.also) json.String(also);
    json.Close(']').Key("limits").Open('[');
    if (row.code == FindingCode::kIllegal) {
      for (const legality::LimitText& limit : AllLimits()) LimitJson(json, limit);
    }
    if (row.code == FindingCode::kCompiler) {
      for (const legality::RefusalText& rule : legality::AllRefusals()) LimitJson(json, rule.limit, &rule);
    }
    json.Close(']').Key("fix").String(FixText(page.pkir, false)).Close('}');
  }
  return json.Close(']').Take() + "\n";
}

absl::Status UnknownCode(std::string_view name) {
  const std::string near = NearNames(name);
  return absl::InvalidArgumentError(Cat("unknown finding code '", name, "'",
                                        near.empty() ? "; `palladion explain` lists them" : "; did you mean " + near));
}

absl::StatusOr<std::string> ExplainedJson(std::string_view name) {
  JsonWriter json;
  json.Open('{').Key("name").String(name);
  const std::string limit = ExplainLimit(name);
  const std::optional<FindingCode> code = limit.empty() ? CodeFromName(name) : std::nullopt;
  if (limit.empty() && !code.has_value()) return UnknownCode(name);
  if (!limit.empty()) return json.Key("text").String(limit).Key("kernels").Null().Close('}').Take();
  const std::optional<ExplainPage> page = PageOf(*code);
  if (!page.has_value()) return absl::InternalError(Cat("emu/front/reports/explain/", name, ".txt is malformed"));
  json.Key("text").String(ExplainText(*page, {}));
  json.Key("severity").String(Name(RowOf(*code).severity)).Key("rule").String(RowOf(*code).rule);
  json.Key("link").String(LinkOf(*code)).Key("why").String(page->text);
  json.Key("limits").String(LimitsOf(*code)).Key("kernels").Open('[');
  for (const KernelPair& kernels : {page->python, page->pkir}) {
    json.Open('{').Key("wrong").String(kernels.wrong).Key("right").String(kernels.right);
    json.Key("fix").String(FixText(kernels, false)).Close('}');
  }
  return json.Close(']').Close('}').Take();
}

}  // namespace palladion::reports
