// The command line of conformance_run, as `palladion conformance` hands it on. The description of the options is
// in emu/front/command/command_table.cc; python/tests/test_conformance_command.py compares the two.
#ifndef PALLADION_CONFORMANCE_SUITE_OPTIONS_H_
#define PALLADION_CONFORMANCE_SUITE_OPTIONS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "conformance/case_selection.h"

namespace palladion::conformance {

enum class ReportFormat : std::uint8_t { kText, kJson, kJUnit, kSarif };

struct ConformanceLine {
  std::vector<std::string> words;
  Tier tier = Tier::kFull;
  Shard shard;
  std::string shard_status_file;  // of GoogleTest's protocol: it is made to say that shards are understood
  std::size_t jobs = 1;
  std::optional<std::string> backend;
  std::chrono::milliseconds time{60000};
  std::string resume, output;
  ReportFormat format = ReportFormat::kText;
  bool write_hashes = false;
};

// The environment's GTEST_TOTAL_SHARDS, GTEST_SHARD_INDEX and GTEST_SHARD_STATUS_FILE count where there is no --shard.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

// InvalidArgument: an option that there is not, or a value that it cannot have.
absl::StatusOr<ConformanceLine> ParseConformanceLine(const std::vector<std::string>& arguments,
                                                     const Environment& environment);

}  // namespace palladion::conformance

#endif  // PALLADION_CONFORMANCE_SUITE_OPTIONS_H_
