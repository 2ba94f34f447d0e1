// Blocks that are copied while the core waits, as most kernels are run, and the pipeline as it is (block_pipeline.h):
// an optimisation. Every case of a TPU has the same numbers, and what is wrong with it is the same, whichever way its
// blocks are copied.
#include <gtest/gtest.h>

#include <iostream>
#include <set>
#include <string>

#include "conformance/checked_cases_test_util.h"
#include "semantics/base/cat.h"

namespace palladion::conformance {
namespace {

std::string Codes(const PreparedKernel& kernel, const CheckedCase& test) {
  const absl::StatusOr<Report> report = Check(kernel, test.inputs, test.options);
  if (!report.ok()) return report.status().ToString();
  std::set<std::string> codes;
  for (const ReportedFinding& finding : report->findings) codes.insert(Cat(finding.code, " ", finding.severity));
  if (codes.size() > 1) codes.erase("NONDET defect");  // it follows from the other
  std::string text = Cat(Name(report->verdict), ":");
  for (const std::string& code : codes) text += Cat(" ", code);
  return text;
}

std::string Numbers(const PreparedKernel& kernel, const CheckedCase& test) {
  const absl::StatusOr<RunResult> run = Run(kernel, test.inputs);
  if (!run.ok()) return run.status().ToString();
  std::string bytes;
  for (const Tensor& output : run->outputs)
    bytes.append(reinterpret_cast<const char*>(output.bytes()), static_cast<std::size_t>(output.num_bytes()));
  return bytes;
}

TEST(BlockPipeline, NoCaseDependsOnHowBlocksAreCopied) {
  std::int64_t kernels = 0;
  VisitCheckedCases([&](const CheckedCase& test) {
    const absl::StatusOr<Case> text = ReadCase(test.path);
    ASSERT_TRUE(text.ok()) << text.status();
    if (!test.kernel.target().starts_with("mosaic_tpu") || text->kernel.find(" block (") == std::string::npos) return;
    const auto prepared = [&](BlockWays blocks) {
      return *PrepareText(text->kernel, {.target = text->target, .blocks = blocks});
    };
    const PreparedKernel usual = prepared(BlockWays::kOverEngines), beside = prepared(BlockWays::kBesideBodies);
    ++kernels;
    EXPECT_EQ(Numbers(usual, test), Numbers(beside, test)) << test.path;
    EXPECT_EQ(Codes(usual, test), Codes(beside, test)) << test.path;
  });
  std::cout << kernels << " kernels\n";
  EXPECT_GT(kernels, 50);
}

}  // namespace
}  // namespace palladion::conformance
