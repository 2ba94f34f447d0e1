// The time of a kernel twice, with and without the values that decide nothing: both are to be the same text. For the
// conformance suite, as for_tests.h.
#ifndef PALLADION_EMU_TESTING_WITH_AND_WITHOUT_VALUES_H_
#define PALLADION_EMU_TESTING_WITH_AND_WITHOUT_VALUES_H_

#include <algorithm>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/report.h"
#include "emu/run/launch/elided_program.h"
#include "emu/testing/rows_of_time.h"
#include "emu/timing/report/format.h"
#include "emu/timing/time_kernel.h"

namespace palladion::timing {

struct TimedTwice {
  std::string with_values, without_values;  // what is said of the time, and what was found
  bool elided = false;                      // the second left out what decides nothing
  bool scalars = false;                     // but arrays or scratch that decide something
  bool whole = false;                       // it says what its rows by line add up to
  std::string missing;                      // of these rows; "": nothing
};

// An error: the kernel's target is no chip, or one that has no model of time.
inline absl::StatusOr<TimedTwice> TimeWithAndWithoutValues(std::string_view text, std::string_view target,
                                                           absl::Span<const Tensor> inputs) {
  absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.target = std::string(target), .observable = true});
  if (!kernel.ok()) return kernel.status();
  const absl::StatusOr<machines::Machine> machine = MachineOf(*kernel, {});
  if (!machine.ok()) return machine.status();
  TimedTwice twice;
  const auto said = [&](bool values) {
    const absl::StatusOr<base::Timed> timed = TimeKernel({.kernel = *kernel,
                                                          .inputs = inputs,
                                                          .machine = *machine,
                                                          .run = {},
                                                          .timeline = {},
                                                          .values = values,
                                                          .every_wave = true});
    if (!timed.ok()) return timed.status().ToString();
    twice.whole = timed->timing.whole.has_value();
    twice.missing = MissingOfTheRows(timed->timing);
    return report::TimingJson(timed->timing, kernel->state().module()) + "\n" + ToJson(timed->report);
  };
  const launch::WithoutValues left = launch::KernelWithoutValues(kernel->state());
  twice.with_values = said(true);
  twice.without_values = said(false);
  twice.elided = left.kernel != nullptr;
  twice.scalars = std::find(left.moved.begin(), left.moved.end(), true) != left.moved.end();
  return twice;
}

}  // namespace palladion::timing

#endif  // PALLADION_EMU_TESTING_WITH_AND_WITHOUT_VALUES_H_
