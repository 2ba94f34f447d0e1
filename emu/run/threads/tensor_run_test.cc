// Products of two threads into one accumulator: the second thread's follows the first's, and a third follows either, or
// is in a race with the one that its thread does not know of, and with no other. Based on
// docs/spec/gpu-order.md#tmem. And which blocks end together because they hold tensor memory together. Does not catch:
// what the products compute (conformance/cases/gpu_corpus).
#include <gtest/gtest.h>

#include <algorithm>

#include "emu/kernel/prepared_kernel.h"
#include "emu/run/threads/thread_test_util.h"

namespace palladion::threads {
namespace {

std::string Product(const std::string& more) {
  const bool arrives = more.find("barrier") != std::string::npos;
  return Cat("    tcgen05_mma{collective_axis=none, arrive=", arrives ? "true" : "false",
             ", scaled=false, sparse=false}(acc=%tm.at[2 +: 1, *], a=%p.at[0 +: 1, 0 +: 1], b=%p.at[0 +: 1, *], ", more,
             ");\n");
}

// Thread 0 multiplies, signals thread 1, which multiplies too, and multiplies again: `heard`, after a signal of
// thread 1.
std::string Thrice(bool waits) {
  const auto on = [](const std::string& what, int barrier) {
    return Cat("    ", what, "(barrier=%b", barrier, ");\n");
  };
  const std::string first =
      Cat("    %v = broadcast_in_dim{shape=[128], dims=[]}(4:i8) : i8[128];\n    _ = swap(%p.at[0, *], %v) : i8[128];\n"
          "    commit_smem();\n",
          Product("accumulate=false"), on("barrier_arrive", 1), waits ? on("barrier_wait", 3) : "",
          Product("accumulate=true, barrier=%b0"), on("barrier_wait", 0));
  const std::string second = Cat(on("barrier_wait", 1), Product("accumulate=true, barrier=%b2"),
                                 waits ? on("barrier_arrive", 3) : "", on("barrier_wait", 2));
  std::string scope;
  for (int i = 0; i < 4; ++i)
    Append(&scope, "%b", i, ": ref<smem,barrier{arrivals=1, orders_tensor_core=true}[1]> as \"b", i, "\", ");
  return ThreadKernel(Threads(2), Cat("    run_scoped{collective_axes=[\"wg\"]}() (", scope,
                                      "%p: ref<smem,i8[3,128]> as \"p\", %tm: ref<tmem,i32[3,128]> as \"tm\") {\n",
                                      EachDoes("wg", {first, second}), "    return; };\n"));
}

Report CheckThrice(bool waits) {
  absl::StatusOr<PreparedKernel> kernel =
      PrepareText(Thrice(waits), {.kernel = "", .target = "mosaic_gpu/b200", .path = ""});
  EXPECT_TRUE(kernel.ok()) << kernel.status() << "\n" << Thrice(waits);
  if (!kernel.ok()) return {};
  absl::StatusOr<Report> report =
      Check(*kernel, {*TensorFromText(DType::kI32, {128}, "iota")}, {.seeds = 64, .contracts = false, .threads = 1});
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? *std::move(report) : Report{};
}

TEST(Products, TheThirdFollowsBothOfTheOthers) {
  EXPECT_EQ(Codes{"OUT_MISSING"}, CodesOf(CheckThrice(true))) << ToText(CheckThrice(true));
}

// Where thread 0 has issued both of its own before thread 1's, that one follows the first of them all the same.
TEST(Products, TheThirdRacesWithTheOneThatItsThreadDoesNotKnowAndWithNoOther) {
  const Report report = CheckThrice(false);
  const std::string text = Thrice(false);
  const auto first = static_cast<int>(std::count(text.begin(), text.begin() + text.find("tcgen05_mma"), '\n')) + 1;
  EXPECT_EQ((Codes{"OUT_MISSING", "RACE_RW", "RACE_WW"}), CodesOf(report)) << ToText(report);
  for (const ReportedFinding& finding : report.findings) {
    if (finding.code == FindingCode::kOutMissing) continue;
    EXPECT_NE(std::string::npos, finding.message.find("issued by thread 0")) << finding.message;
    EXPECT_NE(std::string::npos, finding.message.find("issued by thread 1")) << finding.message;
    EXPECT_NE(first, finding.text_line) << ToText(report);
    EXPECT_EQ(std::string::npos, finding.message.find(Cat("text line ", first))) << finding.message;
  }
}

// JAX's kernel ends with a meeting of the cluster where two blocks hold tensor memory together; else each ends for
// itself.
TEST(TensorMemory, OnlyWhatTwoBlocksHoldTogetherEndsTogether) {
  const auto end_together = [](const std::string& layout) {
    absl::StatusOr<PreparedKernel> kernel = PrepareText(
        ThreadKernel("grid=[], grid_names=[], cluster=[2], cluster_names=[\"c\"], threads=none, thread_name=none",
                     Cat("    run_scoped{collective_axes=[]}() (%acc: ref<tmem,f32[128,64]", layout,
                         "> as \"acc\") {\n      return; };\n")),
        {.kernel = "", .target = "mosaic_gpu/b200", .path = ""});
    EXPECT_TRUE(kernel.ok()) << kernel.status();
    return kernel.ok() && kernel->state().program().mesh->ends_together;
  };
  EXPECT_TRUE(end_together(" {collective=true}"));
  EXPECT_FALSE(end_together(""));
  EXPECT_FALSE(end_together(" {collective=false}"));
}

}  // namespace
}  // namespace palladion::threads
