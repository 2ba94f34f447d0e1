// The command on bad input: one clear error with its place and a remedy, its exit code, nothing half-written.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "emu/front/command/command.h"
#include "emu/front/command/command_test_util.h"
#include "semantics/base/cat.h"
#include "semantics/tensor/npy.h"

namespace palladion::command {
namespace {

TEST_F(CommandTest, WrongWords) {
  const std::string file = Write("add.pkir", AddKernel());
  ExpectError(4, {"frob"}, "unknown command 'frob'; the commands are run, check, trace, ");
  ExpectError(4, {""}, "unknown command ''");
  ExpectError(4, {"-"}, "unknown command '-'");
  ExpectError(4, {"run"}, "expected one file of kernel text; found 0");
  ExpectError(4, {"show", file, file}, "expected one file of kernel text; found 2");
  ExpectError(4, {"print", "-"}, "'-': cannot be read: No such file or directory");
  ExpectError(4, {"print", ""}, "'': cannot be read");
  ExpectError(4, {"print", directory_.string()}, "expected a file of kernel text; found a directory");
  ExpectError(4, {"doctor", file}, "this command takes no file");
  ExpectError(4, {"ops", file}, "this command takes no file");
}

TEST_F(CommandTest, ANearMissNamesTheNearestWord) {
  const std::string file = Write("add.pkir", AddKernel());
  ExpectError(4, {"chekc", file}, "unknown command 'chekc'; did you mean check? the commands are run, check, ");
  ExpectError(4, {"check", file, "--sedes", "3"}, "unknown option --sedes; did you mean --seeds? known here: --in, ");
  ExpectError(4, {"check", file, "--supp=x"}, "unknown option --supp; did you mean --suppressions?");
  ExpectError(4, {"log", file, "-p", "x"}, "unknown option -p; known here: ");
  ExpectError(4, {"help", "rum"}, "did you mean run?");
  ExpectError(4, {"export", "k.py:f"}, "python -m palladion export FILE.py:NAME -o K.pkir");
  ExpectError(4, {"tune", "k.py:f"}, "python -m palladion tune FILE.py:NAME --space block=64,128");
  ExpectError(4, {"completion", "csh"}, "one of the shells bash, zsh and fish; found 'csh'");
  ExpectError(4, {"completion"}, "one of the shells bash, zsh and fish; found none");
}

TEST_F(CommandTest, APythonFileNamesTheWayToExport) {
  const std::string path = Write("my kernel.py",
                                 "import jax\n\ndef helper(x):\n  return x\n\ndef double():\n  return f, (x,)\n\n"
                                 "def main():\n  pass\n");
  for (const char* command : {"run", "check", "show", "print", "log"})
    ExpectError(
        4, {command, path},
        "my kernel.py: expected kernel text; found Python: export the kernel first: python -m palladion export '" +
            path + ":double' -o 'my kernel.pkir'  (or main; a function without arguments that returns (f, args)");
  ExpectError(4, {"run", Write("k.py", "x = 1\n"), "--out", Path("o")}, "k.py:NAME -o k.pkir  (a function without");
}

TEST_F(CommandTest, WrongOptions) {
  const std::string file = Write("add.pkir", AddKernel());
  ExpectError(4, {"print", file, "--kernel", "add"}, "unknown option --kernel; known here: --format");
  ExpectError(4, {"doctor", "--kernel"}, "unknown option --kernel; the command doctor has none");
  ExpectError(4, {"ops", "--json"}, "unknown option --json; known here: --format");
  ExpectError(4, {"ops", "--format", "xml"}, "--format must be text or json; found 'xml'");
  ExpectError(4, {"ops", "--format="}, "--format must be text or json; found ''");
  ExpectError(4, {"run", file, "--"}, "unknown option --;");
  ExpectError(4, {"run", file, "--out"}, "--out needs a value");
  ExpectError(4, {"run", file, "--out", "--format", "json"}, "--out needs a value");
  ExpectError(4, {"run", file, "--out", Path("a"), "--out", Path("b")}, "option --out is given twice");
  ExpectError(4, {"run", file, "--in", "x=iota"}, "--out DIR says where the outputs go");
  for (const char* budget : {"", "0", "-1", "5x", " 5", "99999999999999999999"}) {
    ExpectError(
        4, {"run", file, "--in", "x=iota", "--in", "y=iota", "--out", Path("out"), std::string("--budget=") + budget},
        std::string("--budget must be 1 or more, below 2^63; found '") + budget + "'");
  }
}

TEST_F(CommandTest, AnUnknownSimdTargetIsRefused) {
  const char* found = std::getenv("PALLADION_SIMD");
  const std::string before = found == nullptr ? "" : found;
  ::setenv("PALLADION_SIMD", "nonsense", 1);
  ExpectError(4, {"doctor"}, "environment variable PALLADION_SIMD: expected one of scalar");
  if (found == nullptr) {
    ::unsetenv("PALLADION_SIMD");
  } else {
    ::setenv("PALLADION_SIMD", before.c_str(), 1);
  }
}

// ---- wrong inputs

TEST_F(CommandTest, WrongInputs) {
  const std::string file = Write("add.pkir", AddKernel());
  const auto expect = [&](const std::string& x, const std::string& message) {
    ExpectError(4, {"run", file, "--in", x, "--in", "y=iota", "--out", Path("out")}, message);
  };
  expect("z=iota", "--in z=iota names no input of kernel @add; `palladion show` lists them");
  ExpectError(4, {"run", file, "--in", "y=iota", "--out", Path("out")},
              "no value for input 'x' (args[0], f32[8]); give --in x=FILE.npy");
  expect("x", "--in must be NAME=VALUE; found 'x'");
  expect("x=", "--in must be NAME=VALUE; found 'x='");
  expect("=iota", "--in must be NAME=VALUE; found '=iota'");
  expect("x=-", "-: cannot read: No such file or directory");
  expect("x=missing.npy", "missing.npy: cannot read: No such file or directory");
  expect("x=[1,2]", "--in x: expected 8 numbers for f32[8]; found 2");
  expect("x=" + Write("text.npy", "not an array"), "text.npy: ");
  ASSERT_TRUE(WriteNpy(Path("i32.npy"), Tensor(DType::kI32, {8})).ok());
  expect("x=" + Path("i32.npy"), "f32");
  ASSERT_TRUE(WriteNpy(Path("f32.npy"), Tensor(DType::kF32, {4})).ok());
  expect("x=" + Path("f32.npy"), "operand 'x' (args[0]) must be f32[8]; found f32[4]");
  ExpectError(4, {"run", file, "--in", "x=iota", "--in", "y=iota", "--in", "z=iota", "--out", Path("out")},
              "--in z=iota names no input of kernel @add; `palladion show` lists them");
  ExpectError(4, {"run", file, "--in", "x=iota", "--in", "arg[1]=iota", "--out", Path("out")},
              "--in arg[1]=iota names no input of kernel @add; did you mean args[1]?");
  ExpectError(4, {"run", file, "--in", "x=iota", "--in", "args[0]=iota", "--in", "y=iota", "--out", Path("out")},
              "input 'x' is given twice: --in x=iota and --in args[0]=iota");
}

TEST_F(CommandTest, MalformedTextNamesTheFileAndTheLine) {
  ExpectError(4, {"print", Write("empty.pkir", "")}, "empty.pkir:1:1: ");
  ExpectError(4, {"print", Write("bytes.pkir", std::string("pkir 1;\n\0\xff", 10))}, "bytes.pkir:2:1: ");
  ExpectError(4, {"run", Write("bad.pkir", "pkir 1;\nkernel @k {\n  grid [1;\n"), "--out", Path("out")},
              "bad.pkir:3:10: ");
  ExpectBodyError(4, "%v = get(%nobody) : i32[4];", "k.pkir:9:10: ");
}

// ---- kernels that are wrong

TEST_F(CommandTest, WrongInstructionsNameTheLineAndTheUsersPlace) {
  ExpectBodyError(
      4,
      "%v = get(%xr) : i32[4];\n%d = dot_general{contract=[[0],[0]], batch=[[],[]], precision=none, preferred=i32}(%v, "
      "dense<i32[3][1,2,3]>) : i32[] #l;",
      "k.pkir:10: kernel @k: `%d = dot_general");
  EXPECT_NE(
      std::string::npos,
      err_.find("the contracted dimensions must have the same sizes; i32[4] has [4], i32[3] has [3]; at k.py:7:3 in k"))
      << err_;
  ExpectBodyError(4, "%v = frobnicate() : i32[4] #l;",
                  "unknown primitive frobnicate; docs/reference/operations.md lists the known ones; at k.py:7:3 in k");
  ExpectBodyError(4, "%v = program_idd{axis=0}() : i32[] #l;",
                  "unknown primitive program_idd; did you mean program_id?");
  ExpectBodyError(4, "%v = mgpu.laod(%xr) : i32[4] #l;", "unknown primitive mgpu.laod; did you mean mgpu.load?");
  ExpectBodyError(3, "sc.barrier() #l;", "sc.barrier is not supported: ");
  EXPECT_NE(std::string::npos, err_.find("k.pkir:9: ")) << err_;
  EXPECT_NE(std::string::npos, err_.find("at k.py:7:3 in k")) << err_;
  ExpectBodyError(4, "%v = integer_pow{y=-3}(0:i32) : i32[];",
                  "the exponent of integers must not be negative; found -3");
  ExpectBodyError(4, "%z = run_scoped() (%s: ref<vmem,i32[1024]>) { %g = get(%s) : i32[1024]; return %g; } : i32[4];",
                  "must have type i32[4]; found i32[1024]");
  ExpectBodyError(4, "run_scoped{collective_axes=7}() (%s: ref<vmem,i32[1]>) { return; };",
                  "'collective_axes' must be a list");
}

TEST_F(CommandTest, SizesPastTheLimits) {
  std::string ones = "1";
  for (int i = 1; i < 40; ++i) ones += ",1";
  ExpectBodyError(6, "%v = iota{dim=0}() : i32[" + ones + "];", "an array has more than 32 dimensions; reshape it");
  ExpectBodyError(6, "%v = iota{dim=0}() : i32[99999999999];", "an array has more than 68719476736 elements (2^36)");
  ExpectBodyError(4, "%v = iota{dim=0}() : i32[99999999999999999999999];", "k.pkir:9:");
  ExpectBodyError(4, "%v = iota{dim=0}() : i32[-1];", "k.pkir:9:");
  ExpectBodyError(6, "%v = masked_load(%xr.at[0 +: 4 : 4611686018427387904], mask=true) : i32[4];",
                  "reaches further than");
}

// More than any host has. If it were allocated at once, the operating system might grant it and end the process later.
TEST_F(CommandTest, MemoryThatNoHostHas) {
  ExpectBodyError(6,
                  "%v = broadcast_in_dim{shape=[68719476736], dims=[]}(0:i64) : i64[68719476736];\n"
                  "%w = broadcast_in_dim{shape=[68719476736], dims=[]}(0:i64) : i64[68719476736];\n%u = add(%v, %w) : "
                  "i64[68719476736];",
                  "kernel @k needs ");
  ExpectBodyError(6, "run_scoped() (%s: ref<vmem,f32[68719476736]> as \"acc\") { return; } #l;",
                  "no memory for 'acc': 274877906944 bytes");
  EXPECT_NE(std::string::npos, err_.find("at k.py:7:3 in k, at program (0)")) << err_;
  const std::string huge =
      "pkir 1;\nkernel @h { grid [1]; in %x: f64[68719476736]; body @b (%r: ref<any,f64[68719476736]>) { return; } }\n";
  ExpectError(6, {"run", Write("h.pkir", huge), "--in", "x=zeros", "--out", Path("out")},
              "kernel @h needs 549755813952 bytes for its operands (549755813888)");
}

TEST_F(CommandTest, LoopsAndGridsWithoutEnd) {
  ExpectBodyError(6,
                  "%r = while(init=0:i32) (%a: i32[]) { %t = ge(%a, 0:i32) : bool[]; return %t; } (%a: i32[]) { %b = "
                  "add(%a, 1:i32) : i32[]; "
                  "return %b; } : i32[] #l;",
                  "kernel @k, at k.py:7:3 in k, at program (0): the budget of 100000 loop "
                  "iterations is spent");
  ExpectBodyError(6, "%r = scan{length=4611686018427387904}(init=0:i32) (%a: i32[]) { return %a; } : i32[];",
                  "the budget of 100000 loop iterations is spent");
  ExpectBodyError(6, "",
                  "the grid [65536, 65536] has more programs than the budget of 100000; raise --budget if it is meant",
                  "[65536, 65536]");
  ExpectBodyError(4, "",
                  "the grid [2147483648] has a dimension larger than 2147483647, the largest that program_id can count",
                  "[2147483648]");
  ExpectBodyError(6, "", "the grid [4611686018427387904] has more than 2^48 programs", "[4611686018427387904]");
  ExpectBodyError(6, "", "the grid [4611686018427387904, 4611686018427387904, 4] has more than 2^48 programs",
                  "[4611686018427387904, 4611686018427387904, 4]");
}

TEST_F(CommandTest, DynamicGridBounds) {
  const std::string file =
      Write("d.pkir", "pkir 1;\nkernel @d { bound %n: i64[]; grid [%n, 3]; body @b () { return; } }\n");
  EXPECT_EQ(0, Run({"run", file, "--in", "n=[5]", "--out", Path("out")})) << err_;
  EXPECT_EQ("kernel @d on generic: 15 programs ran, not checked (palladion check does); no findings\n", out_);
  EXPECT_EQ(0, Run({"run", file, "--in", "n=[0]", "--out", Path("out")})) << err_;
  EXPECT_EQ("kernel @d on generic: 0 programs ran, not checked (palladion check does); no findings\n", out_);
  ExpectError(4, {"run", file, "--in", "n=[-1]", "--out", Path("o")}, "grid bound 'n' must not be negative; found -1");
  ExpectError(4, {"run", file, "--in", "n=[4294967296]", "--out", Path("o")}, "larger than 2147483647");
  ExpectError(6, {"run", file, "--in", "n=[9223372036854775807]", "--out", Path("o")},
              "the grid [9223372036854775807, 3] has more than 2^48 programs");
  ExpectError(6, {"run", file, "--in", "n=[2147483647]", "--out", Path("o"), "--budget", "1000"},
              "more programs than the budget of 1000");
}

// ---- findings

TEST_F(CommandTest, ABlockOutOfBoundsNamesOperandProgramAndIndex) {
  for (const char* target : {"generic", "triton/h100", "mosaic_tpu/v5e"}) {
    const std::string file = Write("oob.pkir", AddKernel("7:i32"));
    EXPECT_EQ(1, Run({"run", file, "--in", "x=iota", "--in", "y=iota", "--out", Path("out"), "--target", target}))
        << err_;
    EXPECT_NE(
        std::string::npos,
        out_.find(
            "error[OOB_BLOCK]: the block of operand 'args[0]' at program (0) lies wholly outside its array f32[8]: "
            "the index map returned (7)"))
        << out_;
    EXPECT_NE(std::string::npos,
              out_.find("\n  at add.py:7:3 in add_kernel\n  " + file + ":5\n     5 |   in %x: f32[8]"))
        << out_;
  }
  const std::pair<const char*, const char*> far[] = {{"-2147483648:i32", "OOB_BLOCK"},
                                                     {"9223372036854775807:i64", "INDEX_TYPE"},
                                                     {"-9223372036854775808:i64", "INDEX_TYPE"}};
  for (const auto& [index, code] : far) {
    const std::string file = Write("oob.pkir", AddKernel(index));
    EXPECT_EQ(1, Run({"run", file, "--in", "x=iota", "--in", "y=iota", "--out", Path("out"), "--format", "json"}))
        << err_;
    EXPECT_EQ(0u, out_.find("{\"verdict\": \"defect\"")) << out_;
    EXPECT_NE(std::string::npos, out_.find(Cat("\"code\": \"", code, "\""))) << out_;
  }
}

TEST_F(CommandTest, AnIndexOutOfBoundsIsAFindingAndReadsPoison) {
  const std::string file =
      Write("k.pkir", VectorKernel("%i = get(%xr.at[3]) : i32[];\n%j = add(%i, 2:i32) : i32[];\n%v = get(%xr.at[%j]) : "
                                   "i32[] #l;\n_ = swap(%orf.at[%j +: 2], dense<i32[2][1,2]>) : i32[2];"));
  EXPECT_EQ(1, Run({"run", file, "--in", "x=iota", "--out", Path("out")})) << err_;
  EXPECT_NE(std::string::npos,
            out_.find("error[OOB]: load of 'x_ref'[5] at program (0) is out of bounds: dimension 0 has indices 0..3"))
      << out_;
  EXPECT_NE(std::string::npos, out_.find("error[OOB]: store to 'o_ref'[5..6] at program (0) is out of bounds")) << out_;
  EXPECT_NE(std::string::npos, out_.find("2 findings\n")) << out_;
}

TEST_F(CommandTest, IntegersThatDoNotFit) {
  const std::string file = Write(
      "k.pkir", VectorKernel("%a = div(-2147483648:i32, -1:i32) : i32[];\n%b = rem(-2147483648:i32, -1:i32) : "
                             "i32[];\n%c = neg(-2147483648:i32) : i32[];\n"
                             "%d = abs(-2147483648:i32) : i32[];\n%e = sub(-2147483648:i32, 1:i32) : i32[];\n%f = "
                             "div(-128:i8, -1:i8) : i8[];\n"
                             "%g = div(-9223372036854775808:i64, -1:i64) : i64[];\n%h = div(-8:i4, -1:i4) : i4[];\n"
                             "debug_print{fmt=\"{} {} {} {} {} {} {} {}\"}(%a, %b, %c, %d, %e, %f, %g, %h);"));
  EXPECT_EQ(0, Run({"run", file, "--in", "x=iota", "--out", Path("out")})) << err_;
  EXPECT_EQ(0u, out_.find("-2147483648 0 -2147483648 -2147483648 2147483647 -128 -9223372036854775808 -8\n")) << out_;
}

// ---- the output directory

TEST_F(CommandTest, AnOutputDirectoryThatCannotBe) {
  const std::string file = Write("add.pkir", AddKernel());
  const auto expect = [&](const std::string& out, const std::string& message) {
    ExpectError(4, {"run", file, "--in", "x=iota", "--in", "y=iota", "--out", out}, message);
  };
  expect(file, "the output directory cannot be made: ");
  expect(file + "/below", "the output directory cannot be made: ");
  expect("/proc/palladion", "the output directory cannot be made: ");
  expect(std::string(300, 'x'), "the output directory cannot be made: File name too long; choose another with --out");
  fs::create_directories(Path("taken/o.npy"));
  expect(Path("taken"), "o.npy: expected a file or nothing; found a directory");
  expect("/proc", "the output directory cannot be written: ");
}

TEST_F(CommandTest, AFullDiskLeavesTheOldOutputs) {
  const std::string file = Write("big.pkir",
                                 "pkir 1;\nkernel @b { grid [1]; out %p: i32[4]; out %q: i32[4096]; body @b (%pr: "
                                 "ref<default,i32[4]>, %qr: ref<default,i32[4096]>) {\n"
                                 "  %a = iota{dim=0}() : i32[4]; _ = swap(%pr, %a) : i32[4]; return; } }\n");
  fs::create_directory(Path("out"));
  Write("out/p.npy", "old");
  // A limit on the size of files stands in for a full disk: write() fails part way in the same manner.
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  struct ::rlimit old_limit;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old_limit), 0);
  struct ::rlimit limit = old_limit;
  limit.rlim_cur = 4096;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  ExpectError(6, {"run", file, "--out", Path("out")}, "q.npy: ");
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old_limit), 0);
  std::signal(SIGXFSZ, old_handler);
  std::string kept;
  std::ifstream(Path("out/p.npy")) >> kept;
  EXPECT_EQ("old", kept);
}

TEST_F(CommandTest, LongNamesOfOutputs) {
  const auto text = [](const std::string& name) {
    return "pkir 1;\nkernel @k { grid [1]; out %" + name +
           ": i32[4]; body @b (%r: ref<default,i32[4]>) { return; } }\n";
  };
  EXPECT_EQ(0, Run({"run", Write("k.pkir", text("_$0")), "--out", Path("out")})) << err_;
  EXPECT_TRUE(fs::exists(Path("out/_$0.npy")));
  ExpectError(4, {"run", Write("k.pkir", text(std::string(300, 'o'))), "--out", Path("out")}, "File name too long");
}

TEST_F(CommandTest, TheRunnerOfTheCasesIsNotBesideThisTest) {
  ExpectError(4, {"conformance"}, "build it beside the command");
}

}  // namespace
}  // namespace palladion::command
