#include "emu/tools/hunt/hunt_related.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>

#include "absl/status/statusor.h"
#include "emu/check.h"
#include "semantics/base/cat.h"

namespace palladion::hunt {
namespace {

void Replace(std::string* text, const std::string& from, const std::string& to) {
  for (std::size_t at = text->find(from); at != std::string::npos; at = text->find(from, at + to.size()))
    text->replace(at, from.size(), to);
}

struct Span {
  std::size_t at = 0, size = 0;
};

// From `head` to the end of `tail`, the first after it.
Span SpanOf(const std::string& text, const std::string& head, const std::string& tail) {
  const std::size_t at = text.find(head);
  return {at, text.find(tail, at) + tail.size() - at};
}

// Two spans change places; `first` comes first.
void Swap(std::string* text, const Span& first, const Span& second) {
  const std::string one = text->substr(first.at, first.size), other = text->substr(second.at, second.size);
  text->replace(second.at, second.size, one);
  text->replace(first.at, first.size, other);
}

std::string Renamed(std::string text) {
  Replace(&text, " as \"", " as \"another_");
  return text;
}

// "": its operands are not two inputs and two outputs.
std::string Permuted(std::string text) {
  if (text.find("\nin %x:") == std::string::npos) return "";
  Swap(&text, SpanOf(text, "in %x:", ";\n"), SpanOf(text, "in %c:", ";\n"));
  Swap(&text, SpanOf(text, "out %o:", ";\n"), SpanOf(text, "out %m:", ";\n"));
  Swap(&text, SpanOf(text, "%xr: ref", "as \"x\""), SpanOf(text, "%cr: ref", "as \"c\""));
  Swap(&text, SpanOf(text, "%or: ref", "as \"o\""), SpanOf(text, "%mr: ref", "as \"m\""));
  return text;
}

// A dimension of size 1 in front of the others. "": the kernel has no grid.
std::string OneMoreDimension(std::string text) {
  const std::string before = text;
  Replace(&text, "\ngrid [", "\ngrid [1,");
  Replace(&text, "grid [1,];", "grid [1];");
  Replace(&text, "program_id{axis=0}", "program_id{axis=1}");
  Replace(&text, "map (%i: i32[])", "map (%more: i32[], %i: i32[])");
  Replace(&text, "dimension_semantics=[", "dimension_semantics=[\"parallel\", ");
  Replace(&text, "{grid=[", "{grid=[1,");
  Replace(&text, "grid_names=[", "grid_names=[\"more\",");
  for (const char* const list : {"{grid=[1,", "grid_names=[\"more\","})
    Replace(&text, Cat(list, "]"), Cat(std::string(list, std::string(list).size() - 1), "]"));
  return text == before ? "" : text;
}

// All of the body in a branch that is always taken.
std::string InBranch(std::string text) {
  const std::size_t body = text.find("body @k"), open = text.find(") {\n", body) + 3;
  const std::size_t end = text.rfind("return;");
  text.insert(end, "return; }; ");
  return text.insert(open, " cond(1:i32) { return; } {");
}

// NONDET is said of whichever output differs first, so its line is not compared.
Said Ask(const Related& text, const std::string& target, std::vector<Tensor> inputs, std::int64_t seeds) {
  Said said;
  const absl::StatusOr<PreparedKernel> prepared = PrepareText(text.text, {.kernel = "", .target = target, .path = ""});
  if (!prepared.ok()) return {.error = prepared.status().ToString()};
  if (text.permuted) std::reverse(inputs.begin(), inputs.end());
  const CheckOptions options{.seeds = seeds, .contracts = false, .threads = 1};
  const absl::StatusOr<Report> report = Check(*prepared, inputs, options, &said.outputs);
  if (!report.ok()) return {.error = report.status().ToString()};
  if (text.permuted) std::reverse(said.outputs.begin(), said.outputs.end());
  const std::string head = text.text.substr(0, text.text.find("\nbody @k"));
  const auto body = 2 + std::count(head.begin(), head.end(), '\n');
  said.verdict = Name(report->verdict);
  said.tried = report->schedules > 2;
  for (const ReportedFinding& finding : report->findings) {
    const auto line = [&](const std::optional<ReportedAccess>& site) {
      const int of = site.has_value() ? site->text_line : finding.text_line;
      return of < body ? 0 : of;  // an operand's may be another one
    };
    const auto [low, high] = std::minmax({line(finding.first), line(finding.second)});
    const std::string code(Code(finding.code));
    said.findings.insert(finding.code == FindingCode::kNondeterministic ? code : Cat(code, "@", low, "-", high));
  }
  return said;
}

}  // namespace

std::string Difference(const Said& a, const Said& b) {
  if (!a.error.empty() || !b.error.empty()) return a.error == b.error ? "" : Cat(a.error, b.error);
  if (a.verdict != b.verdict) return Cat(a.verdict, " and ", b.verdict);
  const bool by_chance = a.tried && b.tried && a.verdict == "defect";
  if (!by_chance && a.findings != b.findings) {
    std::string text;
    for (const std::string& finding : a.findings) Append(&text, finding, " ");
    Append(&text, "and");
    for (const std::string& finding : b.findings) Append(&text, " ", finding);
    return text;
  }
  bool same = true;
  for (std::size_t i = 0; i < a.outputs.size(); ++i) same &= a.outputs[i].BitwiseEquals(b.outputs[i]);
  return same || by_chance ? "" : "other outputs";
}

void CompareWithRelated(const std::string& target, const std::vector<Tensor>& inputs, std::int64_t seeds,
                        HuntResult* result) {
  constexpr std::int64_t kMore = 32;
  const Related itself{"", result->text};
  const Said said = Ask(itself, target, inputs, seeds);
  std::optional<Said> longer;
  for (const Related& related : RelatedTexts(result->text)) {
    ++result->related;
    const Said again = Ask(related, target, inputs, seeds);
    std::string difference = Difference(said, again);
    if (difference.empty()) continue;
    if (said.tried || again.tried) {
      if (!longer.has_value()) longer = Ask(itself, target, inputs, seeds * kMore);
      difference = Difference(*longer, Ask(related, target, inputs, seeds * kMore));
    }
    if (!difference.empty()) result->Contradict(Cat("other words: ", related.name), difference);
  }
}

std::vector<Related> RelatedTexts(const std::string& text) {
  std::vector<Related> related = {{"renamed refs", Renamed(text)}, {"a body in a branch", InBranch(text)}};
  if (const std::string permuted = Permuted(text); !permuted.empty())
    related.push_back({"permuted operands", permuted, true});
  if (const std::string more = OneMoreDimension(text); !more.empty())
    related.push_back({"a dimension of size 1 more", more});
  return related;
}

}  // namespace palladion::hunt
