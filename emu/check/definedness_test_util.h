// Launches with definedness tracked, for tests.
#ifndef PALLADION_EMU_CHECK_DEFINEDNESS_TEST_UTIL_H_
#define PALLADION_EMU_CHECK_DEFINEDNESS_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "emu/run/launch/run.h"
#include "emu/values.h"

namespace palladion::check {

struct TrackedRun {
  std::vector<Tensor> outputs;
  agents::Ran result;
  std::vector<std::size_t> undefined;  // elements of the first output
  std::vector<std::uint8_t> marks;     // of each of its elements

  // "PAD_LEAK": the codes of the findings, in order, with spaces between.
  std::string codes() const {
    std::string codes;
    for (const Finding& finding : result.findings)
      codes += (codes.empty() ? "" : " ") + std::string(RowOf(finding.code).name);
    return codes;
  }
};

// Runs the text's kernel; every input is iota.
inline TrackedRun RunTracked(const std::string& text, const std::string& target, agents::LaunchOptions options = {}) {
  TrackedRun run;
  const absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.kernel = "", .target = target, .path = ""});
  EXPECT_TRUE(kernel.ok()) << kernel.status() << "\n" << text;
  if (!kernel.ok()) return run;
  std::vector<Tensor> tensors;
  std::vector<ConstArray> inputs;
  for (const OperandDescription& input : kernel->inputs())
    tensors.push_back(*TensorFromText(input.dtype, input.shape, "iota"));
  for (const Tensor& tensor : tensors) inputs.push_back({tensor.dtype(), tensor.shape(), tensor.bytes()});
  std::vector<MutableArray> outputs;
  for (const OperandDescription& output : kernel->outputs()) run.outputs.emplace_back(output.dtype, output.shape);
  for (Tensor& tensor : run.outputs) outputs.push_back({tensor.dtype(), tensor.shape(), tensor.bytes()});
  options.definedness = true;
  run::BoundAndFinished marks({}, [&](memory_model::Memory& memory, absl::Span<const BufferId> arrays) {
    for (std::int64_t e = 0; e < run.outputs[0].num_elements(); ++e) {
      run.marks.push_back(memory.MarkOf(arrays[inputs.size()], ElementCount(e)));
      if (run.marks.back() != 0) run.undefined.push_back(static_cast<std::size_t>(e));
    }
  });
  options.observers = {&marks};
  absl::StatusOr<agents::Ran> result = launch::Run({kernel->state(), inputs, outputs}, options);
  EXPECT_TRUE(result.ok()) << result.status() << "\n" << text;
  if (result.ok()) run.result = *std::move(result);
  return run;
}

}  // namespace palladion::check

#endif  // PALLADION_EMU_CHECK_DEFINEDNESS_TEST_UTIL_H_
