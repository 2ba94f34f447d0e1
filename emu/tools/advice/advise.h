// What would make a kernel faster on a chip, computed: the kernel with each change of change.h is verified, run in
// virtual time with the same inputs, and checked; and the kernel as it is runs on the chip with one rate doubled
// (what_if.h). Only a change that computes the same, bit for bit, without a new finding, is advice; the others are
// listed with the reason. Equal outputs of inputs whose elements are all alike show nothing: floats that are all alike
// are random where outputs are compared, and outputs that are then still all alike are no evidence. Not covered: two
// changes together, and what the timing model leaves out (docs/explanation/time.md).
#ifndef PALLADION_EMU_TOOLS_ADVICE_ADVISE_H_
#define PALLADION_EMU_TOOLS_ADVICE_ADVISE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/emulate.h"
#include "emu/report.h"
#include "emu/timing/report/timing.h"
#include "emu/timing/time_kernel.h"
#include "emu/tools/advice/change.h"
#include "emu/tools/advice/what_if.h"

namespace palladion::advice {

inline constexpr std::int64_t kSeeds = 4;

// All outlive the call.
struct Request {
  const PreparedKernel& kernel;  // observable
  absl::Span<const Tensor> inputs;
  const machines::Machine& machine;
  RunOptions run;
  std::int64_t seeds = kSeeds;  // schedules of each check
  bool what_ifs = true;         // of the chip
  absl::Span<const ChangeRow> changes = AllChanges();
};

// One change, alone.
struct Tried {
  std::string_view change;  // a name of AllChanges
  std::string what;
  int text_line = 0;
  LocId loc;
  std::optional<machines::Nanoseconds> time;  // nothing: refused
  std::optional<double> uncertainty;          // share of `time`; nothing: not known
  std::string refused;                        // why
  std::string text;                           // of the kernel with it, in canonical form
};

struct Advice {
  timing::report::Timing timing;    // as it is
  std::vector<Tried> tried;         // what takes least first; then what was refused
  std::vector<NotTried> not_tried;  //
  std::vector<WhatIf> what_ifs;     // what takes least first
  std::vector<std::string> random;  // inputs whose elements are all alike: random ones where outputs are compared
  std::int64_t schedules = 0;       // of the check of the kernel as it is
  Report report;                    // of that check
};

// Errors are those of TimeKernel and Check of the kernel as it is, and that it was interrupted.
absl::StatusOr<Advice> Advise(const Request& request);

}  // namespace palladion::advice

#endif  // PALLADION_EMU_TOOLS_ADVICE_ADVISE_H_
