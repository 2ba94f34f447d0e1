// run with --stats, --trap, --dump and --program: numbers worked out by hand on small kernels.
#include <gtest/gtest.h>

#include "emu/front/command/command_test_util.h"
#include "semantics/base/cat.h"
#include "semantics/tensor/npy.h"

namespace palladion::watch {
namespace {

// y = sqrt(x - 2), z = 1 / (x - 2), of four floats.
std::string RootKernel(const std::string& more = "") {
  return "pkir 1;\nfile #f = \"src/root.py\";\nloc #s = #f:5:7 fn \"root\";\nloc #d = #f:6:7 fn \"root\";\n"
         "kernel @root {\n"
         "  in %x: f32[4] as \"args[0]\";\n"
         "  grid [];\n"
         "  out %y: f32[4];\n"
         "  out %z: f32[4];\n"
         "  scratch %t: ref<vmem,f32[4]> as \"t_ref\";\n"
         "  body @root (%xr: ref<default,f32[4]> as \"x_ref\", %yr: ref<default,f32[4]> as \"y_ref\",\n"
         "    %zr: ref<default,f32[4]> as \"z_ref\", %tr: ref<vmem,f32[4]> as \"t_ref\") {\n"
         "    %a = get(%xr) : f32[4];\n"
         "    %b = sub(%a, 2.0:f32) : f32[4];\n"
         "    %c = sqrt(%b) : f32[4] #s;\n"
         "    %d = div(1.0:f32, %b) : f32[4] #d;\n" +
         more +
         "    _ = swap(%yr, %c) : f32[4];\n"
         "    _ = swap(%zr, %d) : f32[4];\n"
         "    return;\n  }\n}\n";
}

class ObservedRunTest : public command::CommandTest {
 protected:
  // Runs the kernel on x; returns what it printed.
  std::string Observe(int code, const std::string& text, const std::string& x, std::vector<std::string> options) {
    std::vector<std::string> arguments = {"run", Write("k.pkir", text), "--in", Cat("x=", x), "--out", Path("out")};
    arguments.insert(arguments.end(), options.begin(), options.end());
    EXPECT_EQ(code, Run(arguments)) << out_ << err_;
    return out_;
  }
  void ExpectIn(const std::string& part, const std::string& text) const {
    EXPECT_NE(std::string::npos, text.find(part)) << part << "\nin\n" << text;
  }
};

TEST_F(ObservedRunTest, TrapNamesWhereANaNIsBorn) {
  const std::string text = Observe(1, RootKernel(), "iota", {"--trap", "nan"});
  ExpectIn(
      "trap: the first nan is born in the program: sqrt, line 15 of the kernel text, at src/root.py:5:7 in root\n"
      "  %c[0] = nan\n  of %b[0] = -2.0\n",
      text);
}

TEST_F(ObservedRunTest, TrapNamesWhereAnInfinityIsBorn) {
  const std::string text = Observe(1, RootKernel(), "iota", {"--trap=inf"});
  ExpectIn("div, line 16", text);
  ExpectIn("  %d[2] = inf\n  of literal = 1.0\n  of %b[2] = 0.0\n", text);
}

// A NaN that comes in goes through; the one that is made beside it is the first that is born.
TEST_F(ObservedRunTest, ANaNOfTheInputIsNotBornInTheKernel) {
  ExpectIn("trap: no nan was born\n", Observe(0, RootKernel(), "[nan,3,4,5]", {"--trap", "nan"}));
  ExpectIn("  %c[2] = nan\n  of %b[2] = -1.0\n", Observe(1, RootKernel(), "[nan,3,1,0]", {"--trap", "nan"}));
}

// Kernels mask such elements later, mostly, so it is reported and no more.
TEST_F(ObservedRunTest, UnwrittenMemoryIsReportedApart) {
  const std::string read = "    %t0 = get(%tr.at[1 +: 2]) : f32[2];\n";
  const std::string reported = "first in the program: get, line 17 of the kernel text\n  %t0[0] = nan\n";
  const std::string clean = Observe(0, RootKernel(read), "[3,4,5,6]", {"--trap", "nan"});
  ExpectIn("trap: no nan was born\n  one was read from unwritten memory", clean);
  ExpectIn(reported, clean);
  // What comes of it is not born; what comes of a clean operand after it is.
  const std::string use = "    %t1 = neg(%t0) : f32[2];\n    %n = neg(%a) : f32[4];\n    %t2 = log(%n) : f32[4];\n";
  const std::string both = Observe(1, RootKernel(read + use), "[3,4,5,6]", {"--trap", "nan"});
  ExpectIn("the first nan is born in the program: log, line 20", both);
  ExpectIn(reported, both);
  const std::string write = "    _ = swap(%tr, %a) : f32[4];\n";
  for (const char* x : {"[3,4,5,6]", "[3,nan,5,6]"}) {
    const std::string text = Observe(0, RootKernel(write + read), x, {"--trap", "nan"});
    ExpectIn("trap: no nan was born\n", text);
    EXPECT_EQ(std::string::npos, text.find("nobody had written")) << text;
  }
}

TEST_F(ObservedRunTest, TrapInJson) {
  const std::string text = Observe(1, RootKernel(), "iota", {"--trap", "nan", "--format", "json"});
  ExpectIn("\"trap\": {\"born\": {\"program\": \"the program\", \"iterations\": \"\", \"op\": \"sqrt\"", text);
  ExpectIn("\"operands\": [{\"element\": \"%b[0]\", \"value\": \"-2.0\"}]}, \"undefined\": null}}", text);
  ExpectIn("\"trap\": {\"born\": null, \"undefined\": null}}",
           Observe(0, RootKernel(), "[3,4,5,6]", {"--trap", "nan", "--format", "json"}));
}

TEST_F(ObservedRunTest, DumpsARefEachTimeALineIsPassed) {
  const std::string text = Observe(0, RootKernel(), "[3,6,11,18]", {"--dump", "y_ref@17,y_ref@18,x@root.py:5"});
  ExpectIn("dumps: 3\n  x after line 15 (sqrt), the program: f32[4] = 3.0 6.0 11.0 18.0\n", text);
  ExpectIn("y_ref after line 17 (swap), the program: f32[4] = 1.0 2.0 3.0 4.0\n", text);
  const absl::StatusOr<Tensor> tensor = ReadNpy(Path("out/dump_y_ref_1.npy"));
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(4.0f, tensor->data<float>()[3]);
}

TEST_F(ObservedRunTest, WithoutAPlaceForFilesTheTextIsAll) {
  const std::string file = Write("k.pkir", RootKernel());
  const std::vector<std::string> run = {"run", file, "--in", "x=[3,6,11,18]"};
  const auto with = [&](std::vector<std::string> words) {
    words.insert(words.begin(), run.begin(), run.end());
    return Run(words);
  };
  EXPECT_EQ(0, with({"--dump", "x@root.py:5", "--stats", "--trap", "nan"})) << err_;
  ExpectIn("dumps: 1\n  x after line 15 (sqrt), the program: f32[4] = 3.0 6.0 11.0 18.0\ntrap: no nan was born\n",
           out_);
  EXPECT_EQ(std::string::npos, out_.find("wrote")) << out_;
  EXPECT_EQ(0, with({"--dump", "x@root.py:5", "--format", "json"})) << err_;
  ExpectIn("\"path\": null", out_);
  EXPECT_EQ(1u, FileCount());
  ExpectError(4, run, "--out DIR says where the outputs go; found none (only with --stats, --trap or --dump");
}

TEST_F(ObservedRunTest, DumpOfAWindowOfEachProgram) {
  const std::string file = Write("add.pkir", AddKernel());
  for (const char* target : {"generic", "mosaic_tpu/v5e", "triton/h100"}) {
    ASSERT_EQ(0, Run({"run", file, "--in", "x=iota", "--in", "y=zeros", "--out", Path("out"), "--target", target,
                      "--dump", "xr@12", "--legality", "off"}))
        << err_;
    ExpectIn("program (0): f32[4] = 0.0 1.0 2.0 3.0\n", out_);
    ExpectIn("program (1): f32[4] = 4.0 5.0 6.0 7.0\n", out_);
  }
}

TEST_F(ObservedRunTest, DumpErrorsListWhatThereIs) {
  const std::string file = Write("k.pkir", RootKernel());
  const auto expect = [&](const std::string& dump, const std::string& message) {
    ExpectError(4, {"run", file, "--in", "x=iota", "--out", Path("out"), "--dump", dump}, message);
  };
  expect("w_ref@15", "has no ref 'w_ref'; it has: t_ref, x_ref, y_ref, z_ref");
  expect("x_ref@99",
         "is on line '99'; lines of the text that have one: 13, 14, 15 (root.py:5), 16 (root.py:6), 17, 18");
  expect("x_ref@here", "is on line 'here'");
  expect("x_ref@other.py:5", "is on line 'other.py:5'");
  expect("x_ref", "--dump must be REF@LINE");
  expect("x_ref@", "--dump must be REF@LINE");
}

TEST_F(ObservedRunTest, StatsOfViews) {
  const std::string file = Write("add.pkir", AddKernel());
  ASSERT_EQ(
      0, Run({"run", file, "--in", "x=iota", "--in", "y=zeros", "--out", Path("out"), "--stats", "--format", "json"}))
      << err_;
  // Two programs; each loads two blocks of 16 bytes, adds 4 floats, stores 16 bytes; the index map multiplies once.
  ExpectIn(
      "\"stats\": {\"programs\": 2, \"flops\": 8, \"transcendentals\": 0, \"integer_ops\": 2, \"loads\": 4, "
      "\"loaded_bytes\": 64, \"stores\": 2, \"stored_bytes\": 32, \"atomics\": 0, \"spaces\": {\"arrays\": 96}",
      out_);
  ExpectIn("{\"name\": \"args[0]\", \"role\": \"in\", \"bytes_read\": 32, \"bytes_written\": 0, \"fetched\": 0, ",
           out_);
  ExpectIn("{\"name\": \"add\", \"runs\": 2, \"elements\": 8, \"flops\": 8, ", out_);
}

// Blocks with memory of their own: x's index does not change, so its block is fetched once and kept once.
TEST_F(ObservedRunTest, StatsOfResidentBlocks) {
  const std::string file = Write("add.pkir", AddKernel("0:i32"));
  ASSERT_EQ(0, Run({"run", file, "--in", "x=iota", "--in", "y=zeros", "--out", Path("out"), "--stats", "--format",
                    "json", "--target", "mosaic_tpu/v5e", "--legality", "off"}))
      << err_;
  ExpectIn("\"spaces\": {\"arrays\": 96, \"vmem\": 48}", out_);
  ExpectIn("\"loads\": 4, \"loaded_bytes\": 64, \"stores\": 2, \"stored_bytes\": 32, ", out_);  // not the copies
  ExpectIn(
      "{\"name\": \"args[0]\", \"role\": \"in\", \"bytes_read\": 16, \"bytes_written\": 0, \"fetched\": 1, "
      "\"kept\": 1, \"flushed\": 0}, {\"name\": \"args[1]\", \"role\": \"in\", \"bytes_read\": 32, "
      "\"bytes_written\": 0, \"fetched\": 2, \"kept\": 0, \"flushed\": 0}, {\"name\": \"outputs\", \"role\": \"out\", "
      "\"bytes_read\": 0, \"bytes_written\": 32, \"fetched\": 0, \"kept\": 0, \"flushed\": 2}",
      out_);
}

TEST_F(ObservedRunTest, StatsCountAContraction) {
  const std::string text =
      "pkir 1;\nkernel @d {\n  in %x: f32[3,5]; in %y: f32[5,7]; grid []; out %o: f32[3,7];\n"
      "  body @d (%xr: ref<default,f32[3,5]>, %yr: ref<default,f32[5,7]>, %orf: ref<default,f32[3,7]>) {\n"
      "    %a = get(%xr) : f32[3,5];\n    %b = get(%yr) : f32[5,7];\n"
      "    %c = dot_general{contract=[[1],[0]], batch=[[],[]], precision=none, preferred=f32}(%a, %b) : f32[3,7];\n"
      "    %e = exp(%c) : f32[3,7];\n    %s = reduce_sum{axes=[1]}(%e) : f32[3];\n"
      "    _ = swap(%orf, %e) : f32[3,7];\n    return;\n  }\n}\n";
  ASSERT_EQ(0, Run({"run", Write("d.pkir", text), "--in", "x=iota", "--in", "y=full(0.001)", "--out", Path("out"),
                    "--stats"}))
      << err_;
  // 2*3*7*5 and 21 that are summed.
  ExpectIn("stats: 1 program, 6 instructions, 231 flops, 21 transcendentals, 0 integer operations\n", out_);
}

TEST_F(ObservedRunTest, OneProgramAlone) {
  const std::string file = Write("add.pkir", AddKernel());
  for (const char* target : {"generic", "mosaic_tpu/v5e"}) {
    ASSERT_EQ(0, Run({"run", file, "--in", "x=iota", "--in", "y=zeros", "--out", Path("out"), "--target", target,
                      "--program", "1", "--legality", "off"}))
        << err_;
    ExpectIn(": 1 program ran, not checked (palladion check does); no findings\nnote: only one program ran", out_);
    const absl::StatusOr<Tensor> o = ReadNpy(Path("out/o.npy"));
    ASSERT_TRUE(o.ok()) << o.status();
    EXPECT_NE(o->data<float>()[0], o->data<float>()[0]) << "poison";
    EXPECT_EQ(4.0f, o->data<float>()[4]);
  }
  ExpectError(4, {"run", file, "--in", "x=iota", "--in", "y=zeros", "--out", Path("out"), "--program", "2"},
              "has no program (2); its grid is [2]");
}

TEST_F(ObservedRunTest, ResultsAreThoseOfAPlainRun) {
  const std::string file = Write("add.pkir", AddKernel());
  ASSERT_EQ(0, Run({"run", file, "--in", "x=iota", "--in", "y=iota", "--out", Path("a")})) << err_;
  ASSERT_EQ(0, Run({"run", file, "--in", "x=iota", "--in", "y=iota", "--out", Path("b"), "--stats", "--trap", "inf",
                    "--dump", "xr@12"}))
      << err_;
  EXPECT_TRUE(ReadNpy(Path("a/o.npy"))->BitwiseEquals(*ReadNpy(Path("b/o.npy"))));
}

}  // namespace
}  // namespace palladion::watch
