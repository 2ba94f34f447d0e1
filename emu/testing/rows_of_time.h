// Whether the rows of a time's table by line add up to the whole that their shares are of: for the conformance suite,
// as for_tests.h, and for tests of models.
#ifndef PALLADION_EMU_TESTING_ROWS_OF_TIME_H_
#define PALLADION_EMU_TESTING_ROWS_OF_TIME_H_

#include <cmath>
#include <string>

#include "emu/timing/report/timing.h"
#include "semantics/base/cat.h"

namespace palladion::timing {

// "": they do, or there is no whole.
inline std::string MissingOfTheRows(const report::Timing& timing) {
  constexpr double kLeast = 1e-6;  // of the whole: sums of doubles
  if (!timing.whole.has_value()) return "";
  machines::Cycles sum;
  for (const report::LineTime& line : timing.lines) sum += line.busy + line.waited;
  for (const report::Whole::Part& part : timing.whole->rest) sum += part.time;
  const machines::Cycles whole = timing.whole->time;
  if (std::abs((sum - whole).value()) <= kLeast * whole.value()) return "";
  return Cat("rows have ", sum.value(), " cycles of ", whole.value(), ": ", timing.whole->of);
}

}  // namespace palladion::timing

#endif  // PALLADION_EMU_TESTING_ROWS_OF_TIME_H_
