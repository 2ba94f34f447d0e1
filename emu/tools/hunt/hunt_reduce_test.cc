// Reduced kernels, of random kernels: each still has the finding that was to stay, is one that the verifier takes, and
// is left as it is when it is reduced again. Limits: the first finding of each of a few kernels.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "emu/tools/hunt/hunt_oracle.h"
#include "emu/tools/hunt/hunt_random.h"
#include "emu/tools/reduce/start.h"
#include "semantics/base/status.h"

namespace palladion::hunt {
namespace {

constexpr int kKernels = PALLADION_HUNT_KERNELS / 2;  // each is checked some fifty times
constexpr std::int64_t kSeeds = 16;

absl::StatusOr<reduce::State> StartOf(const HuntKernel& kernel) {
  const reduce::Source source{Write(kernel).text, "hunt.pkir", "", kernel.target};
  PALLADION_ASSIGN_OR_RETURN(const PreparedKernel prepared, reduce::PrepareForInputs(source));
  std::vector<reduce::Input> inputs;
  for (const OperandDescription& input : prepared.inputs()) {
    Tensor value(input.dtype, input.shape);
    value.FillWithZeroBytes();
    inputs.push_back({input.name, "", std::make_shared<const Tensor>(std::move(value))});
  }
  return reduce::StateOf(source, std::move(inputs));
}

std::vector<FindingCode> CodesOf(const HuntKernel& kernel, const reduce::State& start) {
  std::vector<FindingCode> codes;
  const absl::StatusOr<PreparedKernel> prepared = PrepareText(start.text, {.target = kernel.target});
  EXPECT_TRUE(prepared.ok()) << prepared.status();
  if (!prepared.ok()) return codes;
  std::vector<Tensor> inputs;
  for (const reduce::Input& input : start.inputs) inputs.push_back(*input.value);
  const absl::StatusOr<Report> report = Check(*prepared, inputs, {.seeds = kSeeds, .threads = 1});
  EXPECT_TRUE(report.ok()) << report.status();
  if (!report.ok()) return codes;
  for (const ReportedFinding& finding : report->findings) codes.push_back(finding.code);
  return codes;
}

TEST(HuntReduce, FindingsOfRandomKernelsStay) {
  std::map<std::string, int> by_code;
  for (std::uint64_t seed = 1; seed <= kKernels; ++seed) {
    const HuntKernel kernel = RandomKernel(seed);
    const absl::StatusOr<reduce::State> start = StartOf(kernel);
    ASSERT_TRUE(start.ok()) << start.status();
    const std::vector<FindingCode> codes = CodesOf(kernel, *start);
    if (codes.empty()) continue;
    const reduce::FindingChoice choice{.code = codes[0]};
    ++by_code[std::string(Code(choice.code))];
    const reduce::KeepFindingOptions how{.target = kernel.target, .check = {.seeds = kSeeds, .threads = 1}};
    const absl::StatusOr<reduce::ReducedFinding> once = reduce::ReduceFinding(*start, choice, how, {});
    ASSERT_TRUE(once.ok()) << "kernel " << seed << ": " << once.status();
    const std::vector<FindingCode> left = CodesOf(kernel, once->reduced.state);
    EXPECT_NE(left.end(), std::find(left.begin(), left.end(), choice.code))
        << "kernel " << seed << ": " << Code(choice.code) << " " << once->replay << "\n"
        << once->reduced.state.text;
    EXPECT_LE(reduce::ExtentOf(once->reduced.state).instructions, reduce::ExtentOf(*start).instructions) << seed;
    const absl::StatusOr<reduce::ReducedFinding> twice = reduce::ReduceFinding(once->reduced.state, choice, how, {});
    ASSERT_TRUE(twice.ok()) << "kernel " << seed << ": " << twice.status() << "\n" << once->reduced.state.text;
    EXPECT_EQ(once->reduced.state.text, twice->reduced.state.text) << "kernel " << seed;
  }
  EXPECT_GT(by_code.size(), 3u);
}

}  // namespace
}  // namespace palladion::hunt
