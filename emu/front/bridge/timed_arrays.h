// Timing and advice for a kernel on arrays that the caller owns, as JSON and as text: for the C ABI and for calls from
// compiled programs.
#ifndef PALLADION_EMU_FRONT_BRIDGE_TIMED_ARRAYS_H_
#define PALLADION_EMU_FRONT_BRIDGE_TIMED_ARRAYS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/emulate.h"
#include "emu/timing/timeline/timeline.h"

namespace palladion::bridge {

struct TimeReport {
  std::string json, text;   // emu/timing/report/format.h
  std::string page, trace;  // of the timeline
};

struct TimeWanted {
  std::vector<std::string> changes = {};  // of the chip's numbers
  std::optional<timing::timeline::TimelineOptions> timeline = {};
  std::string_view kernel_text = {};  // for the timeline
  std::string compare = {};           // a page that the timeline's stands beside; "": none
  std::string replay = {};            // of timing::base::TimedCall
};

// `kernel` is observable, and its target names a chip. Errors as timing::TimeKernel's, and how the run ended.
absl::StatusOr<TimeReport> TimeOfArrays(const PreparedKernel& kernel, absl::Span<const ConstArray> arrays,
                                        const TimeWanted& wanted, const RunOptions& run);

// The same of emu/tools/advice; the text is that of `palladion advise`.
struct AdviceWanted {
  std::int64_t seeds = 0;  // 0: the default
  bool what_ifs = true;
};
absl::StatusOr<TimeReport> AdviceOfArrays(const PreparedKernel& kernel, absl::Span<const ConstArray> arrays,
                                          const TimeWanted& wanted, const RunOptions& run,
                                          const AdviceWanted& advice_wanted);

}  // namespace palladion::bridge

#endif  // PALLADION_EMU_FRONT_BRIDGE_TIMED_ARRAYS_H_
