#include "emu/check/inline_suppressions.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "emu/check/suppressions.h"
#include "semantics/base/cat.h"
#include "semantics/base/edit_distance.h"
#include "semantics/base/finding.h"
#include "semantics/base/source_lines.h"
#include "semantics/base/status.h"

namespace palladion::check {
namespace {

constexpr std::string_view kForm = "# palladion: ignore[CODE] why this is accepted";
constexpr std::string_view kName = "palladion:", kWord = "ignore";

using Place = std::pair<std::string, int>;  // a file and a line

struct Entry {
  Place place;
  FindingCode code = FindingCode::kOutOfBounds;
  std::string reason;
};

std::string_view Trimmed(std::string_view text) {
  const absl::string_view trimmed = absl::StripAsciiWhitespace(absl::string_view(text.data(), text.size()));
  return {trimmed.data(), trimmed.size()};
}

// From the first # that is in no string of this line; "" where there is none.
std::string_view CommentOf(std::string_view line) {
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (quote != 0 && line[i] == '\\') {
      ++i;
    } else if (quote != 0) {
      if (line[i] == quote) quote = 0;
    } else if (line[i] == '"' || line[i] == '\'') {
      quote = line[i];
    } else if (line[i] == '#') {
      return line.substr(i);
    }
  }
  return "";
}

absl::StatusOr<std::vector<FindingCode>> CodesOf(std::string_view list) {
  std::vector<FindingCode> codes;
  for (const absl::string_view part : absl::StrSplit(absl::string_view(list.data(), list.size()), ',')) {
    PALLADION_ASSIGN_OR_RETURN(const FindingCode code, KnownCode(Trimmed({part.data(), part.size()})));
    if (std::find(codes.begin(), codes.end(), code) == codes.end()) codes.push_back(code);
  }
  return codes;
}

// Is it a misspelt `ignore`, and no word of prose?
bool IsMisspelt(std::string_view word, std::string_view after) {
  return EditDistance(word, kWord) <= 2 || (!after.empty() && after[0] == '[');
}

// Files that do not have the comment's name anywhere are not read line by line.
std::set<Place> PlacesOf(const Module* module, const Report& report, SourceFiles& sources) {
  std::set<Place> places;
  std::set<std::string> without;
  const auto add = [&](const std::string& file, int line) {
    if (line < 1 || without.count(file) > 0 || places.count({file, line}) > 0) return;
    if (sources.Text(file).find(kName) == std::string::npos) {
      without.insert(file);
    } else {
      places.insert({file, line});
    }
  };
  if (module != nullptr) {
    for (const Loc& loc : module->locs) add(module->files[loc.file.index()], loc.line);
  }
  for (const ReportedFinding& finding : report.findings) {
    for (const SourceFrame& frame : finding.frames) add(frame.file, frame.line);
    for (const std::optional<ReportedAccess>* access : {&finding.first, &finding.second}) {
      if (!access->has_value()) continue;
      for (const SourceFrame& frame : (*access)->frames) add(frame.file, frame.line);
    }
  }
  return places;
}

bool Has(const std::vector<SourceFrame>& frames, const Place& place) {
  return std::any_of(frames.begin(), frames.end(),
                     [&](const SourceFrame& frame) { return frame.line == place.second && frame.file == place.first; });
}

bool Matches(const Entry& entry, const ReportedFinding& finding) {
  if (finding.code != entry.code) return false;
  return Has(finding.frames, entry.place) || (finding.first.has_value() && Has(finding.first->frames, entry.place)) ||
         (finding.second.has_value() && Has(finding.second->frames, entry.place));
}

void Apply(const Entry& entry, Report& report) {
  bool used = false;
  for (ReportedFinding& finding : report.findings) {
    if (!Matches(entry, finding)) continue;
    used = true;
    if (!finding.suppressed.empty()) continue;
    finding.suppressed = entry.reason;
    finding.suppressed_in_source = true;
  }
  if (!used && report.checked)
    report.unused_suppressions.push_back(
        Cat(entry.place.first, ":", entry.place.second, ": palladion: ignore[", Code(entry.code), "]"));
}

}  // namespace

absl::StatusOr<std::optional<InlineSuppression>> ParseInlineSuppression(std::string_view line) {
  const std::string_view comment = CommentOf(line);
  const std::size_t name = comment.find(kName);
  if (name == std::string_view::npos || Trimmed(comment.substr(0, name)).find_last_of('#') == std::string_view::npos ||
      Trimmed(comment.substr(0, name)).back() != '#')
    return std::nullopt;
  std::string_view rest = Trimmed(comment.substr(name + kName.size()));
  const std::string_view word = rest.substr(0, rest.find_first_of(" \t["));
  rest = Trimmed(rest.substr(word.size()));
  if (word != kWord) {
    if (!IsMisspelt(word, rest)) return std::nullopt;
    return absl::InvalidArgumentError(Cat("expected ", kForm, "; found '", word, "'"));
  }
  const std::size_t end = rest.find(']');
  if (rest.empty() || rest[0] != '[' || end == std::string_view::npos)
    return absl::InvalidArgumentError(Cat("expected ", kForm, "; found no [CODE] after '", word, "'"));
  InlineSuppression found;
  PALLADION_ASSIGN_OR_RETURN(found.codes, CodesOf(rest.substr(1, end - 1)));
  found.reason = std::string(Trimmed(rest.substr(end + 1)));
  if (found.reason.empty()) return absl::InvalidArgumentError(Cat("a suppression needs a reason: ", kForm));
  return found;
}

void ApplyInlineSuppressions(const Module* module, Report& report) {
  SourceFiles sources;
  for (const Place& place : PlacesOf(report.checked ? module : nullptr, report, sources)) {
    const std::optional<std::string> line = sources.Line(place.first, place.second);
    if (!line.has_value()) continue;
    const absl::StatusOr<std::optional<InlineSuppression>> parsed = ParseInlineSuppression(*line);
    if (!parsed.ok() && !report.error.has_value())
      report.error = ReportedError{ExitCode::kMalformed,
                                   Cat(place.first, ":", place.second, ": ", ToStd(parsed.status().message()))};
    if (!parsed.ok() || !parsed->has_value()) continue;
    for (const FindingCode code : (*parsed)->codes) Apply({place, code, (*parsed)->reason}, report);
  }
  report.verdict = VerdictOf(report);
}

}  // namespace palladion::check
