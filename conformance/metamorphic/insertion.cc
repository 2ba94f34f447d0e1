#include "conformance/metamorphic/insertion.h"

#include <algorithm>
#include <regex>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "semantics/base/cat.h"

namespace palladion::conformance {
namespace {

constexpr std::string_view kOpens = ") {";

// The printer's lines: a region that is not empty opens at the end of a line, and what closes it stands below the line
// that opened it, as far from the margin.
class KernelLines {
 public:
  explicit KernelLines(std::string_view text) : lines_(absl::StrSplit(std::string(text), '\n')) {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (lines_[i].starts_with("  body @")) bodies_.push_back(i);
    }
  }

  const std::vector<std::size_t>& bodies() const { return bodies_; }
  const std::string& line(std::size_t i) const { return lines_[i]; }
  std::string Text() const { return absl::StrJoin(lines_, "\n"); }
  std::set<int> changed() const { return changed_; }

  void InsertAt(std::size_t i, std::size_t column, const std::string& text) {
    lines_[i].insert(column, text);
    changed_.insert(static_cast<int>(i) + 1);
  }

  static std::size_t Indent(const std::string& line) { return line.find_first_not_of(' '); }

  // The line that closes the region that line `i` opens.
  std::size_t CloseOf(std::size_t i) const {
    const std::size_t indent = Indent(lines_[i]);
    std::size_t at = i + 1;
    while (at < lines_.size() && Indent(lines_[at]) != indent) ++at;
    return at;
  }

  // The line that opens the region in which a body's operations stand. A scope that is all of a body of a GPU's kernel
  // and makes global memory makes it for the whole grid, another scope for its block (gpu-threads.md#memory): what is
  // put before it would change that, so it goes inside.
  std::size_t OpenOf(std::size_t body) const {
    std::size_t open = body;
    while (open + 1 < lines_.size()) {
      const std::string& inner = lines_[open + 1];
      if (inner.find("run_scoped") == std::string::npos || inner.find("ref<gmem,") == std::string::npos) break;
      if (!inner.ends_with(kOpens)) break;
      const std::size_t close = CloseOf(open + 1);
      if (close + 1 >= lines_.size() || Trimmed(close + 1).substr(0, 6) != "return") break;
      ++open;
    }
    return open;
  }

  // The line that opens the body of the first loop behind line `i`.
  std::optional<std::size_t> LoopAfter(std::size_t i) const {
    for (std::size_t at = i + 1; at < lines_.size() && !lines_[at].starts_with("  body @"); ++at) {
      if (!lines_[at].ends_with(kOpens)) continue;
      if (lines_[at].find("core_map{") != std::string::npos) return std::nullopt;  // what follows is of warps
      const std::string_view line = Trimmed(at);
      const std::size_t bound = line.find(" = ");
      const std::string_view op = bound == line.npos ? line : line.substr(bound + 3);
      if (op.starts_with("scan{")) return at;
      if (op.starts_with("while(")) {
        const std::size_t body = CloseOf(at);
        if (body < lines_.size() && lines_[body].ends_with(kOpens)) return body;
      }
    }
    return std::nullopt;
  }

 private:
  std::string_view Trimmed(std::size_t i) const {
    return std::string_view(lines_[i]).substr(std::min(lines_[i].size(), Indent(lines_[i])));
  }

  std::vector<std::string> lines_;
  std::vector<std::size_t> bodies_;
  std::set<int> changed_;
};

void Replace(std::string& text, std::string_view from, const std::string& to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

std::string FirstOf(std::string_view text, const char* pattern) {
  std::cmatch match;
  return std::regex_search(text.data(), text.data() + text.size(), match, std::regex(pattern)) ? match[1].str() : "";
}

// A condition that is false and unknown before the kernel runs, where there is something to compute it
// from.
std::string Never(std::string_view text) {
  const std::string grid_axis = FirstOf(text, "grid_names=\\[(\"[^\"]*\")"),
                    thread = FirstOf(text, "thread_name=(\"[^\"]*\")");
  std::string index = "add(1:i32, 2:i32)";
  if (!grid_axis.empty() || !thread.empty()) {
    index = Cat("axis_index{axis=", grid_axis.empty() ? thread : grid_axis, "}()");
  } else if (std::regex_search(std::string(text), std::regex("\n  grid \\[[^\\]]+\\];"))) {
    index = "program_id{axis=0}()";
  }
  return Cat("%harmless_i = ", index, " : i32[]; %harmless_never = lt(%harmless_i, 0:i32) : bool[];");
}

// An element of the first parameter of the body that holds i32.
std::string Counter(const std::string& body_line) {
  std::smatch match;
  if (!std::regex_search(body_line, match,
                         std::regex("(%[A-Za-z0-9_]+): ref<(?:default|gmem|any),i32\\[([0-9,]+)\\]>")))
    return "";
  const std::size_t rank = static_cast<std::size_t>(std::count(match[2].first, match[2].second, ',')) + 1;
  return Cat(match[1].str(), ".at[", absl::StrJoin(std::vector<int>(rank, 0), ", "), "]");
}

std::optional<std::string> Instructions(const Harmless& harmless, std::string_view text, const std::string& body_line) {
  std::string instructions(harmless.text);
  if (harmless.text.find("$counter") != std::string_view::npos) {
    const std::string counter = Counter(body_line);
    if (counter.empty()) return std::nullopt;
    Replace(instructions, "$counter", counter);
  }
  const std::string axis = FirstOf(text, "thread_name=(\"[^\"]*\")"), threads = FirstOf(text, "threads=([0-9]+)");
  Replace(instructions, "$axes", Cat("[", axis, "]"));
  Replace(instructions, "$threads", threads.empty() ? "1" : threads);
  Replace(instructions, "$never", Never(text));
  return instructions;
}

// The place's line and column of one body.
std::optional<std::pair<std::size_t, std::size_t>> PlaceOf(const KernelLines& lines, std::size_t body, unsigned place) {
  const std::size_t open = lines.OpenOf(body);
  if (place == kAtStart) return std::pair(open, lines.line(open).rfind(kOpens) + kOpens.size());
  if (!lines.line(open).ends_with(kOpens)) return std::nullopt;  // nothing but a return
  if (place == kAtEnd) {
    const std::size_t last = lines.CloseOf(open) - 1;
    return std::pair(last, KernelLines::Indent(lines.line(last)));
  }
  const std::optional<std::size_t> loop = lines.LoopAfter(open);
  if (!loop.has_value()) return std::nullopt;
  return std::pair(*loop, lines.line(*loop).size());
}

}  // namespace

std::string_view PlaceName(unsigned place) { return place == kAtStart ? "start" : place == kAtEnd ? "end" : "loop"; }

std::optional<Inserted> Insert(std::string_view canonical, const Harmless& harmless, unsigned place) {
  const bool cluster = FirstOf(canonical, "cluster=\\[([0-9])") != "";
  if (cluster && !harmless.in_clusters) return std::nullopt;
  KernelLines lines(canonical);
  bool any = false;
  for (const std::size_t body : lines.bodies()) {
    const std::optional<std::string> instructions = Instructions(harmless, canonical, lines.line(body));
    if (!instructions.has_value()) return std::nullopt;
    const auto at = PlaceOf(lines, body, place);
    if (!at.has_value()) continue;
    any = true;
    if (!instructions->empty()) lines.InsertAt(at->first, at->second, Cat(" ", *instructions, " "));
  }
  if (!any) return std::nullopt;
  if (harmless.scratch.empty()) return Inserted{lines.Text(), lines.changed()};
  for (const std::size_t body : lines.bodies()) {
    const std::size_t end = lines.line(body).find(kOpens);
    const bool alone = lines.line(body)[end - 1] == '(';
    lines.InsertAt(body, end, Cat(alone ? "" : ", ", "%harmless: ", harmless.scratch));
  }
  lines.InsertAt(lines.bodies().front(), 0, Cat("  scratch %harmless_operand: ", harmless.scratch, ";"));
  return Inserted{lines.Text(), lines.changed()};
}

}  // namespace palladion::conformance
