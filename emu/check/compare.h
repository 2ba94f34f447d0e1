// The comparison of two schedules' outputs: NONDET where they differ, with the first element, both of its writers, and
// whether it is rounding order.
#ifndef PALLADION_EMU_CHECK_COMPARE_H_
#define PALLADION_EMU_CHECK_COMPARE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "emu/check/trial_runner.h"

namespace palladion::check {

struct OutputDifference {
  std::size_t output = 0;
  std::int64_t element = 0;  // the first that differs
  std::int64_t count = 0;    // of elements that differ
};
// In bits, of the first output that differs; nullopt: there is none. The same outputs of two runs of one kernel.
std::optional<OutputDifference> FirstDifference(absl::Span<const Tensor> a, absl::Span<const Tensor> b);

std::size_t OutputBytes(const Program& program);  // of all its devices

// NONDET of an output that has that name and shape; the writer of the element is added by a caller that can find it.
struct NamedOutput {
  std::string name;
  absl::Span<const std::int64_t> shape;
};
Finding DifferenceFinding(const NamedOutput& output, const OutputDifference& difference, const Trial& a,
                          const Trial& b);

// Whose element it is, as a launch knows it: among all operands, and on which device.
struct WatchedElement {
  std::size_t operand = 0;
  std::int64_t device = 0;
  std::int64_t element = 0;
};
// The schedule once more, for the last writer of the element.
absl::StatusOr<std::optional<FindingAccess>> LastWriterIn(const Trials& runner, const scheduler::Schedule& schedule,
                                                          const scheduler::RunLengths& lengths,
                                                          const WatchedElement& watched, const AgentNaming& naming);

// Any difference in bits?
bool SameOutputs(const Trial& a, const Trial& b);

struct ComparedTrials {
  const Trial& a;
  const Trial& b;
  const scheduler::RunLengths& lengths;
  // What the report has of accesses without an order, which the difference follows from: values may be anything, and
  // rounding is not tested. nullptr: nothing.
  const Finding* cause = nullptr;
};

// Nothing where the outputs are the same bits. A NaN equals itself, +0 and -0 differ.
absl::StatusOr<std::optional<Finding>> CompareOutputs(const TrialRunner& runner, const ComparedTrials& two);

// The GRID_ORDER notes of program order, where no backend is named. They are shown by two orders together: a replay of
// the other one has their accesses as the report does.
absl::StatusOr<std::vector<Finding>> GridOrderNotes(const TrialRunner& runner, const scheduler::RunLengths& lengths);

}  // namespace palladion::check

#endif  // PALLADION_EMU_CHECK_COMPARE_H_
