// `palladion reduce`: what it writes and says, and what it refuses.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iterator>

#include "emu/front/command/command_test_util.h"
#include "semantics/base/cat.h"

namespace palladion::command {
namespace {

// Four programs add to one output.
constexpr std::string_view kSums = R"(pkir 1;
kernel @sums {
  backend triton;
  in %x: f32[4,128] as "args[0]";
  in %y: f32[128] as "args[1]";
  grid [4];
  out %o: f32[128] as "outputs";
  body @sums (%xr: ref<default,f32[4,128]> as "x_ref", %yr: ref<default,f32[128]> as "y_ref", %or: ref<default,f32[128]> as "o_ref") {
    %i = program_id{axis=0}() : i32[];
    %row = get(%xr.at[%i, *]) : f32[128];
    %v = get(%yr) : f32[128];
    %old = get(%or) : f32[128];
    %a = mul(%row, %v) : f32[128];
    %sum = add(%old, %a) : f32[128];
    _ = swap(%or, %sum) : f32[128];
    return;
  }
}
)";

class ReduceCommandTest : public CommandTest {
 protected:
  std::string Kernel() const { return Write("sums.pkir", std::string(kSums)); }
  std::string Text(const std::string& name) const {
    std::ifstream file(Path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

TEST_F(ReduceCommandTest, WritesAKernelAndHowToSeeItsFinding) {
  ASSERT_EQ(0, Run({"reduce", Kernel(), "--in", "x=iota", "--in", "args[1]=full(2)", "--keep", "RACE_RW@o", "--out",
                    Path("small.pkir")}))
      << err_;
  EXPECT_NE(std::string::npos, out_.find("instructions 7 to 3, programs 4 to 2, input elements 640 to 0")) << out_;
  EXPECT_NE(std::string::npos, Text("small.pkir").find("grid [2];"));
  const std::size_t again = out_.find(Cat("palladion check ", Path("small.pkir"), " --replay "));
  ASSERT_NE(std::string::npos, again) << out_;
  std::string replay = out_.substr(out_.rfind(' ') + 1);
  replay.pop_back();
  EXPECT_EQ(1, Run({"check", Path("small.pkir"), "--replay", replay}));
  EXPECT_NE(std::string::npos, out_.find("error[RACE_RW]: 'o_ref'")) << out_;
}

TEST_F(ReduceCommandTest, BesideTheKernelWithoutOut) {
  ASSERT_EQ(0, Run({"reduce", Kernel(), "--in", "x=iota", "--in", "y=iota", "--keep", "RACE_WW"})) << err_;
  EXPECT_NE(std::string::npos, out_.find(Path("sums.reduced.pkir")));
  EXPECT_NE("", Text("sums.reduced.pkir"));
}

TEST_F(ReduceCommandTest, AProgramDecides) {
  ASSERT_EQ(0, Run({"reduce", Kernel(), "--keep-exit", "grep -q mul", "--out", Path("small.pkir")})) << err_;
  EXPECT_NE(std::string::npos, Text("small.pkir").find("mul(")) << Text("small.pkir");
  EXPECT_NE(std::string::npos, out_.find("instructions 7 to 2")) << out_;
}

TEST_F(ReduceCommandTest, ABudgetIsReportedAndTheBestIsWritten) {
  ASSERT_EQ(6, Run({"reduce", Kernel(), "--in", "x=iota", "--in", "y=iota", "--keep", "RACE_RW", "--budget", "12",
                    "--out", Path("small.pkir")}))
      << err_;
  EXPECT_NE(std::string::npos, out_.find("12 candidates; the budget is spent")) << out_;
  EXPECT_LT(Text("small.pkir").size(), kSums.size());
}

// The program sends the signal when it has been run three times.
TEST_F(ReduceCommandTest, AnInterruptEndsItAndTheBestIsWritten) {
  std::signal(SIGINT, SIG_DFL);  // a shell without job control has what it starts in the background ignore it
  const std::string count = Path("count");
  const std::string script =
      Write("keep.sh", Cat("echo x >> ", count, "\n[ $(wc -l < ", count, ") = 3 ] && kill -INT $1\ngrep -q mul $2\n"));
  ASSERT_EQ(6,
            Run({"reduce", Kernel(), "--keep-exit", Cat("sh ", script, " ", ::getpid()), "--out", Path("small.pkir")}))
      << err_;
  EXPECT_NE(std::string::npos, out_.find("interrupted")) << out_;
  EXPECT_NE(std::string::npos, Text("small.pkir").find("mul("));
}

TEST_F(ReduceCommandTest, WhatIsWrong) {
  const std::string file = Kernel();
  const std::vector<std::string> given = {"reduce", file, "--in", "x=iota", "--in", "y=iota"};
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> all = given;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  ExpectError(4, given, "say what stays, by --keep CODE or by --keep-exit CMD; found neither");
  ExpectError(4, with({"--keep", "OOB", "--keep-exit", "true"}), "found both");
  ExpectError(4, with({"--keep", "OOB"}), "a check with these inputs finds no OOB; it finds UNINIT, RACE_RW, RACE_WW");
  ExpectError(4, with({"--keep", "RACE_RW@z"}), "kernel @sums has no operand or ref of this name");
  ExpectError(4, with({"--keep", "RACE_RW:3"}), "no instruction or operand stands on line 3 of the kernel text");
  ExpectError(4, with({"--keep", "RACES"}), "--keep must begin with the code of a finding");
  ExpectError(4, with({"--keep", "OOB", "--budget", "5m"}), "--budget must be a number of candidates");
  ExpectError(4, with({"--keep", "OOB", "--out", file}), "would overwrite");
  ExpectError(4, with({"--keep-exit", "no-such-program-anywhere"}), "is not found by the shell (exit code 127)");
  ExpectError(4, with({"--keep-exit", "false"}), "it exits with 1; nothing was reduced");
  ExpectError(4, with({"--keep-exit", "sleep 20;:", "--timeout", "1"}), "did not end within 1 s (--timeout)");
  ExpectError(4, {"reduce", file, "--keep", "RACE_RW"}, "no value for input 'x'");
}

}  // namespace
}  // namespace palladion::command
