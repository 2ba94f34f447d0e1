// Which cases run: what the words of the command line name, a tier of them, one shard of those. The order is that of
// their names, so every process that is asked for shards of one suite divides the same list.
#ifndef PALLADION_CONFORMANCE_CASE_SELECTION_H_
#define PALLADION_CONFORMANCE_CASE_SELECTION_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "conformance/case_file.h"

namespace palladion::conformance {

// kQuick: for each rule of the specification the first case that names it. kFull: every case.
enum class Tier : std::uint8_t { kQuick, kFull };

struct Shard {
  std::size_t index = 1, count = 1;  // from 1
};

struct SelectedCase {
  std::string name;           // "elementwise/add": its folder and its own name
  std::string path;           // of the file
  std::string place;          // "cases/elementwise/add.case:add_wraps", or the path of a file with no other case
  int line = 1;               // of the file, where it begins
  std::string hash;           // of its text
  absl::StatusOr<Case> test;  // a file that is no case fails when it is run
};

// `words` are files, single cases of files (FILE.case:NAME), folders, and filters: a case's name, a part of names or of
// `# spec:` lines, or a pattern of all of one with * and ?. Without a file or folder the filters choose from
// `default_folder`. InvalidArgument: a folder without cases, a case that is not in its file, a filter that no case
// meets, two cases of one name.
absl::StatusOr<std::vector<SelectedCase>> SelectCases(const std::vector<std::string>& words,
                                                      const std::string& default_folder);

std::vector<SelectedCase> OfTier(std::vector<SelectedCase> cases, Tier tier);

// One case in `count`, beginning with number `index`: neighbours, which are alike, go to different shards.
std::vector<SelectedCase> OfShard(std::vector<SelectedCase> cases, Shard shard);

}  // namespace palladion::conformance

#endif  // PALLADION_CONFORMANCE_CASE_SELECTION_H_
