// Blocks that are copied while the core waits, as most kernels are run, and the pipeline as it is (block_pipeline.h):
// an optimisation. Every case of a TPU has the same numbers, and what is wrong with it is the same, whichever way its
// blocks are copied.
#include <gtest/gtest.h>

#include <iostream>
#include <set>
#include <string>

#include "conformance/checked_cases_test_util.h"
#include "emu/block_ways.h"
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

// With two buffers a copy out of the last block meets no store of this program; what is copied while the core waits has
// one. Nobody promises the first to users of pallas_call.
bool ShowsSlots(const std::string& path) { return path.ends_with("tpu/block_sent_wrong.case"); }

TEST(BlockPipeline, NoCaseDependsOnHowBlocksAreCopied) {
  std::int64_t kernels = 0;
  VisitCheckedCases([&](const CheckedCase& test) {
    const absl::StatusOr<Case> text = ReadCase(test.path);
    ASSERT_TRUE(text.ok()) << text.status();
    const PrepareOptions options{.target = text->target};
    const auto beside = PrepareWith(BlockCopies::kBesideBodies, text->kernel, options);
    if (!beside.ok()) return;
    const PreparedKernel& always = *beside;
    const PreparedKernel usual =
        HasEngines(test.kernel) ? test.kernel : *PrepareWith(BlockCopies::kWhileTheCoreWaits, text->kernel, options);
    ++kernels;
    EXPECT_EQ(Numbers(usual, test), Numbers(always, test)) << test.path;
    if (ShowsSlots(test.path)) {
      EXPECT_NE(Codes(usual, test), Codes(always, test));
      return;
    }
    EXPECT_EQ(Codes(usual, test), Codes(always, test)) << test.path;
  });
  std::cout << kernels << " kernels\n";
  EXPECT_GT(kernels, 50);
}

}  // namespace
}  // namespace palladion::conformance
