// Waits that no agent can end: which one could, which one left without it, which part of a kernel is stuck while
// another goes on, and blocks that cannot be resident. Beside each a kernel that only looks like it.
#include <gtest/gtest.h>

#include "emu/kernel/prepared_kernel.h"
#include "emu/run/threads/residency.h"
#include "emu/run/threads/thread_test_util.h"

namespace palladion::threads {
namespace {

const std::string kCopy = "    %v = get(%xr) : i32[128];\n    _ = swap(%or, %v) : i32[128];\n";

std::string Scope(const std::string& barriers, const std::string& body) {
  return Cat("    run_scoped{collective_axes=[\"wg\"]}() (", barriers, ") {\n", body, "    return; };\n");
}
std::string Barriers(int n, int arrivals = 1) {
  return Cat("%b: ref<smem,barrier{arrivals=", arrivals, "}[", n, "]> as \"bar\", %m: ref<smem,i32[1]> as \"m\"");
}
std::string Arrive(int i) { return Cat("    barrier_arrive(barrier=%b.at[", i, "]);\n"); }
std::string Wait(int i) { return Cat("    barrier_wait(barrier=%b.at[", i, "]);\n"); }

// So many visible operations.
std::string Work(int times) {
  return Cat("    scan{length=", times, "}() () { _ = swap(%m.at[0], 1:i32) : i32[]; return; };\n");
}

std::string DeadlockOf(const std::string& mesh, const std::string& body) {
  return MessageOf(CheckThreads(ThreadKernel(mesh, body), {.seeds = 2, .threads = 1}), "DEADLOCK");
}

bool Has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Deadlock, AWaitForAnArrivalThatNeverComesNamesWhoLeft) {
  const auto run = [&](int arrivals) {
    std::string arrive;
    for (int i = 0; i < arrivals; ++i) arrive += Arrive(0);
    return DeadlockOf(Threads(2), Scope(Barriers(1, 2), EachDoes("wg", {arrive, Wait(0) + kCopy})));
  };
  EXPECT_EQ("", run(2));
  EXPECT_EQ(
      "no thread can go on: thread 1 waits for barrier bar[0] (needs completion 1, has 0 completions "
      "and 1 of 2 arrivals), which no agent that is left can signal (done without it: thread 0)",
      run(1));
}

TEST(Deadlock, ACycleIsReported) {
  const auto run = [&](const std::string& second) {
    return DeadlockOf(Threads(2), Scope(Barriers(2), EachDoes("wg", {Wait(1) + Arrive(0) + kCopy, second})));
  };
  EXPECT_EQ("", run(Arrive(1) + Wait(0)));
  const std::string cycle = run(Wait(0) + Arrive(1));
  EXPECT_TRUE(Has(cycle, "thread 0 waits for barrier bar[1]")) << cycle;
  EXPECT_TRUE(Has(cycle, "thread 1 waits for barrier bar[0]")) << cycle;
  EXPECT_TRUE(Has(cycle, "each can only be woken by the next")) << cycle;
}

// Two threads are stuck while a third has much to do: that is seen before it ends, unless it may wake one of them.
TEST(Deadlock, APartIsSeenWhileAnotherGoesOn) {
  const auto run = [&](const std::string& third) {
    return DeadlockOf(Threads(3),
                      Scope(Barriers(2), EachDoes("wg", {Wait(1) + Arrive(0), Wait(0) + Arrive(1), third})));
  };
  const std::string part = run(Work(20000) + kCopy);
  EXPECT_TRUE(Has(part, "some threads can never go on: ")) << part;
  EXPECT_TRUE(Has(part, "; others can still go")) << part;
  EXPECT_EQ("", run(Work(20000) + kCopy + Arrive(1) + "    barrier_wait(barrier=%b.at[1]);\n"));
}

std::string Chain(int shared, const std::string& mine) {
  return Cat("    run_scoped{collective_axes=[]}() (%big: ref<smem,i32[", shared, "]> as \"big\") {\n",
             "    %s = get_global{what=\"s\"}() : ref<gmem,sem[300]>;\n    %me = axis_index{axis=\"b\"}() : i32[];\n",
             mine, "    return; };\n");
}

// Each waits for the block after it, or before it.
std::string Passing(int blocks, bool forwards) {
  const std::string wait = Cat("    semaphore_wait(ref=%s.at[%", forwards ? "before" : "me", "], value=1:i32);\n");
  const std::string signal = Cat("    semaphore_signal(ref=%s.at[%", forwards ? "me" : "before", "], inc=1:i32);\n");
  const std::string last = Cat("    %end = eq(%me, ", forwards ? 0 : blocks - 1, ":i32) : bool[];\n");
  const std::string is_tail = Cat("    %tail = eq(%me, ", forwards ? blocks - 1 : 0, ":i32) : bool[];\n");
  return Cat("    %before = sub(%me, 1:i32) : i32[];\n", last, is_tail, "    cond(%end) {\n", wait,
             "      return; } { return; };\n    cond(%tail) {\n", signal, "      return; } { return; };\n");
}

TEST(Deadlock, ABlockThatCannotBeThereIsNamed) {
  const std::string backwards = Chain(40000, Passing(140, false));
  const Report report = CheckThreads(ThreadKernel(Grid(140), backwards), {.seeds = 2, .threads = 1});
  const std::string message = MessageOf(report, "DEADLOCK");
  EXPECT_TRUE(Has(message,
                  "block (132) cannot begin before another one ends: 132 SMs hold 1 block each (160768 of its "
                  "232448 bytes of shared memory are one block's), and 132 blocks are there"))
      << message;
  EXPECT_EQ("", DeadlockOf(Grid(132), Chain(40000, Passing(132, false))));
  EXPECT_EQ("", DeadlockOf(Grid(140), Chain(20000, Passing(140, false))));  // two fit into an SM
  EXPECT_EQ("", DeadlockOf(Grid(140), Chain(40000, Passing(140, true))));   // no wait for a later one
}

Residency ResidencyOfText(const std::string& text, const std::vector<std::int64_t>& grid) {
  absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.kernel = "", .target = "mosaic_gpu/h100", .path = ""});
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  return ResidencyOf(kernel->state().program(), kernel->state().module().kernels[0], grid);
}

std::string Columns(int columns, const std::string& mine) {
  return Cat("    run_scoped{collective_axes=[]}() (%acc: ref<tmem,f32[128,", columns, "]> as \"acc\") {\n",
             "    %s = get_global{what=\"s\"}() : ref<gmem,sem[300]>;\n    %me = axis_index{axis=\"b\"}() : i32[];\n",
             mine, "    return; };\n");
}

TEST(Residency, ABlockWaitsForColumnsOfTensorMemory) {
  const auto of = [](int columns) {
    absl::StatusOr<PreparedKernel> kernel = PrepareText(ThreadKernel(Grid(300), Columns(columns, Passing(300, true))),
                                                        {.kernel = "", .target = "mosaic_gpu/b200", .path = ""});
    EXPECT_TRUE(kernel.ok()) << kernel.status();
    return ResidencyOf(kernel->state().program(), kernel->state().module().kernels[0], std::vector<std::int64_t>{300});
  };
  EXPECT_EQ(148 * 2, of(200).clusters);  // 200 columns are allocated as 256
  EXPECT_EQ(
      "148 SMs hold 1 block each (512 of its 512 columns of tensor memory are one block's, and another waits "
      "until they are free)",
      of(257).why);
  EXPECT_EQ(148 * 16, of(8).clusters);  // 32 columns, and the lanes of 16 blocks
}

TEST(Residency, BlocksThatSeeNothingOfEachOtherComeOneByOne) {
  EXPECT_EQ(1, ResidencyOfText(ThreadKernel(Grid(8), kCopy), {8}).clusters);
  const std::string atomic = "    %v = get(%xr) : i32[128];\n    atomic_store{atomic_type=add}(ref=%or, value=%v);\n";
  EXPECT_EQ(132 * 16, ResidencyOfText(ThreadKernel(Grid(8), atomic), {8}).clusters);
  EXPECT_EQ(132 * 16, ResidencyOfText(ThreadKernel(Grid(8), kCopy + "    %w = get(%or) : i32[128];\n"), {8}).clusters);
  EXPECT_EQ(132 * 16, ResidencyOfText(
                          ThreadKernel(Grid(8), "    %s = get_global{what=\"s\"}() : ref<gmem,sem[]>;\n" + kCopy), {8})
                          .clusters);
}

TEST(Residency, ClustersNeedAnSmForEachOfTheirBlocks) {
  const std::string mesh =
      "grid=[8], grid_names=[\"b\"], cluster=[2], cluster_names=[\"c\"], threads=3, thread_name=\"wg\"";
  const std::string body = "    %s = get_global{what=\"s\"}() : ref<gmem,sem[]>;\n";
  // 2048 / 384 = 5 blocks for each of 132 SMs.
  EXPECT_EQ(132 * 5 / 2, ResidencyOfText(ThreadKernel(mesh, body), {8, 2, 3}).clusters);
}

}  // namespace
}  // namespace palladion::threads
