// Random programs whose scratch nobody writes first: every output element is undefined exactly where a naive
// evaluation, which carries one bit along with every number, says so; and what another fill of unwritten memory changes
// is among them. It does not see floats, blocks at an edge, or masks.
#include <gtest/gtest.h>

#include <cstring>

#include "emu/launch.h"
#include "emu/random_evaluator_test_util.h"
#include "emu/random_program_test_util.h"

namespace palladion {
namespace {

using namespace random_program;  // its Body and Op are not the ones of kernel text

struct Marked {
  std::int32_t number = 0;
  bool undefined = false;
};
std::int32_t NumberOf(Marked element) { return element.number; }
Marked Apply(const std::string& name, Marked a, Marked b) {
  return {random_program::Apply(name, a.number, b.number), a.undefined || b.undefined};
}

std::vector<Marked> RandomElements(std::size_t n, Random& random) {
  std::vector<Marked> elements(n);
  for (Marked& element : elements) element.number = random.Below(7) - 3;
  return elements;
}

Tensor TensorOf(const std::vector<Marked>& value, std::vector<std::int64_t> shape) {
  Tensor tensor(DType::kI32, std::move(shape));
  for (std::size_t i = 0; i < value.size(); ++i) tensor.data<std::int32_t>()[i] = value[i].number;
  return tensor;
}

struct Outcome {
  std::vector<std::int32_t> output;
  std::vector<bool> undefined;
  bool decided = false;  // undefined data chose a branch or a place
};

Outcome RunFilled(const PreparedKernel& kernel, const Tensor& x, const Tensor& y, Fill fill) {
  Outcome outcome;
  Tensor out(DType::kI32, x.shape());
  const ConstArray inputs[] = {{x.dtype(), x.shape(), x.bytes()}, {y.dtype(), y.shape(), y.bytes()}};
  const MutableArray outputs[] = {{out.dtype(), out.shape(), out.bytes()}};
  LaunchOptions options;
  options.definedness = true;
  options.fill = fill;
  options.finished = [&](Memory& memory, absl::Span<const BufferId> arrays) {
    for (std::size_t e = 0; e < static_cast<std::size_t>(out.num_elements()); ++e)
      outcome.undefined.push_back(memory.MarkOf(arrays[2], e) != 0);
  };
  const absl::StatusOr<LaunchResult> result = RunLaunch(kernel.state(), inputs, outputs, options);
  EXPECT_TRUE(result.ok()) << result.status();
  if (!result.ok()) return outcome;
  for (const Finding& finding : result->findings)
    outcome.decided |= finding.second.has_value() && finding.second->kind == AccessKind::kRead;
  outcome.output.assign(out.data<std::int32_t>(), out.data<std::int32_t>() + out.num_elements());
  return outcome;
}

struct Tally {
  int some = 0, none = 0, changed = 0;
};

void Check(std::uint64_t seed, int width, Tally& tally) {
  Generator generator(seed, width, true);
  generator.Make();
  Random random(~seed);
  const auto n = static_cast<std::size_t>(width);
  const std::vector<Marked> x = RandomElements(2 * n, random), y = RandomElements(n, random);
  const Tensor x_tensor = TensorOf(x, {2, width}), y_tensor = TensorOf(y, {width});
  std::vector<std::string> printed;
  for (const char* target : {"generic", "triton/h100", "mosaic_gpu/h100", "mosaic_tpu/v5e"}) {
    const std::string what = Cat("seed ", seed, " on ", target, "\n", generator.text);
    const absl::StatusOr<PreparedKernel> kernel =
        PrepareText(generator.text, {.kernel = "", .target = target, .path = ""});
    ASSERT_TRUE(kernel.ok()) << kernel.status() << " " << what;
    const Outcome zero = RunFilled(*kernel, x_tensor, y_tensor, {.kind = Fill::Kind::kZero});
    const std::vector<Marked> expected = Evaluate<Marked>(generator.body, x, y, Marked{0, true}, printed);
    for (std::size_t e = 0; e < expected.size(); ++e) {
      ASSERT_EQ(expected[e].number, zero.output[e]) << "element " << e << " of " << what;
      ASSERT_EQ(expected[e].undefined, zero.undefined[e]) << "element " << e << " of " << what;
      (expected[e].undefined ? tally.some : tally.none) += 1;
    }
    const Outcome filled = RunFilled(*kernel, x_tensor, y_tensor, {.kind = Fill::Kind::kRandom, .seed = seed});
    if (zero.decided || filled.decided) continue;
    for (std::size_t e = 0; e < expected.size(); ++e) {
      ASSERT_TRUE(filled.output[e] == zero.output[e] || zero.undefined[e]) << "element " << e << " of " << what;
      tally.changed += filled.output[e] != zero.output[e];
    }
  }
}

TEST(RandomDefinedness, IsWhatANaiveEvaluationCarriesAlong) {
  Tally tally;
  for (std::uint64_t seed = 0; seed < 600 && !HasFatalFailure(); ++seed) Check(seed, 4, tally);
  EXPECT_GT(tally.some, 100);
  EXPECT_GT(tally.none, 100);
  EXPECT_GT(tally.changed, 100);
}

// So wide that elementwise operations go strip by strip.
TEST(RandomDefinedness, OfWideValues) {
  Tally tally;
  for (std::uint64_t seed = 0; seed < 30 && !HasFatalFailure(); ++seed) Check(seed, 5000, tally);
  EXPECT_GT(tally.some, 100);
  EXPECT_GT(tally.none, 100);
}

}  // namespace
}  // namespace palladion
