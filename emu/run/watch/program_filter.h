// --program: which one program of the grid runs.
#ifndef PALLADION_EMU_RUN_WATCH_PROGRAM_FILTER_H_
#define PALLADION_EMU_RUN_WATCH_PROGRAM_FILTER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace palladion::watch {

// "2,0" or "(2, 0)"; "" is the program of a kernel without a grid. InvalidArgument: not that. Whether the grid has such
// a program is known when its size is: LaunchOptions::only_program.
absl::StatusOr<std::vector<std::int64_t>> ParseProgram(const std::string& text);

}  // namespace palladion::watch

#endif  // PALLADION_EMU_RUN_WATCH_PROGRAM_FILTER_H_
