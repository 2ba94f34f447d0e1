// What limits a kernel: its time on the same chip with one rate doubled, or with steps of a grid that take half as
// long. Not a change of the kernel, but a hint where to look for one.
#ifndef PALLADION_EMU_TOOLS_ADVICE_WHAT_IF_H_
#define PALLADION_EMU_TOOLS_ADVICE_WHAT_IF_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/chip/machines/description.h"
#include "emu/timing/time_kernel.h"

namespace palladion::advice {

struct RateRow {
  std::string_view rate;  // a number of the machine
  std::string_view with;  // a number that bounds it, doubled with it; "": none
  bool halved = false;    // it is a time, and half of it is what is faster
};
absl::Span<const RateRow> AllRates();

struct WhatIf {
  std::string rate;                           // "l2.bandwidth"
  std::string with;                           // "l2.slice_rate"
  std::optional<machines::Nanoseconds> time;  // nothing: refused
  std::string refused;                        // why the machine cannot have it
  bool halved = false;                        // not doubled
};

// The call with each rate that its machine has, doubled or halved. An error is that of a run, or that it was
// interrupted.
absl::StatusOr<std::vector<WhatIf>> WhatIfs(const timing::base::TimedCall& call);

}  // namespace palladion::advice

#endif  // PALLADION_EMU_TOOLS_ADVICE_WHAT_IF_H_
