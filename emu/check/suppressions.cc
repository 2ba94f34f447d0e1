#include "emu/check/suppressions.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "semantics/base/cat.h"
#include "semantics/base/edit_distance.h"
#include "semantics/base/finding.h"
#include "semantics/base/status.h"

namespace palladion::check {
namespace {

std::string_view Trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// * and ? never match a slash, so where a star stops at one, no earlier star can help.
bool GlobMatches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++, resume = t;
    } else if (p < pattern.size() && (pattern[p] == '?' ? text[t] != '/' : pattern[p] == text[t])) {
      ++p, ++t;
    } else if (star != std::string_view::npos && text[resume] != '/') {
      p = star + 1, t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool ParseNumber(std::string_view text, int* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size() && *number > 0;
}

// The name of a code that is close to `name`, or "".
std::string SimilarCode(std::string_view name) {
  std::string upper(name.substr(0, 40));
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
  std::string best;
  std::size_t least = 3;
  for (const CodeRow& row : AllCodes()) {
    const std::size_t distance = EditDistance(upper, row.name);
    if (distance < least) least = distance, best = std::string(row.name);
  }
  return best;
}

}  // namespace

absl::StatusOr<FindingCode> KnownCode(std::string_view name) {
  if (const std::optional<FindingCode> code = CodeFromName(name); code.has_value()) return *code;
  const std::string similar = SimilarCode(name);
  return absl::InvalidArgumentError(
      Cat("unknown finding code '", name, "'",
          similar.empty() ? "; `palladion explain` lists them" : Cat("; did you mean ", similar, "?")));
}

bool PathMatches(std::string_view pattern, std::string_view path) {
  if (GlobMatches(pattern, path)) return true;
  for (std::size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1)) {
    if (GlobMatches(pattern, path.substr(slash + 1))) return true;
  }
  return false;
}

absl::Status Suppressions::ParsePlace(std::string_view place, Entry& entry) {
  const std::size_t colon = place.rfind(':');
  entry.pattern = std::string(place.substr(0, colon));
  if (entry.pattern.empty() || entry.pattern == "@")
    return absl::InvalidArgumentError(Cat("expected FILE, FILE:LINE, @KERNEL or @KERNEL:LINE; found '", place, "'"));
  if (colon == std::string_view::npos) return absl::OkStatus();
  const std::string_view lines = place.substr(colon + 1);
  const std::size_t dash = lines.find('-');
  const std::string_view last = dash == std::string_view::npos ? lines : lines.substr(dash + 1);
  if (ParseNumber(lines.substr(0, dash), &entry.first_line) && ParseNumber(last, &entry.last_line) &&
      entry.first_line <= entry.last_line)
    return absl::OkStatus();
  return absl::InvalidArgumentError(
      Cat("expected a line, 12, or lines, 12-20, after '", entry.pattern, ":'; found '", lines, "'"));
}

absl::Status Suppressions::ParseLine(std::string_view line, Entry& entry) {
  const std::size_t hash = line.find('#');
  const std::string_view rule = Trim(line.substr(0, hash));
  entry.reason = hash == std::string_view::npos ? "" : std::string(Trim(line.substr(hash + 1)));
  const std::size_t space = rule.find_first_of(" \t");
  const std::string_view name = rule.substr(0, space);
  PALLADION_ASSIGN_OR_RETURN(entry.code, KnownCode(name));
  const std::string_view place = space == std::string_view::npos ? "" : Trim(rule.substr(space));
  if (place.empty())
    return absl::InvalidArgumentError(Cat("expected a place after ", name, ": FILE:LINE or @KERNEL; found none"));
  if (place.find_first_of(" \t") != std::string_view::npos)
    return absl::InvalidArgumentError(Cat("expected CODE FILE:LINE # reason; found '", rule, "'"));
  PALLADION_RETURN_IF_ERROR(ParsePlace(place, entry));
  if (entry.reason.empty())
    return absl::InvalidArgumentError("a suppression needs a reason: CODE FILE:LINE # why this is accepted");
  return absl::OkStatus();
}

absl::StatusOr<Suppressions> Suppressions::Parse(std::string_view text, std::string_view path) {
  Suppressions suppressions;
  int number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = Trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line[0] == '#') continue;
    Entry entry;
    if (const absl::Status status = ParseLine(line, entry); !status.ok())
      return absl::InvalidArgumentError(Cat(path, ":", number, ": ", ToStd(status.message())));
    entry.shown = Cat(path, ":", number, ": ", Trim(line.substr(0, line.find('#'))));
    suppressions.entries_.push_back(std::move(entry));
  }
  return suppressions;
}

bool Suppressions::Matches(const Entry& entry, const std::vector<SourceFrame>& frames) {
  return std::any_of(frames.begin(), frames.end(), [&](const SourceFrame& frame) {
    return (entry.first_line == 0 || (frame.line >= entry.first_line && frame.line <= entry.last_line)) &&
           PathMatches(entry.pattern, frame.file);
  });
}

bool Suppressions::Matches(const Entry& entry, const ReportedFinding& finding, const std::string& kernel) {
  if (finding.code != entry.code) return false;
  if (entry.pattern[0] != '@') {
    return Matches(entry, finding.frames) || (finding.first.has_value() && Matches(entry, finding.first->frames)) ||
           (finding.second.has_value() && Matches(entry, finding.second->frames));
  }
  const auto in_range = [&](int line) { return line >= entry.first_line && line <= entry.last_line; };
  if (!GlobMatches(entry.pattern.substr(1), kernel)) return false;
  return entry.first_line == 0 || in_range(finding.text_line) ||
         (finding.first.has_value() && in_range(finding.first->text_line)) ||
         (finding.second.has_value() && in_range(finding.second->text_line));
}

void Suppressions::Apply(Report& report) const {
  for (const Entry& entry : entries_) {
    bool used = false;
    for (ReportedFinding& finding : report.findings) {
      if (!Matches(entry, finding, report.kernel)) continue;
      used = true;
      if (finding.suppressed.empty()) finding.suppressed = entry.reason;
    }
    if (!used) report.unused_suppressions.push_back(entry.shown);
  }
  report.verdict = VerdictOf(report);
}

}  // namespace palladion::check
