// The runner's own test: each rule of docs/spec/cases.md is broken once, and the case must fail.
#include "conformance/case_runner.h"

#include <gtest/gtest.h>

#include "absl/strings/str_join.h"
#include "conformance/case_file.h"
#include "semantics/base/cat.h"

namespace palladion::conformance {
namespace {

constexpr std::string_view kKernel = R"(--- kernel
pkir 1;
kernel @k {
  grid [];
  in %x: f32[3];
  out %o: f32[3];
  body @k (%xr: ref<default,f32[3]>, %or: ref<default,f32[3]>) {
    %a = get(%xr) : f32[3];
    %b = add(%a, %a) : f32[3];
    debug_print{fmt="done"}();
    _ = swap(%or, %b) : f32[3];
    return;
  }
}
)";

constexpr std::string_view kHead = "# spec: ref.md#get\n# Says what it shows.\n";
constexpr std::string_view kInputs = "--- inputs\nx = [1.0, nan, -0.0]\n";

std::string FailuresOf(const std::string& text) {
  absl::StatusOr<Case> test = ParseCase(text, "c.case");
  if (!test.ok()) return std::string(test.status().message());
  return absl::StrJoin(RunCase(*test).failures, "\n");
}

std::string WithExpect(std::string_view expect) {
  return FailuresOf(Cat(kHead, kKernel, kInputs, "--- expect\nprint \"done\"\n", expect));
}

TEST(RunCase, APassingCase) {
  EXPECT_EQ("", WithExpect("o = [2.0, nan, -0.0]\n"));
  EXPECT_EQ("", WithExpect("o = [2.0,  // a comment\n  nan,\n\n -0.0]\n"));
  EXPECT_EQ("", WithExpect("o = [2.0, 0x7fc00000, -0.0]\n"));
}

TEST(RunCase, AWrongNumberNamesItsPlace) {
  EXPECT_EQ("c.case:21: o: element [0]: expected 3.0, found 2.0; element [2]: expected 0.0, found -0.0",
            WithExpect("o = [3.0, nan, 0.0]\n"));
  EXPECT_NE("", WithExpect("o = [2.0, 1.0, -0.0]\n"));
  EXPECT_NE("", WithExpect("o = [2.0, 0x7fc00001, -0.0]\n"));
  EXPECT_NE("", WithExpect("o = [nan, nan, -0.0]\n"));
  EXPECT_NE(std::string::npos, WithExpect("o = [2.0, nan]\n").find("expected 3 numbers for f32[3]; found 2"));
}

TEST(RunCase, UlpWindowsNeedAHash) {
  const std::string missing = WithExpect("o = [2.0000002, nan, 0.0] ulp 1\n");
  ASSERT_NE(std::string::npos, missing.find("needs its hash: hash o = "));
  const std::string hash = missing.substr(missing.find("hash o = "));
  EXPECT_EQ("", WithExpect(Cat("o = [2.0000002, nan, 0.0] ulp 1\n", hash)));
  EXPECT_NE("", WithExpect(Cat("o = [2.0000007, nan, 0.0] ulp 2\n", hash)));
  EXPECT_EQ("", WithExpect(hash));
  EXPECT_NE(std::string::npos,
            WithExpect("hash o = 0123456789abcdef\n").find("hash: expected 0123456789abcdef, found"));
  EXPECT_EQ("", WithExpect(Cat("o either [1.0, 1.0, 1.0] |\n [2.0, nan, -0.0]\n", hash)));
  EXPECT_NE("", WithExpect(Cat("o either [1.0, 1.0, 1.0] | [2.0, nan, 0.0]\n", hash)));
}

TEST(RunCase, EveryOutputIsChecked) {
  EXPECT_NE(std::string::npos, WithExpect("").find("output 'o' is not checked"));
  EXPECT_NE(std::string::npos, WithExpect("o = [2.0, nan, -0.0]\np = [1.0]\n").find("no output 'p'"));
}

TEST(RunCase, PrintedLinesAreExact) {
  const auto with = [](std::string_view print) {
    return FailuresOf(Cat(kHead, kKernel, kInputs, "--- expect\n", print, "o = [2.0, nan, -0.0]\n"));
  };
  EXPECT_NE("", with(""));
  EXPECT_NE("", with("print \"gone\"\n"));
  EXPECT_NE("", with("print \"done\"\nprint \"done\"\n"));
}

TEST(RunCase, InputsFitTheKernel) {
  const auto with = [](std::string_view inputs) {
    return FailuresOf(Cat(kHead, kKernel, "--- inputs\n", inputs, "--- expect\no = [2.0, nan, -0.0]\n"));
  };
  EXPECT_NE(std::string::npos, with("").find("no value for input 'x'"));
  EXPECT_NE(std::string::npos, with("x = zeros\ny = zeros\n").find("the kernel has no input 'y'"));
  EXPECT_NE(std::string::npos, with("x = [1.0]\n").find("expected 3 numbers"));
}

TEST(RunCase, ExitCodesAndMessages) {
  const std::string kernel = "--- kernel\npkir 2;\n";
  EXPECT_EQ("", FailuresOf(Cat(kHead, "# exit: 4\n# error: version\n", kernel)));
  EXPECT_NE("", FailuresOf(Cat(kHead, "# exit: 4\n# error: no such words\n", kernel)));
  EXPECT_NE("", FailuresOf(Cat(kHead, "# exit: 3\n# error: version\n", kernel)));
  EXPECT_NE("", FailuresOf(
                    Cat(kHead, "# exit: 1\n", kKernel, kInputs, "--- expect\nprint \"done\"\no = [2.0, nan, -0.0]\n")));
}

std::string Outside(std::string_view header, std::string_view mark_load, std::string_view mark_store) {
  return FailuresOf(Cat(kHead, header, R"(--- kernel
pkir 1;
kernel @k {
  grid [];
  in %i: i32[];
  out %o: f32[2];
  body @k (%ir: ref<default,i32[]>, %or: ref<default,f32[2]>) {
    %n = get(%ir) : i32[];
    _ = swap(%or.at[%n], 1.0:f32) : f32[]; )",
                        mark_load, R"(
    _ = swap(%or.at[0], 1.0:f32) : f32[]; )",
                        mark_store, R"(
    return;
  }
}
--- inputs
i = [2]
--- expect
o = [1.0, nan]
)"));
}

TEST(RunCase, FindingsStandOnTheGuiltyLine) {
  EXPECT_EQ("", Outside("# exit: 1\n# finding: OOB\n", "//~ OOB", ""));
  EXPECT_EQ("", Outside("# exit: 1\n# finding: OOB store to 'o\n", "//~ OOB", "")) << "a part of the message";
  EXPECT_NE("", Outside("# exit: 1\n# finding: OOB load of\n", "//~ OOB", ""));
  EXPECT_NE(std::string::npos, Outside("# exit: 1\n", "", "").find("which no //~ announces"));
  EXPECT_NE("", Outside("# exit: 1\n", "", "//~ OOB"));
  EXPECT_NE("", Outside("# exit: 1\n", "//~ OOB_BLOCK", ""));
  EXPECT_NE(std::string::npos, Outside("# exit: 1\n", "//~ OOB", "//~ OOB").find("expected finding OOB on line 9"));
  EXPECT_NE(std::string::npos, Outside("# exit: 1\n# finding: CHECK\n", "//~ OOB", "").find("expected finding CHECK"));
  EXPECT_NE(std::string::npos, Outside("", "//~ OOB", "").find("exit code: expected 0, found 1"));
}

// Program i stores into place i or i + 1, and reads place i.
std::string Pair(std::string_view mark_first, std::string_view mark_read, std::string_view mark_last) {
  return FailuresOf(Cat(kHead, "# target: triton/h100\n# exit: 1\n# schedules: 8\n", R"(--- kernel
pkir 1;
kernel @k {
  backend triton;
  grid [2];
  in %x: i32[2];
  out %o: i32[2] alias %x;
  body @k (%xr: ref<default,i32[2]>, %or: ref<default,i32[2]>) {
    %i = program_id{axis=0}() : i32[];
    %first = eq(%i, 0:i32) : bool[];
    cond(%first) {
      %seen = get(%or.at[0]) : i32[]; )",
                        mark_read, R"(
      return;
    } {
      _ = swap(%or.at[1], 5:i32) : i32[]; )",
                        mark_first, R"(
      return;
    };
    _ = swap(%or.at[0], 3:i32) : i32[]; )",
                        mark_last, R"(
    return;
  }
}
--- inputs
x = [3, 3]
)"));
}

TEST(RunCase, PairsAreTheTwoLinesInEitherOrder) {
  const std::string found = Pair("", "", "//~ RACE_RW@a SAME_VALUE@a");
  EXPECT_EQ("", Pair("", "//~ RACE_RW@a", "//~ RACE_RW@a SAME_VALUE@a")) << found;
  EXPECT_NE("", found) << "one line, but the accesses are on two";
  EXPECT_NE("", Pair("//~ RACE_RW@a", "//~ RACE_RW@a", "//~ SAME_VALUE@a"));
  EXPECT_NE("", Pair("", "//~ RACE_RW@a", "//~ RACE_RW@b SAME_VALUE@a"));
  EXPECT_NE(std::string::npos, Pair("//~ RACE_RW@a", "//~ RACE_RW@a", "//~ RACE_RW@a").find("on one line or on two"));
  EXPECT_NE(std::string::npos, Pair("", "", "//~ first:RACE_RW@a RACE_RW").find("without first:"));
}

constexpr std::string_view kTriton = "# target: triton/h100\n";

// A text that cannot be prepared, because an operation is not supported here, and that its target refuses.
TEST(RunCase, ACheckJudgesATextThatCannotBePrepared) {
  const std::string kernel = R"(--- kernel
pkir 1;
kernel @k {
  backend mosaic_gpu;
  in %x: f16[64,64] space gmem;
  mesh gpu {grid=[1], grid_names=["g"], cluster=[], cluster_names=[], threads=none, thread_name=none};
  body @k (%xr: ref<gmem,f16[64,64]>) {
    commit_tmem();  //~ ILLEGAL
    sc.barrier();
    return;
  }
}
--- inputs
x = zeros
)";
  const std::string head = Cat(kHead, "# target: mosaic_gpu/h100\n# exit: 1\n");
  EXPECT_EQ("", FailuresOf(Cat(head, "# schedules: 1\n", kernel)));
  const std::string run = FailuresOf(head + kernel);
  EXPECT_NE(std::string::npos, run.find("exit code: expected 1, found 3")) << run;
}

TEST(RunCase, TheBudgetOfACheckEndsALivelock) {
  const std::string text = Cat(kHead, kTriton, "# exit: 1\n# schedules: 1\n# budget: 2000\n", R"(--- kernel
pkir 1;
kernel @k {
  backend triton;
  grid [2];
  in %x: i32[1];
  out %o: i32[1] alias %x;
  body @k (%xr: ref<default,i32[1]>, %or: ref<default,i32[1]>) {
    %done = while(init=0:i32) (%v: i32[]) {
      %wait = ne(%v, 2:i32) : bool[];
      return %wait;
    } (%v: i32[]) {
      %seen = atomic_rmw{op=xor}(%or.at[0], 1:i32) : i32[];  //~ LIVELOCK
      return %seen;
    } : i32[];
    return;
  }
}
--- inputs
x = zeros
)");
  EXPECT_EQ("", FailuresOf(text));
}

TEST(ParseCase, RefusesWhatIsNotTheFormat) {
  const auto refused = [](std::string_view text) { return ParseCase(text, "c.case").status().ToString(); };
  EXPECT_NE(std::string::npos, refused("# Prose.\n--- kernel\nx\n").find("# spec:"));
  EXPECT_NE(std::string::npos, refused("# spec: a.md#b\n--- kernel\nx\n").find("prose"));
  EXPECT_NE(std::string::npos, refused(Cat(kHead, "--- kernel\nx\n")).find("asserts nothing"));
  EXPECT_NE(std::string::npos,
            refused(Cat(kHead, "# taget: triton\n--- kernel\nx\n")).find("c.case:3: there is no header # taget:"));
  EXPECT_NE(std::string::npos, refused(Cat(kHead, "# schedules: all\n--- kernel\nx\n")).find("a positive number"));
  EXPECT_NE(std::string::npos, refused(Cat(kHead, "# schedules: 0\n--- kernel\nx\n")).find("a positive number"));
  EXPECT_NE(std::string::npos, refused(Cat(kHead, "# launches: 1\n--- kernel\nx\n")).find("2 or more"));
  EXPECT_NE(std::string::npos, refused(Cat(kHead, "# launches: many\n--- kernel\nx\n")).find("2 or more"));
  EXPECT_NE(std::string::npos, refused(Cat(kHead, "# proxy: none\n--- kernel\nx\n")).find("pallas, strict or lax"));
  EXPECT_NE(std::string::npos,
            refused(Cat(kHead, "# proxy: lax\n--- kernel\nx\n--- expect\no = [1]\n")).find("# schedules:"));
  EXPECT_NE(std::string::npos, refused(Cat(kHead, "# links: none\n--- kernel\nx\n")).find("unordered or ordered"));
  EXPECT_NE(std::string::npos,
            refused(Cat(kHead, "# links: ordered\n--- kernel\nx\n--- expect\no = [1]\n")).find("# schedules:"));
  EXPECT_NE(std::string::npos,
            refused(Cat(kHead, "# exit: 1\n--- kernel\nx //~ first:RACE_WW\n")).find("needs the line"));
  EXPECT_NE(std::string::npos, refused(Cat(kHead, "--- kernel\nx\n--- expect\no = [1\n")).find("c.case"));
  EXPECT_NE(std::string::npos,
            refused(Cat(kHead, "--- kernel\nx\n--- expect\no = [1] ulps 2\n")).find("ulp takes a positive number"));
  EXPECT_NE(std::string::npos,
            refused(Cat(kHead, "--- kernel\nx\n--- expect\no = [1] [2]\n")).find("expected the end of the line"));
  EXPECT_NE(std::string::npos,
            refused(Cat(kHead, "--- kernel\nx\n--- expect\no = [1]\no = [1]\n")).find("expected twice"));
  EXPECT_NE(std::string::npos,
            refused(Cat(kHead, "--- kernel\nx\n--- inputs\na = iota\na = iota\n")).find("comes twice"));
  EXPECT_NE(std::string::npos, refused(Cat(kHead, "--- kernel\nx\n--- output\n")).find("expected \"--- inputs\""));
  EXPECT_NE(std::string::npos, refused(Cat(kHead, "# exit: 4\n--- kernel\nx\n")).find("# error:"));
}

std::string SplitError(std::string_view text) {
  const auto cases = SplitCases(text, "a/b.case");
  return cases.ok() ? "" : std::string(cases.status().message());
}

TEST(SplitCases, AFileWithoutNamesIsOneCase) {
  const std::string text = Cat(kHead, kKernel, kInputs, "--- expect\no = [2.0, nan, -0.0]\n\n");
  const auto cases = SplitCases(text, "a/b.case");
  ASSERT_TRUE(cases.ok());
  ASSERT_EQ(1u, cases->size());
  EXPECT_EQ("b", cases->front().name);
  EXPECT_EQ(text, cases->front().text);
  EXPECT_EQ(1, cases->front().line);
}

TEST(SplitCases, EachCaseHasItsTextAndItsLine) {
  const std::string text = "\n=== x.1\n# one\n--- kernel\n\n\n=== y-2_z \n\n# two\n";
  const auto cases = SplitCases(text, "a/b.case");
  ASSERT_TRUE(cases.ok()) << cases.status();
  ASSERT_EQ(2u, cases->size());
  EXPECT_EQ("x.1", cases->at(0).name);
  EXPECT_EQ("# one\n--- kernel\n", cases->at(0).text) << "empty lines before the next one are between the two";
  EXPECT_EQ(3, cases->at(0).line);
  EXPECT_EQ("y-2_z", cases->at(1).name);
  EXPECT_EQ("\n# two\n", cases->at(1).text);
  EXPECT_EQ(8, cases->at(1).line);
  EXPECT_EQ("# one", SplitCases("=== x\n# one", "a/b.case")->front().text) << "without the end of its line";
}

TEST(SplitCases, RefusesWhatIsNotTheFormat) {
  EXPECT_EQ("a/b.case:2: a file with several cases begins with === NAME", SplitError("\n# Prose.\n=== x\n# one\n"));
  EXPECT_EQ("a/b.case:4: case x comes twice", SplitError("=== x\n# one\n\n=== x\n# two\n"));
  EXPECT_EQ("a/b.case:3: case x is empty", SplitError("=== x\n\n=== y\n# two\n"));
  EXPECT_EQ("a/b.case:3: case y is empty", SplitError("=== x\n# one\n=== y\n\n"));
  EXPECT_EQ("a/b.case:1: case x is empty", SplitError("=== x"));
  for (const std::string_view name : {"", " ", " x y", " x/y", " x:y", "= x"}) {
    EXPECT_EQ("a/b.case:3: expected === NAME, of letters, digits, _, - and .",
              SplitError(Cat("=== x\n# one\n===", name, "\n# two\n")));
  }
}

// Of the file, except in the kernel's text: the same case has the same marks wherever it stands.
TEST(ParseCase, LinesAreThoseOfTheFile) {
  const std::string text = Cat(kHead, kKernel, kInputs, "--- expect\no = [3.0, nan, -0.0]\nprint \"done\"\n");
  const auto alone = ParseCase(text, "c.case"), later = ParseCase(text, "c.case", 101);
  ASSERT_TRUE(alone.ok() && later.ok());
  EXPECT_EQ(4, alone->kernel_line);
  EXPECT_EQ(104, later->kernel_line);
  EXPECT_EQ(later->inputs.front().line, alone->inputs.front().line + 100);
  EXPECT_EQ("c.case:120: o: element [0]: expected 3.0, found 2.0", absl::StrJoin(RunCase(*later).failures, "\n"));
  EXPECT_EQ("c.case:102: a case says in a line of prose what it shows",
            ToStd(ParseCase("# spec: a.md#b\n--- kernel\nx\n", "c.case", 101).status().message()));
  const std::string marked = Cat(kHead, "# schedules: 1\n--- kernel\npkir 1;\nkernel @k {  //~ RACE_WW\n");
  const auto guilty = ParseCase(marked + "}\n", "c.case", 101);
  ASSERT_TRUE(guilty.ok()) << guilty.status();
  EXPECT_EQ(2, guilty->guilty.front().text_line);
}

TEST(RunCase, AMissingFindingNamesItsLineInTheFile) {
  std::string kernel(kKernel);
  kernel.insert(kernel.find('\n', kernel.find("%b = add")), "  //~ RACE_WW");
  const std::string text = Cat(kHead, "# schedules: 1\n", kernel, kInputs, "--- expect\nprint \"done\"\n");
  const auto test = ParseCase(text, "c.case", 101);
  ASSERT_TRUE(test.ok()) << test.status();
  const std::string failures = absl::StrJoin(RunCase(*test).failures, "\n");
  EXPECT_NE(std::string::npos,
            failures.find("expected finding RACE_WW on line 8 of the kernel (c.case:112); there is none"))
      << failures;
}

TEST(WithHashes, FillsInAndReplaces) {
  const std::string text = Cat(kHead, kKernel, kInputs, "--- expect\nprint \"done\"\no = [2.0, nan, 0.0] ulp 1\n");
  absl::StatusOr<Case> test = ParseCase(text, "c.case");
  ASSERT_TRUE(test.ok());
  const std::string written = WithHashes(text, *test, RunCase(*test));
  EXPECT_EQ("", FailuresOf(written));
  std::string stale = written;
  stale.replace(stale.find("hash o = ") + 9, 16, "0000000000000000");
  test = ParseCase(stale, "c.case");
  ASSERT_TRUE(test.ok());
  EXPECT_EQ(written, WithHashes(stale, *test, RunCase(*test)));
}

}  // namespace
}  // namespace palladion::conformance
