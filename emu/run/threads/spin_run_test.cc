// Threads and blocks that wait in loops: for a barrier that they test, a semaphore that they read, a word in memory.
// Correct ones end under every seed, in few operations; beside each one that never ends, which is a deadlock at once.
// And blocks that end only because they begin in order.
#include <gtest/gtest.h>

#include "emu/run/threads/thread_test_util.h"

namespace palladion::threads {
namespace {

const std::string kCopy = "    %v = get(%xr) : i32[128];\n    _ = swap(%or, %v) : i32[128];\n";

bool Has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// A loop that goes on while `condition` computes %g true.
std::string While(const std::string& condition) {
  return "    while() () {\n" + condition + "      return %g; } () { return; };\n";
}

TEST(Spin, ABarrierThatIsTestedUntilACopyArrives) {
  const auto run = [](const std::string& copy) {
    const std::string body =
        copy + While("      %d = barrier_test(barrier=%b.at[0]) : bool[];\n      %g = not(%d) : bool[];\n") +
        "    %w = get(%s) : i32[128];\n    _ = swap(%or, %w) : i32[128];\n";
    // That Mosaic GPU tests barriers in warps only is a limit of its own.
    return CheckThreads(ThreadKernel(Threads(1),
                                     "    run_scoped{collective_axes=[\"wg\"]}() (%s: ref<smem,i32[128]> as \"s\", %b: "
                                     "ref<smem,barrier{arrivals=1}[1]> as \"bar\") {\n" +
                                         body + "    return; };\n"),
                        {.seeds = 16, .contracts = false, .threads = 1});
  };
  EXPECT_EQ(Codes{}, CodesOf(run("    copy_gmem_to_smem(src=%xr, dst=%s, barrier=%b.at[0]);\n")));
  const Report never = run("");
  EXPECT_EQ(Codes{"DEADLOCK"}, CodesOf(never)) << ToText(never);
  EXPECT_TRUE(Has(MessageOf(never, "DEADLOCK"), "the block waits for barrier bar[0] (needs completion 1"))
      << ToText(never);
}

// Nothing ever changes there, and no agent can bring it about.
TEST(Spin, ABarrierThatDoesNotExistIsTestedForEver) {
  const auto run = [](int at) {
    const std::string look =
        While(Cat("      %i = add(%me, ", at, ":i32) : i32[];\n",
                  "      %d = barrier_test(barrier=%b.at[%i]) : bool[];\n      %g = not(%d) : bool[];\n"));
    return CheckThreads(ThreadKernel(Threads(2),
                                     "    run_scoped{collective_axes=[\"wg\"]}() (%b: "
                                     "ref<smem,barrier{arrivals=1}[1]> as \"bar\") {\n" +
                                         EachDoes("wg", {look, "    barrier_arrive(barrier=%b.at[0]);\n" + kCopy}) +
                                         "    return; };\n"),
                        {.seeds = 2, .contracts = false, .threads = 1});
  };
  EXPECT_EQ(Codes{}, CodesOf(run(0)));
  const Report never = run(1);
  EXPECT_EQ((Codes{"OOB", "DEADLOCK"}), CodesOf(never)) << ToText(never);
  EXPECT_TRUE(Has(MessageOf(never, "DEADLOCK"), "thread 0 waits for an element that does not exist")) << ToText(never);
}

TEST(Spin, ASemaphoreThatIsReadUntilAllHaveSignalled) {
  const auto run = [](int expected) {
    const std::string signal = "    semaphore_signal(ref=%s, inc=1:i32);\n";
    const std::string wait =
        While(Cat("      %c = semaphore_read(ref=%s) : i32[];\n      %g = lt(%c, ", expected, ":i32) : bool[];\n")) +
        "    semaphore_wait(ref=%s, value=3:i32);\n" + kCopy;
    return CheckThreads(ThreadKernel(Grid(4), "    %s = get_global{what=\"s\"}() : ref<gmem,sem[]>;\n" +
                                                  EachDoes("b", {wait, signal, signal, signal})));
  };
  EXPECT_EQ(Codes{}, CodesOf(run(3)));
  const Report never = run(4);
  EXPECT_EQ(Codes{"DEADLOCK"}, CodesOf(never)) << ToText(never);
  EXPECT_TRUE(Has(MessageOf(never, "DEADLOCK"), "to change (it is 3)")) << ToText(never);
}

// What it signals each time round another thread waits for: it is no wait, though the barrier stays as it was. What is
// signalled once too often is left over.
TEST(Spin, ALoopThatSignalsIsNoWait) {
  const std::string rings = While(
      "      semaphore_signal(ref=%s, inc=1:i32);\n      %d = barrier_test(barrier=%b.at[0]) : bool[];\n"
      "      %g = not(%d) : bool[];\n");
  const std::string counts =
      "    semaphore_wait(ref=%s, value=5:i32);\n    barrier_arrive(barrier=%b.at[0]);\n" + kCopy;
  const Report report =
      CheckThreads(ThreadKernel(Threads(2),
                                "    %s = get_global{what=\"s\"}() : ref<gmem,sem[]>;\n"
                                "    run_scoped{collective_axes=[\"wg\"]}() (%b: ref<smem,barrier{arrivals=1}[1]> as "
                                "\"bar\") {\n" +
                                    EachDoes("wg", {rings, counts}) + "    return; };\n"),
                   {.seeds = 16, .contracts = false, .threads = 1});
  Codes codes = CodesOf(report);
  codes.erase("SEM_LEAK");
  EXPECT_EQ(Codes{}, codes) << ToText(report);
}

// A plain load orders nothing, so it is a race; but no wait for ever.
TEST(Spin, AWordThatIsLoadedUntilAnotherBlockStores) {
  const auto run = [](int stored) {
    const std::string store = Cat("    _ = swap(%or.at[1], ", stored, ":i32) : i32[];\n");
    const std::string wait = "    _ = swap(%or.at[0], 1:i32) : i32[];\n" +
                             While("      %c = get(%or.at[1]) : i32[];\n      %g = ne(%c, 77:i32) : bool[];\n");
    return CodesOf(CheckThreads(ThreadKernel(Grid(2), EachDoes("b", {wait, store}))));
  };
  const Codes ends = run(77), never = run(78);
  EXPECT_TRUE(ends.contains("RACE_RW"));
  EXPECT_FALSE(ends.contains("DEADLOCK"));
  EXPECT_FALSE(ends.contains("LIVELOCK"));
  EXPECT_TRUE(never.contains("DEADLOCK"));
  EXPECT_FALSE(never.contains("LIVELOCK"));
}

// Each block waits for the one before it.
Report Chain(int blocks, int shared) {
  const std::string body = Cat(
      "    run_scoped{collective_axes=[]}() (%big: ref<smem,i32[", shared, "]> as \"big\") {\n",
      "    %s = get_global{what=\"s\"}() : ref<gmem,sem[300]>;\n    %me = axis_index{axis=\"b\"}() : i32[];\n",
      "    %later = gt(%me, 0:i32) : bool[];\n    cond(%later) {\n" + kCopy + "      return; } {\n",
      "      semaphore_wait(ref=%s.at[%me], value=1:i32);\n      return; };\n    %next = add(%me, 1:i32) : i32[];\n",
      "    %before = lt(%next, ", blocks, ":i32) : bool[];\n    cond(%before) { return; } {\n",
      "      semaphore_signal(ref=%s.at[%next], inc=1:i32);\n      return; };\n    return; };\n");
  return CheckThreads(ThreadKernel(Grid(blocks), body), {.seeds = 6, .threads = 1});
}

TEST(StartOrder, IsANoteWhereBlocksEndOnlyBecauseTheyBeginInOrder) {
  const Report report = Chain(140, 40000);
  EXPECT_EQ(Codes{"START_ORDER"}, CodesOf(report)) << ToText(report);
  ASSERT_EQ(1u, report.findings.size());
  EXPECT_EQ("note", Name(report.findings[0].severity));
  EXPECT_EQ("policy-dependent", Name(report.findings[0].confidence));
  EXPECT_TRUE(Has(report.findings[0].message, "132 SMs hold 1 block each")) << ToText(report);
  EXPECT_EQ(Codes{}, CodesOf(Chain(132, 40000)));  // all fit
  EXPECT_EQ(Codes{}, CodesOf(Chain(140, 20000)));
}

}  // namespace
}  // namespace palladion::threads
