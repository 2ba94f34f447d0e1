// Random nested programs against a naive evaluation: scan, while, cond, calls, run_scoped, run_state, reads and writes
// of refs, under every kind of target. The evaluator copies every value, so it has none of the sharing that the
// prepared program lives by: slots that are used again, loop carries that swap, loads that borrow, results computed
// where they are wanted. Based on: the control and ref pages of docs/spec. It does not see floats, blocks at an edge,
// or accesses out of bounds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>

#include "emu/emulate.h"
#include "emu/testing/random_evaluator_test_util.h"
#include "emu/testing/random_program_test_util.h"
#include "semantics/base/sanitized_test_util.h"

namespace palladion {
namespace {

using namespace random_program;  // its Body and Op are not the ones of kernel text

using Value = std::vector<std::int32_t>;

Tensor TensorOf(const Value& value, std::vector<std::int64_t> shape) {
  Tensor tensor(DType::kI32, std::move(shape));
  std::memcpy(tensor.bytes(), value.data(), tensor.num_bytes());
  return tensor;
}

void Check(std::uint64_t seed, int width, bool observable = false) {
  Generator generator(seed, width);
  generator.Make();
  Value x(2 * static_cast<std::size_t>(width)), y(static_cast<std::size_t>(width));
  Random random(~seed);
  for (std::int32_t& element : x) element = random.Below(1 << 30) - (1 << 29);
  for (std::int32_t& element : y) element = random.Below(7) - 3;
  std::vector<std::string> printed;
  const Value expected = Evaluate<std::int32_t>(generator.body, x, y, {0}, printed);
  for (const char* target : {"generic", "triton/h100", "mosaic_gpu/h100", "mosaic_tpu/v5e"}) {
    const std::string what = Cat("seed ", seed, " on ", target, "\n", generator.text);
    const absl::StatusOr<PreparedKernel> kernel =
        PrepareText(generator.text, {.kernel = "", .target = target, .path = "", .observable = observable});
    ASSERT_TRUE(kernel.ok()) << kernel.status() << " " << what;
    const std::vector<Tensor> inputs = {TensorOf(x, {2, width}), TensorOf(y, {width})};
    const absl::StatusOr<RunResult> result = Run(*kernel, inputs, {.legality = LegalityMode::kOff});
    ASSERT_TRUE(result.ok()) << result.status() << " " << what;
    ASSERT_EQ(0, std::memcmp(result->outputs[0].bytes(), expected.data(), expected.size() * 4)) << what;
    ASSERT_EQ(printed, result->report.printed) << what;
    ASSERT_TRUE(result->report.findings.empty()) << ToText(result->report) << what;
    ASSERT_EQ(0, std::memcmp(inputs[0].bytes(), x.data(), x.size() * 4)) << "an input was written: " << what;
    ASSERT_EQ(0, std::memcmp(inputs[1].bytes(), y.data(), y.size() * 4)) << "an input was written: " << what;
  }
}

TEST(RandomPrograms, GiveWhatANaiveEvaluationGives) {
  for (int seed = 0; seed < Rounds(1500) && !HasFatalFailure(); ++seed) Check(seed, 4);
}

// So wide that elementwise operations go strip by strip.
TEST(RandomPrograms, OfWideValues) {
  for (int seed = 0; seed < Rounds(100) && !HasFatalFailure(); ++seed) Check(seed, 5000);
}

// Every instruction by itself, nothing folded, fused or borrowed: the same.
TEST(RandomPrograms, AreTheSameWhenObservable) {
  for (int seed = 0; seed < Rounds(300) && !HasFatalFailure(); ++seed) Check(seed, 4, true);
  for (int seed = 0; seed < Rounds(30) && !HasFatalFailure(); ++seed) Check(seed, 5000, true);
}

}  // namespace
}  // namespace palladion
