// Collective copies of a cluster as a check meets them: which blocks have to issue them, and what a block that ends
// leaves the others with. What a case of the corpus can announce by its line is there; here are the ends of blocks,
// which have none.
#include <gtest/gtest.h>

#include "emu/run/threads/thread_test_util.h"

namespace palladion::threads {
namespace {

const std::string kCopy =
    "    copy_gmem_to_smem{collective_axes=[\"c\"], oob_mode=zeros}(src=%xr, dst=%s, barrier=%b);\n";
const std::string kWait = "    barrier_wait(barrier=%b);\n";

// Two blocks of a cluster, and what each does.
std::string Cluster(const std::string& first, const std::string& second) {
  return ThreadKernel("grid=[], grid_names=[], cluster=[2], cluster_names=[\"c\"], threads=none, thread_name=none",
                      Cat("    run_scoped{collective_axes=[]}() (%s: ref<smem,i32[128]> as \"s\", %b: "
                          "ref<smem,barrier{arrivals=1}[1]> as \"full\") {\n",
                          EachDoes("c", {first, second}), "    return; };\n"));
}

Report CheckSeeds(const std::string& text, int seeds) { return CheckThreads(text, {.seeds = seeds, .threads = 1}); }

// One schedule, program order, and many: a block that never takes part is found in each.
TEST(Collective, ABlockThatTakesNoPart) {
  for (const int seeds : {1, 16}) {
    for (const bool first : {false, true}) {
      const std::string waits = kCopy + kWait;
      const Codes awaited = CodesOf(CheckSeeds(first ? Cluster(waits, "") : Cluster("", waits), seeds));
      EXPECT_TRUE(awaited.contains("COLL_MISMATCH")) << seeds << first;
      EXPECT_TRUE(awaited.contains("DEADLOCK")) << seeds << first;
      const Codes unawaited = CodesOf(CheckSeeds(first ? Cluster(kCopy, "") : Cluster("", kCopy), seeds));
      EXPECT_TRUE(unawaited.contains("COLL_MISMATCH")) << seeds << first;
      EXPECT_TRUE(unawaited.contains("NOT_AWAITED")) << seeds << first;
      const Codes fewer =
          CodesOf(CheckSeeds(first ? Cluster(waits + waits, waits) : Cluster(waits, waits + waits), seeds));
      EXPECT_TRUE(fewer.contains("COLL_MISMATCH")) << seeds << first;
    }
  }
}

// It has issued its part, so there is no mismatch; but the other's part lands in memory that may be gone.
TEST(Collective, ABlockThatIssuesAndEnds) {
  for (const int seeds : {1, 16}) {
    for (const bool first : {false, true}) {
      const std::string waits = kCopy + kWait;
      const Codes codes = CodesOf(CheckSeeds(first ? Cluster(kCopy, waits) : Cluster(waits, kCopy), seeds));
      EXPECT_TRUE(codes.contains("PEER_LIFETIME")) << seeds << first;
      EXPECT_FALSE(codes.contains("COLL_MISMATCH")) << seeds << first;
    }
  }
}

TEST(Collective, WhatABlockThatHasEndedDoesNotGet) {
  const Report report = CheckSeeds(Cluster("", kCopy + kWait), 1);
  EXPECT_EQ(
      "block (0) ends after 0 of the collective copies, and block (1) makes one more: copy from x_ref[0:128] to "
      "s[0:128] for full[0]",
      MessageOf(report, "COLL_MISMATCH"));
  EXPECT_NE(MessageOf(report, "DEADLOCK").find("1 of 1 arrivals, 256 bytes to come"), std::string::npos)
      << MessageOf(report, "DEADLOCK");
}

// Two blocks that signal each other by cluster barriers; what the first and the second do at their ends.
std::string SignalEachOther(const std::string& first, const std::string& second) {
  const std::string barrier =
      "ref<smem,cluster_barrier{axes=[\"c\"], arrivals=1, orders_tensor_core=false, leader_tracked=false}[1]>";
  const std::string arrive = "    barrier_arrive(barrier=%b);\n", signal = "    barrier_arrive(barrier=%e);\n";
  const std::string wait = "    barrier_wait(barrier=%b);\n";
  const std::string copy =
      "    copy_gmem_to_smem{oob_mode=zeros}(src=%xr, dst=%s, barrier=%f);\n    barrier_wait(barrier=%f);\n"
      "    %v = get(%s) : i32[128];\n    _ = swap(%or, %v) : i32[128];\n";
  return ThreadKernel(
      "grid=[], grid_names=[], cluster=[2], cluster_names=[\"c\"], threads=none, thread_name=none",
      Cat("    run_scoped{collective_axes=[]}() (%b: ", barrier, " as \"b\", %e: ", barrier,
          " as \"e\", %f: ref<smem,barrier{arrivals=1}[1]> as \"f\", %s: ref<smem,i32[128]> as "
          "\"s\") {\n",
          EachDoes("c", {arrive + wait + signal + first, arrive + signal + copy + second}), "    return; };\n"));
}

// Block 0 does not wait for block 1's arrival at its second barrier, and may have ended by then. In program order it
// has not: that is no proof. Where both wait, it is one.
TEST(ClusterBarrier, AnArrivalWithoutAWaitMayComeAfterTheEndOfItsBlock) {
  const CheckOptions one{.seeds = 1, .threads = 1}, every{.seeds = 64, .all_seeds = true, .threads = 1};
  const std::string left = SignalEachOther("", "");
  const Report report = CheckThreads(left, one);
  EXPECT_EQ(Verdict::kClean, report.verdict) << ToText(report);
  EXPECT_TRUE(CodesOf(CheckThreads(left, every)).contains("PEER_LIFETIME"));
  const std::string wait = "    barrier_wait(barrier=%e);\n";
  const std::string awaited = SignalEachOther(wait, "    barrier_wait(barrier=%b);\n" + wait);
  EXPECT_EQ(Verdict::kProved, CheckThreads(awaited, one).verdict) << ToText(CheckThreads(awaited, one));
  EXPECT_EQ(Verdict::kProved, CheckThreads(awaited, every).verdict);
}

}  // namespace
}  // namespace palladion::threads
