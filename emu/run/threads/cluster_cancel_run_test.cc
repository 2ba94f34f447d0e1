// Work that blocks take from each other, as schedules decide it: in every schedule of two blocks each row is done once,
// and a replay takes what was taken. What is wrong on purpose: conformance/cases/gpu/cluster_cancel.case.
#include <gtest/gtest.h>

#include <algorithm>

#include "emu/run/threads/thread_test_util.h"

namespace palladion::threads {
namespace {

// Row `at` of four, times two and plus the number of the block that does it times `mark`.
std::string Work(const std::string& at, const std::string& n, int mark) {
  return Cat("      %at", n, " = mul(", at, ", 32:i32) : i32[];\n      %v", n, " = get(%xr.at[%at", n,
             " +: 32]) : i32[32];\n      %by", n, " = mul(%g, ", mark, ":i32) : i32[];\n      %wide", n,
             " = broadcast_in_dim{shape=[32], dims=[]}(%by", n, ") : i32[32];\n      %w", n, " = add(%v", n, ", %wide",
             n, ") : i32[32];\n      _ = swap(%or.at[%at", n, " +: 32], %w", n, ") : i32[32];\n");
}

// Four blocks, each of which asks once.
std::string Steals(int mark) {
  return ThreadKernel(
      Grid(4),
      Cat("    run_scoped{collective_axes=[]}() (%r: ref<smem,i8[16]> as \"r\", %b: "
          "ref<smem,barrier{arrivals=1}[1]> as \"b\") {\n      %g = axis_index{axis=\"b\"}() : i32[];\n"
          "      try_cluster_cancel(result=%r, barrier=%b);\n",
          Work("%g", "0", mark),
          "      barrier_wait(barrier=%b);\n      %i, %ok = query_cluster_cancel{grid_names=[\"b\"]}(result=%r) "
          ": i32[], bool[];\n      %c = convert_element_type{to=i32}(%ok) : i32[];\n      cond(%c) { return; } "
          "{\n",
          Work("%i", "1", mark), "      return; };\n      return;\n    };\n"));
}

Report CheckOn(const std::string& text, const CheckOptions& options) {
  absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.kernel = "", .target = "", .path = ""});
  EXPECT_TRUE(kernel.ok()) << kernel.status() << "\n" << text;
  if (!kernel.ok()) return {};
  const std::vector<Tensor> inputs = {*TensorFromText(DType::kI32, {128}, "iota")};
  absl::StatusOr<Report> report = Check(*kernel, inputs, options);
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? *std::move(report) : Report{};
}

TEST(ClusterCancel, EachRowIsDoneOnceByAnyBlock) {
  const Report report = CheckOn(Steals(0), {.seeds = 64, .threads = 1});
  EXPECT_EQ(CodesOf(report), Codes{});
}

TEST(ClusterCancel, SchedulesDifferInWhoDoesIt) {
  const Report report = CheckOn(Steals(1000), {.seeds = 16, .threads = 1});
  EXPECT_EQ(CodesOf(report), Codes{"NONDET"});
}

// As from JAX 0.12 on. What a thread asks for by itself: the case gpu/cluster_cancel_each_thread.
TEST(ClusterCancel, ARequestOfEachBlockOfAClusterIsADefect) {
  const auto said = [](const std::string& axes) {
    return CheckOn(
        ThreadKernel("grid=[2], grid_names=[\"b\"], cluster=[2], cluster_names=[\"c\"], threads=none, thread_name=none",
                     Cat("    run_scoped{collective_axes=[]}() (%r: ref<smem,i8[16]> as \"r\", %b: "
                         "ref<smem,barrier{arrivals=1}[1]> as \"b\") {\n      try_cluster_cancel{collective_axes=[",
                         axes,
                         "]}(result=%r, barrier=%b);\n      barrier_wait(barrier=%b);\n      %i, %ok = "
                         "query_cluster_cancel{grid_names=[\"b\"]}(result=%r) : i32[], bool[];\n"
                         "      return;\n    };\n")),
        {.seeds = 4, .threads = 1});
  };
  const auto count = [](const Report& report) {
    return std::count_if(report.findings.begin(), report.findings.end(), [](const ReportedFinding& finding) {
      return finding.code == FindingCode::kLaunchControl &&
             finding.message.find("each block of a cluster along \"c\"") != std::string::npos;
    });
  };
  EXPECT_EQ(0, count(said("\"c\"")));
  EXPECT_EQ(1, count(said("")));
}

// All threads of a block together, along the axis that the request names; else each by itself, and over the other's
// answer.
TEST(ClusterCancel, ThreadsAskTogetherAlongTheAxisThatIsNamed) {
  const auto codes = [](const std::string& axes) {
    Codes found = CodesOf(CheckOn(
        ThreadKernel("grid=[3], grid_names=[\"b\"], cluster=[], cluster_names=[], threads=2, thread_name=\"wg\"",
                     Cat("    run_scoped{collective_axes=[\"wg\"]}() (%r: ref<smem,i8[16]> as \"r\", %b: "
                         "ref<smem,barrier{arrivals=2}[1]> as \"b\") {\n      try_cluster_cancel{collective_axes=[",
                         axes, "]}(result=%r, barrier=%b);\n      barrier_wait(barrier=%b);\n      return;\n    };\n")),
        {.seeds = 4, .threads = 1}));
    return found.count("RACE_WW");
  };
  EXPECT_EQ(0u, codes("\"wg\""));
  EXPECT_EQ(1u, codes(""));
}

}  // namespace
}  // namespace palladion::threads
