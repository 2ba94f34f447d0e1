// Semaphores as a check meets them: what is left over, waits that no signal ends, what a signal orders and what it does
// not, and blocks that are not resident yet. Each wrong kernel has a right one beside it.
#include <gtest/gtest.h>

#include "emu/run/threads/thread_test_util.h"

namespace palladion::threads {
namespace {

const std::string kCopy = "    %v = get(%xr) : i32[128];\n    _ = swap(%or, %v) : i32[128];\n";

std::string Global(const std::string& name) {
  return Cat("    %", name, " = get_global{what=\"", name, "\"}() : ref<gmem,sem[]>;\n");
}
std::string Signal(const std::string& what, int n = 1) {
  return Cat("    semaphore_signal(ref=%", what, ", inc=", n, ":i32, device_id=none, core_index=none);\n");
}
std::string Wait(const std::string& what, int n = 1, bool decrement = true) {
  return Cat("    semaphore_wait(ref=%", what, ", value=", n, ":i32, decrement=", decrement ? "true" : "false", ");\n");
}

TEST(Semaphores, AreZeroAgainAtTheEnd) {
  const auto check = [&](int signalled) {
    return CheckThreads(
        ThreadKernel(Grid(2), Global("s") + EachDoes("b", {Signal("s", signalled), Wait("s", 2) + kCopy})));
  };
  EXPECT_EQ(Codes{}, CodesOf(check(2)));
  const Report report = check(3);
  EXPECT_EQ(Codes{"SEM_LEAK"}, CodesOf(report));
  EXPECT_EQ("semaphore s is 1 when the kernel ends, not 0", MessageOf(report, "SEM_LEAK"));
  EXPECT_EQ(11, report.findings[0].text_line);
}

TEST(Semaphores, OfAScopeAreZeroAtItsEnd) {
  const auto check = [&](int waited) {
    return CheckThreads(ThreadKernel(
        Threads(1), Cat("    run_scoped{collective_axes=[\"wg\"]}() (%s: ref<gmem,sem[2]> as \"tokens\") {\n",
                        Signal("s.at[1]", 2), Wait("s.at[1]", waited), "    return; };\n", kCopy)));
  };
  EXPECT_EQ(Codes{}, CodesOf(check(2)));
  EXPECT_EQ("semaphore tokens[1] is 1 when its scope ends, not 0", MessageOf(check(1), "SEM_LEAK"));
}

TEST(Semaphores, AWaitForMoreThanIsSignalledSaysWhoMightHave) {
  const auto check = [&](int waited) {
    return CheckThreads(
        ThreadKernel(Grid(2), Global("s") + EachDoes("b", {Signal("s", 2), Wait("s", waited) + kCopy})));
  };
  EXPECT_EQ(Codes{}, CodesOf(check(2)));
  const Report report = check(3);
  EXPECT_TRUE(CodesOf(report).contains("DEADLOCK"));
  EXPECT_EQ(
      "no block can go on: block (1) waits for semaphore s (needs 3, has 2), which no agent that is left can "
      "signal (done without it: block (0))",
      MessageOf(report, "DEADLOCK"));
}

TEST(Semaphores, ASignalOrdersWhatIsBeforeItOnly) {
  const std::string write = "    %v = get(%xr) : i32[128];\n    _ = swap(%or, %v) : i32[128];\n";
  const std::string read = "    %r = get(%or) : i32[128];\n";
  const auto check = [&](const std::string& first, const std::string& second) {
    return CodesOf(CheckThreads(ThreadKernel(Grid(2), Global("s") + EachDoes("b", {first, second}))));
  };
  EXPECT_EQ(Codes{}, check(write + Signal("s"), Wait("s") + read));
  EXPECT_EQ(Codes{"RACE_RW"}, check(Signal("s") + write, Wait("s") + read));
  EXPECT_EQ(Codes{"RACE_RW"}, check(write + Signal("s"), read + Wait("s")));
  // A credit that happened to be there before orders nothing.
  EXPECT_EQ(Codes{"RACE_RW"}, check(Signal("s") + write + Signal("s"), Wait("s") + read + Wait("s")));
  EXPECT_EQ(Codes{}, check(Signal("s") + write + Signal("s"), Wait("s", 2) + read));
  // What is read without waiting needed every signal in it.
  const std::string spin =
      "    while() () { %c = semaphore_read(ref=%s) : i32[]; %go = lt(%c, 1:i32) : bool[]; return %go; } () { return; "
      "};\n";
  EXPECT_EQ(Codes{}, check(write + Signal("s"), spin + read + Wait("s")));
}

TEST(Semaphores, OneCallIsOneArrayHoweverOften) {
  const std::string twice = Cat("    _ = scan{length=2}(init=0:i32) (%i: i32[]) {\n", Global("s"),
                                EachDoes("b", {Signal("s"), Wait("s")}), "    return %i; } : i32[];\n");
  EXPECT_EQ(Codes{}, CodesOf(CheckThreads(ThreadKernel(Grid(2), twice + EachDoes("b", {kCopy, ""})))));
  // Two calls are two arrays: what one is signalled the other does not have.
  const std::string two = Global("s") + Global("t");
  EXPECT_TRUE(CodesOf(CheckThreads(ThreadKernel(Grid(2), two + EachDoes("b", {Signal("s") + kCopy, Wait("t")}))))
                  .contains("DEADLOCK"));
}

TEST(Semaphores, AmountsAreDefinedAndHaveNoSign) {
  const auto check = [&](const std::string& before) {
    return CheckThreads(ThreadKernel(
        Threads(1),
        Cat("    run_scoped{collective_axes=[\"wg\"]}() (%m: ref<smem,i32[1]> as \"m\", %s: ref<gmem,sem[]> as \"s\") "
            "{\n",
            before, "    %n = get(%m.at[0]) : i32[];\n    semaphore_signal(ref=%s, inc=%n);\n",
            "    semaphore_wait(ref=%s, value=%n, decrement=true);\n    return; };\n", kCopy)));
  };
  // A signal by a number that is not in the text has no code on a GPU, and runs here all the same.
  EXPECT_EQ(Codes{"ILLEGAL"}, CodesOf(check("    _ = swap(%m.at[0], 1:i32) : i32[];\n")));
  const Report undefined = check("");
  EXPECT_TRUE(CodesOf(undefined).contains("UNINIT")) << MessageOf(undefined, "DEADLOCK");
  const Report negative = CheckThreads(ThreadKernel(Threads(1), Global("s") + Signal("s", -1) + kCopy));
  EXPECT_EQ(Codes{"ILLEGAL"}, CodesOf(negative));
}

TEST(Semaphores, AWaitForWhatIsUndefinedIsOneThatMayNeverEnd) {
  const Report report = CheckThreads(ThreadKernel(
      Threads(1),
      Cat("    run_scoped{collective_axes=[\"wg\"]}() (%m: ref<smem,i32[1]> as \"m\", %s: ref<gmem,sem[]> as "
          "\"s\") {\n    %n = get(%m.at[0]) : i32[];\n",
          Signal("s"), "    semaphore_wait(ref=%s, value=%n, decrement=true);\n    return; };\n", kCopy)));
  EXPECT_EQ((Codes{"DEADLOCK", "UNINIT"}), CodesOf(report));
  EXPECT_NE(MessageOf(report, "UNINIT").find("what a semaphore is waited for"), std::string::npos)
      << MessageOf(report, "UNINIT");
}

TEST(Semaphores, OfAnotherDeviceOrCoreAreRefused) {
  const auto run = [&](const std::string& device) {
    absl::StatusOr<PreparedKernel> kernel = PrepareText(
        ThreadKernel(Threads(1), Cat(Global("s"), "    semaphore_signal(ref=%s, inc=1:i32, device_id=", device, ");\n",
                                     Wait("s"), kCopy)),
        {.kernel = "", .target = "mosaic_gpu/h100", .path = ""});
    EXPECT_TRUE(kernel.ok()) << kernel.status();
    return Check(*kernel, {*TensorFromText(DType::kI32, {128}, "iota")}, {.seeds = 2}).status();
  };
  EXPECT_TRUE(run("0:i32").ok());
  const absl::Status other = run("1:i32");
  EXPECT_EQ(absl::StatusCode::kUnimplemented, other.code());
  EXPECT_NE(std::string(other.message()).find("a signal to device 1"), std::string::npos) << other;
  EXPECT_NE(std::string(other.message()).find("9"), std::string::npos) << other;
  const absl::Status core =
      PrepareText(
          "pkir 1;\nkernel @k {\n  backend mosaic_tpu;\n  grid [];\n  out %o: i32[8,128];\n  body "
          "@k (%or: ref<default,i32[8,128]>) {\n"
          "    run_scoped() (%s: ref<semaphore,sem[]>) { semaphore_signal(ref=%s, inc=1:i32, "
          "core_index=1:i32); return; };\n    return;\n  }\n}\n",
          {.kernel = "", .target = "", .path = ""})
          .status();
  EXPECT_EQ(absl::StatusCode::kUnimplemented, core.code()) << core;
}

}  // namespace
}  // namespace palladion::threads
