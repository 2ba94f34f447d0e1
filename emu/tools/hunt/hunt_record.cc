#include "emu/tools/hunt/hunt_record.h"

#include <cstdio>
#include <fstream>
#include <sstream>
#include <utility>

#include "semantics/base/cat.h"

namespace palladion::hunt {
namespace {

constexpr const char* kColumns[] = {"proved",    "clean",  "nondeterministic", "warning",    "defect", "searched",
                                    "exhausted", "missed", "races_compared",   "with_races", "related"};

}  // namespace

void HuntTotals::Add(const HuntResult& result) {
  ++kernels;
  ++counts[result.verdict.empty() ? "refused" : result.verdict];
  counts["searched"] += result.searched;
  counts["exhausted"] += result.exhausted;
  counts["missed"] += result.missed;
  counts["races_compared"] += result.races_compared;
  counts["with_races"] += result.racy;
  counts["related"] += result.related;
  for (const Contradiction& contradiction : result.contradictions) ++contradicted[contradiction.kind];
}

std::string TotalsText(const HuntTotals& totals) {
  std::string text = Cat("commit\t", totals.commit, "\nfamily\t", totals.family, "\nfirst\t", totals.first,
                         "\nkernels\t", totals.kernels, "\n");
  for (const auto& [name, count] : totals.counts) Append(&text, "count\t", name, "\t", count, "\n");
  for (const auto& [kind, count] : totals.contradicted) Append(&text, "contradicted\t", kind, "\t", count, "\n");
  return text;
}

absl::StatusOr<HuntTotals> TotalsOf(const std::string& text) {
  HuntTotals totals;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string what, name, number;
    std::getline(words, what, '\t');
    std::getline(words, name, '\t');
    std::getline(words, number, '\t');
    if (what == "commit") {
      totals.commit = name;
    } else if (what == "family") {
      totals.family = name;
    } else if (what == "first") {
      totals.first = std::atoll(name.c_str());
    } else if (what == "kernels") {
      totals.kernels = std::atoll(name.c_str());
    } else if (what == "count") {
      totals.counts[name] = std::atoll(number.c_str());
    } else if (what == "contradicted") {
      totals.contradicted[name] = std::atoll(number.c_str());
    } else {
      return absl::InvalidArgumentError(Cat("'", line, "' is no line of a hunt's counts"));
    }
  }
  return totals;
}

absl::Status GoOn(const std::string& path, HuntTotals* totals) {
  std::ifstream file(path);
  if (!file) return absl::OkStatus();
  std::stringstream text;
  text << file.rdbuf();
  absl::StatusOr<HuntTotals> before = TotalsOf(text.str());
  if (!before.ok()) return absl::InvalidArgumentError(Cat(path, ": ", std::string(before.status().message())));
  if (before->family != totals->family || before->first != totals->first || before->commit != totals->commit)
    return absl::InvalidArgumentError(Cat(path, " has the counts of kernels of ", before->family, " from ",
                                          before->first, " at commit ", before->commit,
                                          ": give this hunt another file, or the same family, number and commit"));
  *totals = *std::move(before);
  return absl::OkStatus();
}

// In one step, so that a hunt that is ended at any time leaves counts of whole kernels.
absl::Status Save(const std::string& path, const HuntTotals& totals) {
  const std::string next = Cat(path, ".next");
  std::ofstream file(next, std::ios::trunc);
  file << TotalsText(totals);
  file.close();
  if (!file || std::rename(next.c_str(), path.c_str()) != 0)
    return absl::InvalidArgumentError(Cat("cannot write ", path));
  return absl::OkStatus();
}

absl::Status AddRow(const std::string& path, const HuntTotals& totals) {
  const bool empty = !std::ifstream(path).good();
  std::ofstream file(path, std::ios::app);
  if (empty) {
    file << "commit\tfamily\tfirst\tkernels";
    for (const char* const column : kColumns) file << "\t" << column;
    file << "\tcontradicted\n";
  }
  file << totals.commit << "\t" << totals.family << "\t" << totals.first << "\t" << totals.kernels;
  for (const char* const column : kColumns) file << "\t" << totals.Count(column);
  std::int64_t contradicted = 0;
  for (const auto& [kind, count] : totals.contradicted) contradicted += count;
  file << "\t" << contradicted << "\n";
  return file ? absl::OkStatus() : absl::InvalidArgumentError(Cat("cannot write ", path));
}

}  // namespace palladion::hunt
