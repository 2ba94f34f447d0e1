// Kernel text, timed on a TPU: for tests.
#ifndef PALLADION_EMU_TIME_TPU_TIMING_TEST_UTIL_H_
#define PALLADION_EMU_TIME_TPU_TIMING_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "emu/emulate.h"
#include "emu/time/time_kernel.h"
#include "emu/values.h"
#include "semantics/base/cat.h"

namespace palladion::time {

// Its inputs are ones.
inline Timed TimeText(const std::string& text, const std::string& chip) {
  const absl::StatusOr<PreparedKernel> kernel =
      PrepareText(text, {.kernel = "", .target = Cat("mosaic_tpu/", chip), .path = "", .observable = true});
  EXPECT_TRUE(kernel.ok()) << kernel.status() << "\n" << text;
  std::vector<Tensor> inputs;
  for (const OperandDescription& input : kernel->inputs())
    inputs.push_back(*TensorFromText(input.dtype, input.shape, "full(1.0)"));
  const absl::StatusOr<const machines::Machine*> machine = machines::FindMachine(chip);
  absl::StatusOr<Timed> timed = TimeKernel({*kernel, inputs, **machine, {}});
  EXPECT_TRUE(timed.ok()) << timed.status();
  return timed.ok() ? *std::move(timed) : Timed{};
}

inline const LineTime& LineOf(const Timing& timing, const std::string& op) {
  static const LineTime kNone;
  for (const LineTime& line : timing.lines) {
    if (line.op == op) return line;
  }
  ADD_FAILURE() << "no line " << op;
  return kNone;
}

}  // namespace palladion::time

#endif  // PALLADION_EMU_TIME_TPU_TIMING_TEST_UTIL_H_
