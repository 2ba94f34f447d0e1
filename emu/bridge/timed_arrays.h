// How long a kernel takes and what would make it faster, of arrays that a caller owns, as JSON and as text: for the C
// ABI and for calls from compiled programs.
#ifndef PALLADION_EMU_BRIDGE_TIMED_ARRAYS_H_
#define PALLADION_EMU_BRIDGE_TIMED_ARRAYS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/emulate.h"

namespace palladion::bridge {

struct TimeTold {
  std::string json, text;  // emu/time/timing_told.h
};

// `kernel` is observable, and its target names a chip; `changes` are of the chip's numbers. Errors as
// time::TimeKernel's, and how the run ended.
absl::StatusOr<TimeTold> TimeOfArrays(const PreparedKernel& kernel, absl::Span<const ConstArray> arrays,
                                      absl::Span<const std::string> changes, const RunOptions& run);

// The same of emu/advice; the text is that of `palladion advise`.
struct AdviceAsked {
  std::int64_t seeds = 0;  // 0: the default
  bool what_ifs = true;
};
absl::StatusOr<TimeTold> AdviceOfArrays(const PreparedKernel& kernel, absl::Span<const ConstArray> arrays,
                                        absl::Span<const std::string> changes, const RunOptions& run,
                                        const AdviceAsked& asked);

}  // namespace palladion::bridge

#endif  // PALLADION_EMU_BRIDGE_TIMED_ARRAYS_H_
