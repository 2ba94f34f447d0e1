// What a hunt has counted so far, as a file from which it goes on when it is started again, and as a row of the table
// of all runs (runs.tsv, docs/develop/hunting.md). Limits: a file is of one hunt, of one first kernel and one family.
#ifndef PALLADION_EMU_TOOLS_HUNT_HUNT_RECORD_H_
#define PALLADION_EMU_TOOLS_HUNT_HUNT_RECORD_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "emu/tools/hunt/hunt_oracle.h"

namespace palladion::hunt {

struct HuntTotals {
  std::string commit = "unknown", family = "all";
  std::int64_t first = 1, kernels = 0;               // that were judged
  std::map<std::string, std::int64_t> counts;        // by verdict, and by what was compared
  std::map<std::string, std::int64_t> contradicted;  // by kind

  void Add(const HuntResult& result);
  std::int64_t Count(const std::string& name) const {
    const auto at = counts.find(name);
    return at == counts.end() ? 0 : at->second;
  }
};

std::string TotalsText(const HuntTotals& totals);
absl::StatusOr<HuntTotals> TotalsOf(const std::string& text);

// Goes on where the file of that name stopped, if there is one. InvalidArgument: it is of another hunt.
absl::Status GoOn(const std::string& path, HuntTotals* totals);
absl::Status Save(const std::string& path, const HuntTotals& totals);

// A row behind the others; the file has a line of headings.
absl::Status AddRow(const std::string& path, const HuntTotals& totals);

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_TOOLS_HUNT_HUNT_RECORD_H_
