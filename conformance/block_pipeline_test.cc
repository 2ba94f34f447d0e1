// Blocks that are copied while the core waits, as most kernels are run, and the pipeline as it is (block_pipeline.h):
// an optimisation. Every case of a TPU, and random pipelines over one array, have the same numbers, and what is wrong
// with them is the same, whichever way their blocks are copied.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <random>
#include <set>
#include <string>
#include <string_view>

#include "absl/strings/str_join.h"
#include "conformance/checked_cases_test_util.h"
#include "emu/values.h"
#include "semantics/base/cat.h"

namespace palladion::conformance {
namespace {

std::string Codes(const PreparedKernel& kernel, const CheckedCase& test) {
  const absl::StatusOr<Report> report = Check(kernel, test.inputs, test.options);
  if (!report.ok()) return report.status().ToString();
  std::set<std::string> codes;
  for (const ReportedFinding& finding : report->findings)
    codes.insert(Cat(Code(finding.code), " ", Name(finding.severity)));
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
    if (!test.kernel.target().starts_with("mosaic_tpu") || test.text.find(" block (") == std::string::npos) return;
    const auto prepared = [&](BlockWays blocks) {
      return *PrepareText(test.text, {.target = test.kernel.target(), .blocks = blocks});
    };
    const PreparedKernel usual = prepared(BlockWays::kAsItShows), over_engines = prepared(BlockWays::kOverEngines),
                         beside = prepared(BlockWays::kBesideBodies);
    ++kernels;
    EXPECT_EQ(Numbers(usual, test), Numbers(beside, test)) << test.name;
    EXPECT_EQ(Codes(usual, test), Codes(over_engines, test)) << test.name;
    EXPECT_EQ(Codes(over_engines, test), Codes(beside, test)) << test.name;
  });
  std::cout << kernels << " kernels\n";
  EXPECT_GT(kernels, Rounds(50));
}

// Program i reads block x[i] of an array and writes block y[i] of it: the tables are prefetched.
std::string OverOneArray(int n, const std::string& attributes, bool one_fetched, bool one_flushed) {
  const std::string i32 = Cat("i32[", n, "]"), array = Cat("i32[", 8 * n, ",128]");
  const auto map = [&](int table) {
    return Cat("map (%i: i32[], %a: ref<smem,", i32, ">, %b: ref<smem,", i32, ">) { %v = get(%", table == 0 ? "a" : "b",
               ".at[%i]) : i32[]; return %v, 0:i32; }");
  };
  constexpr std::string_view kOne = " buffered {buffer_count=1}";
  return Cat("pkir 1;\nkernel @k {\n  backend mosaic_tpu;\n", attributes, "  prefetch %xs: ", i32,
             ";\n  prefetch %ys: ", i32, ";\n  in %x: ", array, " block (8,128) ", map(0), one_fetched ? kOne : "",
             ";\n  grid [", n, "];\n  out %o: ", array, " block (8,128) ", map(1), one_flushed ? kOne : "",
             " alias %x;\n  body @k (%xs_ref: ref<smem,", i32, ">, %ys_ref: ref<smem,", i32,
             ">, %xr: ref<default,i32[8,128]>, %or: ref<default,i32[8,128]>) {\n    %v = get(%xr) : i32[8,128];\n"
             "    %w = add(%v, 1:i32) : i32[8,128];\n    _ = swap(%or, %w) : i32[8,128];\n    return;\n  }\n}\n");
}

TEST(BlockPipeline, RandomPipelinesOverOneArray) {
  std::mt19937 random(29);
  int races = 0, proved = 0;
  for (int round = 0; round < 300; ++round) {
    const int n = 2 + static_cast<int>(random() % 4);
    std::vector<int> x, y;
    for (int i = 0; i < n; ++i) {
      x.push_back(random() % 2 == 0 ? i : static_cast<int>(random() % static_cast<unsigned>(n)));
      y.push_back(random() % 3 != 0 ? i : x.back());
    }
    const bool parallel = random() % 4 == 0, one_fetched = random() % 4 == 0, one_flushed = random() % 4 == 0;
    const std::string text =
        OverOneArray(n, parallel ? "  params {dimension_semantics=[\"parallel\"]};\n" : "", one_fetched, one_flushed);
    const std::string target = random() % 2 == 0 ? "mosaic_tpu/v5e" : "mosaic_tpu/v5p";
    const auto prepared = [&](BlockWays blocks) {
      absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.target = target, .blocks = blocks});
      EXPECT_TRUE(kernel.ok()) << kernel.status() << text;
      return *std::move(kernel);
    };
    const PreparedKernel usual = prepared(BlockWays::kAsItShows), over_engines = prepared(BlockWays::kOverEngines);
    std::vector<Tensor> inputs;
    for (const std::vector<int>* table : {&x, &y})
      inputs.push_back(*TensorFromText(DType::kI32, {n}, Cat("[", absl::StrJoin(*table, ","), "]")));
    inputs.push_back(*TensorFromText(DType::kI32, {8 * n, 128}, "iota"));
    const CheckedCase test{"", text, usual, inputs, {.seeds = 16, .threads = 1}};
    EXPECT_EQ(Numbers(usual, test), Numbers(over_engines, test)) << text;
    const std::string codes = Codes(usual, test);
    EXPECT_EQ(codes, Codes(over_engines, test)) << text << absl::StrJoin(x, " ") << "; " << absl::StrJoin(y, " ");
    races += codes.find("ALIAS") != std::string::npos;
    proved += codes.starts_with("proved");
  }
  EXPECT_GT(races, 20);
  EXPECT_GT(proved, 20);
}

}  // namespace
}  // namespace palladion::conformance
