// `palladion check` as a user sees it: options, exit codes, what is printed and written, what is refused.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>
#include <tuple>

#include "emu/front/command/command_test_util.h"

namespace palladion::command {
namespace {

class CheckCommandTest : public CommandTest {
 protected:
  // Every program stores its number into the element `at`: with one element the last one wins.
  std::string StoreNumber(const std::string& at = "0", const std::string& source = "kern.py") const {
    return Write("store.pkir", "pkir 1;\nfile #f = \"" + source +
                                   "\";\nloc #c = #f:9:3 fn \"train\";\nloc #l = #f:3:5 fn \"body\" via #c;\n"
                                   "kernel @store { backend triton; grid [4]; out %o: i32[4];\n"
                                   "  body @b (%or: ref<default,i32[4]> as \"o_ref\") {\n"
                                   "    %p = program_id{axis=0}() : i32[];\n    _ = swap(%or.at[" +
                                   at + "], %p) : i32[] #l;\n    return; } }\n");
  }
  std::string ReadAll(const std::string& path) const {
    std::stringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }
  static bool Holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
};

TEST_F(CheckCommandTest, AKernelThatIsClean) {
  const std::string file = Write("add.pkir", AddKernel());
  EXPECT_EQ(0, Run({"check", file, "--in", "x=iota", "--in", "y=iota"})) << err_;
  EXPECT_EQ("", err_);
  EXPECT_EQ(0u, out_.find("sum [0.0 2.0 4.0 6.0]\nsum [8.0 10.0 12.0 14.0]\nverdict: ")) << out_;
  EXPECT_TRUE(Holds(out_, "\n  kernel @add on generic: 2 programs, ")) << out_;
  EXPECT_FALSE(Holds(out_, "error[")) << out_;
}

// Each launch writes one element that is not there, and a replay is one of both launches.
TEST_F(CheckCommandTest, SeveralLaunchesInARow) {
  const std::string file = Write("k.pkir",
                                 "pkir 1;\nkernel @k { backend mosaic_tpu; out %o: f32[4] space smem; grid [];\n"
                                 "  body @k (%or: ref<smem,f32[4]>) {\n"
                                 "    %i = add(3:i32, 1:i32) : i32[];\n    _ = swap(%or.at[%i], 1.0:f32) : f32[];\n"
                                 "    return; } }\n");
  EXPECT_EQ(1, Run({"check", file, "--target", "mosaic_tpu/v5e", "--launches", "2"})) << out_ << err_;
  EXPECT_TRUE(Holds(out_, "error[OOB]")) << out_;
  EXPECT_TRUE(Holds(out_, "k.pkir:5")) << out_;
  EXPECT_TRUE(Holds(out_, " --launches 2 ")) << out_;
  // With another budget, or other checks, the schedule would be another's.
  EXPECT_EQ(1, Run({"check", file, "--launches=2", "--budget", "500", "--strict", "--no-definedness"})) << err_;
  EXPECT_TRUE(Holds(out_, " --launches 2 --budget 500 --strict --no-definedness --replay ")) << out_;
  EXPECT_EQ(1, Run({"check", file, "--launches=2", "--checks=bounds", "--seeds=3", "--all-seeds"})) << err_;
  EXPECT_TRUE(Holds(out_, " --launches 2 --checks bounds --replay ")) << out_;
  const std::string grid = Write("add.pkir", AddKernel());
  EXPECT_EQ(3, Run({"check", grid, "--in", "x=iota", "--in", "y=iota", "--launches", "2"}));
  EXPECT_TRUE(Holds(err_ + out_, "several launches in a row: only a kernel of one program has them")) << err_ << out_;
}

// What its target refuses is said before what this release does not run.
TEST_F(CheckCommandTest, AKernelThatCannotRunIsJudgedByItsText) {
  const std::string file =
      Write("tmem.pkir",
            "pkir 1;\nkernel @k { backend mosaic_gpu; in %x: f32[8] space gmem;\n  mesh gpu {grid=[1], "
            "grid_names=[\"g\"], cluster=[], cluster_names=[], threads=none, thread_name=none};\n"
            "  body @k (%xr: ref<gmem,f32[8]>) { commit_tmem(); sc.barrier(); return; } }\n");
  EXPECT_EQ(1, Run({"check", file, "--in", "x=iota"})) << err_;
  EXPECT_EQ(0u, out_.find("error[ILLEGAL]: commit_tmem: tcgen05 and tensor memory are Blackwell's")) << out_;
  EXPECT_TRUE(Holds(out_, "found the target's chip h100 [machine.tcgen05]")) << out_;
  EXPECT_TRUE(Holds(out_, "\nkernel @k: nothing more can be said: it did not run\n")) << out_;
  EXPECT_TRUE(Holds(err_, "sc.barrier is not supported")) << err_;
  EXPECT_EQ(1, Run({"check", file, "--in", "x=iota", "--format=json"}));
  EXPECT_TRUE(Holds(out_, "\"code\": \"ILLEGAL\"") && Holds(out_, "\"kind\": \"unsupported\"")) << out_;
  EXPECT_EQ(3, Run({"check", file, "--in", "x=iota", "--no-contracts"}));
  EXPECT_EQ(3, Run({"check", file, "--in", "x=iota", "--target", "mosaic_gpu/b200"}));
  EXPECT_EQ(3, Run({"check", file, "--in", "x=iota", "--suppressions",
                    Write("s.txt", "ILLEGAL @k # written for another chip\n")}))
      << out_ << err_;
}

TEST_F(CheckCommandTest, AFindingShowsBothPlacesOnce) {
  Write("kern.py", "def body(o_ref):\n    i = pl.program_id(0)\n    o_ref[0] = i\n");
  const std::string file = StoreNumber("0", Path("kern.py"));
  const int code = Run({"check", file, "--no-races"});
  EXPECT_EQ(2, code) << err_;
  EXPECT_TRUE(Holds(out_,
                    "error[NONDET]: output 'o_ref'[0] is 3 in program order and 0 in reverse order; 1 of its elements "
                    "differ\n"
                    "  (1) write of o_ref[0] by program (3)\n"
                    "      at " +
                        Path("kern.py") +
                        ":3:5 in body\n"
                        "         3 |     o_ref[0] = i\n"
                        "           |     ^\n"
                        "      called from " +
                        Path("kern.py") +
                        ":9:3 in train\n"
                        "  (2) write of o_ref[0] by program (0), at the same place\n"))
      << out_;
  EXPECT_TRUE(Holds(out_, "\nverdict: nondeterministic: 1 defect")) << out_;
}

TEST_F(CheckCommandTest, WithoutThePythonFileTheKernelTextIsShown) {
  const std::string file = StoreNumber("0", "no/such/file.py");
  Run({"check", file});
  EXPECT_TRUE(Holds(out_, "      at no/such/file.py:3:5 in body\n      " + file +
                              ":8\n         8 |     _ = swap(%or.at[0], %p) : i32[] #l;\n           |     ^\n"))
      << out_;
}

TEST_F(CheckCommandTest, ColoursOnlyWhereTheyAreWanted) {
  const std::string file = StoreNumber();
  Run({"check", file});
  EXPECT_FALSE(Holds(out_, "\x1b"));
  Run({"check", file, "--color", "always"});
  EXPECT_TRUE(Holds(out_, "\x1b[1;31merror["));
  std::string plain;
  for (std::size_t i = 0; i < out_.size(); ++i) {
    if (out_[i] == '\x1b')
      i = out_.find('m', i);
    else
      plain += out_[i];
  }
  Run({"check", file, "--color=never"});
  EXPECT_EQ(out_, plain);
  EXPECT_TRUE(ColorWanted("always", false));
  EXPECT_FALSE(ColorWanted("auto", false));
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(ColorWanted("auto", true));
  ::unsetenv("NO_COLOR");
}

TEST_F(CheckCommandTest, SuppressedFindingsStayAndDoNotCount) {
  const std::string file = StoreNumber();
  Run({"check", file, "--format", "json"});
  std::string codes;  // whatever is found today, each accepted
  for (std::size_t at = out_.find("\"code\": \""); at != std::string::npos; at = out_.find("\"code\": \"", at + 9))
    codes += out_.substr(at + 9, out_.find('"', at + 9) - at - 9) + " kern.py:3 # the last one may win\n";
  const std::string list = Write("accepted.txt", codes + "SHIFT other.py:1 # nothing there\n");
  EXPECT_EQ(0, Run({"check", file, "--suppressions", list})) << out_;
  EXPECT_TRUE(Holds(out_, "suppressed[NONDET]: output 'o_ref'[0]")) << out_;
  EXPECT_TRUE(Holds(out_, "  reason: the last one may win\n")) << out_;
  EXPECT_TRUE(Holds(out_, "unused suppression: " + list + ":") && Holds(out_, ": SHIFT other.py:1\n")) << out_;
  EXPECT_TRUE(Holds(out_, " suppressed\n")) << out_;
}

TEST_F(CheckCommandTest, WhatNeverRanIsSaid) {
  const std::string file = Write(
      "k.pkir", VectorKernel("%p = program_id{axis=0}() : i32[];\n%c = eq(%p, 9:i32) : bool[];\ncond(%c) { return; "
                             "} {\n  _ = swap(%orf.at[0], %p) : i32[];\n  return;\n} #l;"));
  Run({"check", file, "--in", "x=iota"});
  EXPECT_TRUE(Holds(out_, "\n  did not run in program order: body of when at k.py:7:3 in k\n")) << out_;
  Run({"check", file, "--in", "x=iota", "--format", "json"});
  EXPECT_TRUE(
      Holds(out_, "\"never_ran\": [{\"what\": \"body of when\", \"source\": \"k.py:7:3 in k\", \"text_line\": 11,"))
      << out_;
}

// ---- files

// JUnit's form says how long each check took.
std::string WithoutTimes(const std::string& report) {
  return std::regex_replace(report, std::regex(" time=\"[0-9.]*\""), "");
}

TEST_F(CheckCommandTest, AReportFileIsReplacedWhole) {
  const std::string file = StoreNumber();
  Write("report.json", "old");
  for (const char* format : {"text", "json", "sarif", "junit"}) {
    Run({"check", file, "--format", format});
    const std::string printed = out_;
    Run({"check", file, "--format", format, "--output", Path("report.json")});
    EXPECT_EQ(WithoutTimes(printed), WithoutTimes(ReadAll(Path("report.json")))) << format;
    EXPECT_TRUE(Holds(out_, "\nverdict: ")) << format << out_;
  }
  EXPECT_EQ(2u, FileCount());
}

TEST_F(CheckCommandTest, AReportFileThatCannotBe) {
  const std::string file = StoreNumber();
  const auto expect = [&](const std::string& path, const std::string& message) {
    ExpectError(4, {"check", file, "--output", path}, message);
  };
  expect(Path("missing/r.json"), "r.json: cannot be written: No such file or directory; choose another file");
  expect(directory_.string(), "cannot be written: it is a directory");
  expect(file + "/r", "cannot be written: Not a directory");
  expect("/proc/nothing", "cannot be written: ");
  expect("", "the name is empty");
  expect(std::string(300, 'x'), "File name too long");
}

// By its own name, another one, or a link of either kind.
TEST_F(CheckCommandTest, AReportThatWouldOverwriteAnInput) {
  const std::string file = StoreNumber(), suppressions = Write("s.txt", "");
  fs::create_symlink(file, Path("soft"));
  fs::create_hard_link(file, Path("hard"));
  for (const std::string& path :
       {file, (directory_ / "." / fs::path(file).filename()).string(), Path("soft"), Path("hard")})
    ExpectError(4, {"check", file, "--output", path},
                "--output would overwrite " + path + ", which is the file " + file);
  ExpectError(4, {"check", file, "--suppressions", suppressions, "--output", suppressions},
              "which is the file of --suppressions ");
  ExpectError(4, {"log", file, "-o", file}, "--output would overwrite ");
  ExpectError(4, {"trace", file, "--page", file}, "--page would overwrite ");
  ExpectError(4, {"trace", file, "--out", Path("t"), "--page", Path("./t")}, "are the same file");
}

TEST_F(CheckCommandTest, AFullDiskIsNoPass) {
  EXPECT_EQ(6, Run({"check", StoreNumber("%p"), "--format", "json", "--output", "/dev/full"}));
  EXPECT_TRUE(Holds(err_, "--output /dev/full: cannot be written to its end: No space left on device")) << err_;
}

// ---- what can't be checked is a report in every format, and never a pass

TEST_F(CheckCommandTest, EveryFormatSaysThatNothingCanBeSaid) {
  const std::string unsupported = Write("u.pkir", VectorKernel("sc.barrier() #l;"));
  const std::string malformed = Write("m.pkir", "pkir 1;\nkernel @k {\n  grid [1;\n");
  for (const auto& [file, code, kind] :
       {std::tuple{unsupported, 3, "unsupported"}, std::tuple{malformed, 4, "malformed"}}) {
    EXPECT_EQ(code, Run({"check", file, "--in", "x=iota", "--format", "json"}));
    EXPECT_EQ(0u, out_.find("{\"verdict\": \"unsupported\"")) << out_;
    EXPECT_TRUE(Holds(out_, std::string("\"error\": {\"kind\": \"") + kind + "\", \"message\": \"")) << out_;
    EXPECT_EQ(0u, err_.find("palladion: " + file + ":")) << err_;
    EXPECT_EQ(code, Run({"check", file, "--in", "x=iota", "--format", "sarif"}));
    EXPECT_TRUE(Holds(out_, "\"executionSuccessful\": false")) << out_;
    EXPECT_EQ(code, Run({"check", file, "--in", "x=iota", "--format", "junit"}));
    EXPECT_TRUE(Holds(out_, std::string("<error type=\"") + kind)) << out_;
    EXPECT_TRUE(Holds(out_, " errors=\"1\"")) << out_;
    ExpectError(code, {"check", file, "--in", "x=iota"}, file);
    EXPECT_EQ(code, Run({"check", file, "--in", "x=iota", "--output", Path("r.txt")}));
    EXPECT_EQ(0u, ReadAll(Path("r.txt")).find(std::string("error[") + kind + "]: ")) << ReadAll(Path("r.txt"));
  }
}

TEST_F(CheckCommandTest, ABudgetThatRunsOutIsNoPass) {
  const std::string loop = Write("loop.pkir", VectorKernel("%r = while(init=0:i32) (%a: i32[]) { return true; } (%a: "
                                                           "i32[]) { %b = add(%a, 1:i32) : i32[]; return %b; } : "
                                                           "i32[];"));
  ExpectError(6, {"check", loop, "--in", "x=iota", "--budget", "1000"}, "the budget of 1000 loop iterations is spent");
  EXPECT_EQ(6, Run({"check", loop, "--in", "x=iota", "--budget", "1000", "--format", "json"}));
  EXPECT_TRUE(Holds(out_, "\"kind\": \"budget\"")) << out_;
}

// ---- parts

TEST_F(CheckCommandTest, PartsGiveTheReportOfTheWhole) {
  const std::string file = Write(
      "tickets.pkir",
      "pkir 1;\nkernel @t { grid [4]; in %x: i32[4]; out %o: i32[4] alias %x;\n body @b (%xr: ref<default,i32[4]>, "
      "%r: ref<default,i32[4]>) {\n  %p = program_id{axis=0}() : i32[];\n"
      "  %t = atomic_rmw{op=add}(%r.at[0], 1:i32) : i32[];\n  _ = swap(%r.at[%p], %t) : i32[];\n  return; } }\n");
  const auto check = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"check", file, "--in", "x=zeros", "--seeds", "40", "--format", "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Run(arguments);
  };
  const int code = check({});
  const std::string whole = out_;
  EXPECT_TRUE(Holds(whole, "\"schedules\": 40")) << whole;
  const std::string second = Write("second.json", "");
  EXPECT_EQ(0, check({"--part", "20-39", "--output", second}));
  EXPECT_EQ(0, check({"--part", "1-19"}));
  const std::string first = Write("first.json", out_);
  EXPECT_EQ(code, check({"--parts", second + "," + first}));
  EXPECT_EQ(whole, out_);
  check({"--parts", first});
  EXPECT_TRUE(Holds(out_, "\"interrupted\": true")) << out_;
}

// ---- wrong options

TEST_F(CheckCommandTest, WrongOptions) {
  const std::string file = StoreNumber("%p");
  const auto expect = [&](const std::vector<std::string>& options, const std::string& message) {
    std::vector<std::string> arguments = {"check", file};
    arguments.insert(arguments.end(), options.begin(), options.end());
    ExpectError(4, arguments, message);
  };
  for (const char* seeds : {"0", "-1"})
    expect({"--seeds=" + std::string(seeds)},
           "--seeds must be 1 or more, below 2^63: a check that runs nothing is no pass; found '" + std::string(seeds) +
               "'");
  for (const char* seeds : {"many", "", "1.5", "99999999999999999999"})
    expect({"--seeds=" + std::string(seeds)},
           "--seeds must be 1 or more, below 2^63; found '" + std::string(seeds) + "'");
  expect({"--budget", "0"}, "--budget must be 1 or more");
  expect({"--threads", "0"}, "--threads must be 1 or more");
  expect({"--threads", "1000000"}, "--threads must be 4096 or less");
  expect({"--format", "xml"}, "--format must be text, json, sarif or junit; found 'xml'");
  expect({"--color", "yes"}, "--color must be auto, always or never; found 'yes'");
  expect({"--bounds", "wide"}, "--bounds must be logical or padded; found 'wide'");
  expect({"--checks", "races,bound"}, "--checks must be a list of bounds, definedness, races, contracts");
  expect({"--checks="}, "--checks must be a list of bounds, definedness, races, contracts");
  expect({"--checks", "races", "--no-races"}, "give either --checks or --no-races, not both");
  expect({"--replay="}, "--replay needs the schedule that a report names; found ''");
  for (const char* part : {"", "3", "3-1", "0-4", "a-b", "1-9223372036854775807"})
    expect({"--part=" + std::string(part)}, "--part must be FIRST-LAST, two seeds of 1 or more in their order");
  expect({"--part", "3-64"}, "some of the seeds 1 to 63; found the seeds 3 to 64");
  expect({"--parts", file}, file + ": not the parts of a check: ");
  expect({"--part", "1-3", "--parts", file}, "--part is some of the seeds and --parts are all: give one of the two");
  expect({"--exhaustive", "--part", "1-3"}, "--exhaustive runs every schedule, so --part does not go with it");
  expect({"--replay", "s1:x", "--seeds", "3"}, "--replay runs one schedule, so --seeds does not go with it");
  expect({"--exhaustive", "--seeds", "3"}, "--exhaustive runs every schedule, so --seeds does not go with it");
  expect({"--strict=yes"}, "--strict takes no value; found 'yes'");
  expect({"--seed", "3"}, "unknown option --seed; did you mean --seeds? known here: --in, ");
  expect({"--in", "x=iota"}, "--in x=iota names no input of kernel @store");
  expect({file}, "expected one file of kernel text; found 2");
  ExpectError(4, {"check"}, "expected one file of kernel text; found 0");
}

TEST_F(CheckCommandTest, WrongSuppressions) {
  const std::string file = StoreNumber("%p");
  ExpectError(4, {"check", file, "--suppressions", Path("none.txt")}, "none.txt': cannot be read: No such file");
  ExpectError(4, {"check", file, "--suppressions", directory_.string()},
              "expected a file of suppressions; found a directory");
  const std::string typo = Write("typo.txt", "# accepted\nRACE_WWW kern.py:3 # r\n");
  ExpectError(4, {"check", file, "--suppressions", typo},
              "typo.txt:2: unknown finding code 'RACE_WWW'; did you mean RACE_WW?");
}

}  // namespace
}  // namespace palladion::command
