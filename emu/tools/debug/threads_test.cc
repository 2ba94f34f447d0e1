// What the commands that look at a run say of kernels over threads: two threads that hand over, warps, engines.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "emu/front/command/command_test_util.h"
#include "semantics/base/cat.h"

namespace palladion::debug {
namespace {

std::string Kernel(const std::string& threads, const std::string& operands, const std::string& body) {
  return Cat("pkir 1;\nkernel @k {\n  backend mosaic_gpu;\n", operands,
             "  mesh gpu {grid=[], grid_names=[], cluster=[], cluster_names=[], threads=", threads,
             ", thread_name=\"wg\"};\n", body, "}\n");
}

// Thread 0 loads and takes the root; thread 1 stores.
std::string Handoff() {
  return Kernel("2", "  in %x: f32[32] space gmem;\n  out %o: f32[32] space gmem;\n",
                R"(  body @k (%xr: ref<gmem,f32[32]> as "x_ref", %or: ref<gmem,f32[32]> as "o_ref") {
    run_scoped{collective_axes=["wg"]}() (%s: ref<smem,f32[32]> as "s", %loaded: ref<smem,barrier{arrivals=1}[1]> as "loaded", %ready: ref<smem,barrier{arrivals=1}[1]> as "ready") {
      %wg = axis_index{axis="wg"}() : i32[];
      cond(%wg) {
        copy_gmem_to_smem{oob_mode=zeros}(src=%xr, dst=%s, barrier=%loaded.at[0]);
        barrier_wait(barrier=%loaded.at[0]);
        %v = get(%s) : f32[32];
        %w = sqrt(%v) : f32[32];
        _ = swap(%s, %w) : f32[32];
        commit_smem();
        barrier_arrive(barrier=%ready);
        return;
      } {
        barrier_wait(barrier=%ready);
        %u = get(%s) : f32[32];
        %z = neg(%u) : f32[32];
        copy_smem_to_gmem{commit_group=true}(src=%s, dst=%or);
        wait_smem_to_gmem{wait_read_only=false}(0:i32);
        return;
      };
      return;
    };
    return;
  }
)");
}

// Warps of thread 0, in a loop, each hand an element to thread 1.
std::string Warps() {
  return Kernel("2", "  in %x: i32[4] space gmem;\n  out %o: i32[4] space gmem;\n",
                R"(  body @k (%xr: ref<gmem,i32[4]> as "x_ref", %or: ref<gmem,i32[4]> as "o_ref") {
    run_scoped{collective_axes=["wg"]}() (%s: ref<smem,i32[4]> as "s", %b: ref<smem,barrier{arrivals=4}[2]> as "bar") {
      %wg = axis_index{axis="wg"}() : i32[];
      _ = scan{length=2, reverse=false, linear=[], unroll=1}(init=0:i32) (%i: i32[]) {
        cond(%wg) {
          core_map{mesh=warp, axes=["warp"], sizes=[4]}() () {
            %w = axis_index{axis="warp"}() : i32[];
            %v = get(%xr.at[%w]) : i32[];
            %t = add(%v, %i) : i32[];
            _ = swap(%s.at[%w], %t) : i32[];
            barrier_arrive(barrier=%b.at[%i]);
            return;
          };
          return;
        } {
          barrier_wait(barrier=%b.at[%i]);
          return;
        };
        %n = add(%i, 1:i32) : i32[];
        return %n;
      } : i32[];
      cond(%wg) {
        return;
      } {
        %all = get(%s) : i32[4];
        _ = swap(%or, %all) : i32[4];
        return;
      };
      return;
    };
    return;
  }
)");
}

std::string Product() {
  return Kernel(
      "1",
      "  in %x: f16[64,16] space gmem;\n  in %y: f16[8,16] space gmem;\n"
      "  out %o: f32[64,8] space gmem;\n",
      R"(  body @k (%xr: ref<gmem,f16[64,16]> as "x_ref", %yr: ref<gmem,f16[8,16]> as "y_ref", %or: ref<gmem,f32[64,8]> as "o_ref") {
    run_scoped{collective_axes=["wg"]}() (%a: ref<smem,f16[8,1,8,16]> as "a", %b: ref<smem,f16[1,1,8,16]> as "b", %l: ref<smem,barrier{arrivals=2}[1]> as "loaded") {
      copy_gmem_to_smem(src=%xr, dst=%a.unswizzle(32).untile[8,16], barrier=%l);
      copy_gmem_to_smem(src=%yr, dst=%b.unswizzle(32).untile[8,16], barrier=%l);
      barrier_wait(barrier=%l);
      %v = run_scoped{collective_axes=[]}() (%acc: ref<regs,f32[64,8]> as "acc") {
        wgmma_ref(acc=%acc, a=%a.unswizzle(32).untile[8,16], b=%b.unswizzle(32).untile[8,16].transpose[1,0]);
        %r = wgmma_accumulator_deref{wait_n=0}(%acc) : f32[64,8];
        return %r;
      } : f32[64,8];
      _ = swap(%or, %v) : f32[64,8];
      return;
    };
    return;
  }
)");
}

class ThreadsTest : public command::CommandTest {
 protected:
  std::string Output(int code, std::vector<std::string> arguments) {
    EXPECT_EQ(code, Run(arguments)) << out_ << err_;
    return out_;
  }
  std::string ReadBack(const std::string& path) const {
    std::stringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }
  void ExpectIn(const std::string& part, const std::string& text) const {
    EXPECT_NE(std::string::npos, text.find(part)) << part << "\nin\n" << text;
  }
};

TEST_F(ThreadsTest, WhyGoesBackThroughEnginesAndTheOtherThread) {
  const std::string file = Write("k.pkir", Handoff());
  EXPECT_EQ(
      "o[5] = 2.236068: f32[32]\n"
      "  o[5]: written by an engine for copy_smem_to_gmem, line 23, thread 1\n"
      "    s[5]: written by swap, line 15, thread 0\n"
      "      %w[5] = 2.236068: sqrt, line 14, thread 0\n"
      "        %v[5] = 5.0: get, line 13, thread 0\n"
      "          s[5]: written by an engine for copy_gmem_to_smem, line 11, thread 0\n"
      "            x[5] = 5.0: input\n",
      Output(0, {"why", file, "--in", "x=iota", "--element", "o[5]"}));
}

// Row 3 of a, column 2 of b, which is row 2 of y, and nothing before them in the accumulator.
TEST_F(ThreadsTest, WhyShowsTheRowAndTheColumnOfAMatrixProduct) {
  const std::string file = Write("k.pkir", Product());
  const std::string text = Output(0, {"why", file, "--in", "x=iota", "--in", "y=iota", "--element", "o[3,2]"});
  ExpectIn("acc[3, 2]: written by an engine for wgmma_ref, line 14, the block\n", text);
  ExpectIn("16 products, the first 3 shown\n", text);
  const std::size_t row = text.find("x[3, 0] = 48.0: input"), column = text.find("y[2, 0] = 32.0: input");
  const std::size_t next = text.find("x[3, 1] = 49.0: input");
  EXPECT_LT(row, column) << text;
  EXPECT_LT(column, next) << text;
  ExpectIn("y[2, 2] = 34.0: input", text);
  EXPECT_EQ(std::string::npos, text.find("x[3, 3]")) << text;
}

TEST_F(ThreadsTest, LogsOfTwoRunsAreTheSameAndNameWarpsAndTheirIterations) {
  const std::string file = Write("k.pkir", Warps());
  Output(0, {"log", file, "--in", "x=iota", "-o", Path("a.log")});
  Output(0, {"log", file, "--in", "x=iota", "-o", Path("b.log")});
  const std::string log = ReadBack(Path("a.log"));
  EXPECT_EQ(log, ReadBack(Path("b.log")));
  for (const char* warp : {"0", "1", "2", "3"}) {
    for (const char* iteration : {"0", "1"}) {
      ExpectIn(Cat("\n0/", warp, "\t", iteration, "\t15\tadd\t"), log);
      ExpectIn(Cat("\n0/", warp, "\t", iteration, "\t16\tswap\t"), log);
    }
  }
  ExpectIn("\n1\t1\t22\tbarrier_wait\t", log);
  ExpectIn("\n1\t-\t31\tget\t", log);
  ExpectIn("the logs are the same: ", Output(0, {"diff", Path("a.log"), Path("b.log")}));
}

TEST_F(ThreadsTest, TrapNamesTheThreadOfANaN) {
  const std::string file = Write("k.pkir", Handoff());
  const std::string text = Output(1, {"run", file, "--in", "x=full(-1)", "--out", Path("out"), "--trap", "nan"});
  ExpectIn("the first nan is born in thread 0: sqrt, line 14", text);
  EXPECT_EQ(std::string::npos, text.find("nobody had written")) << text;
}

// A NaN that a copy brings was not born here.
TEST_F(ThreadsTest, ANaNThatACopyBringsIsNotBorn) {
  const std::string file = Write("k.pkir", Handoff());
  const std::string text =
      Output(0, {"run", file, "--in", "x=full(nan)", "--out", Path("out"), "--trap", "nan", "--legality", "off"});
  EXPECT_EQ(std::string::npos, text.find("nobody had written")) << text;
  ExpectIn("trap: no nan was born\n", text);
}

TEST_F(ThreadsTest, TrapNamesTheProductThatMakesANaN) {
  const std::string file = Write("k.pkir", Product());
  const std::vector<std::string> ask = {"run",       file,    "--in",      "x=full(inf)", "--in",
                                        "y=full(0)", "--out", Path("out"), "--trap",      "nan"};
  ExpectIn("the first nan is born in the block: wgmma_ref, line 14 of the kernel text\n  acc[0, 0] = nan\n",
           Output(1, ask));
  ExpectIn("no nan was born",
           Output(0, {"run", file, "--in", "x=full(nan)", "--in", "y=full(0)", "--out", Path("out"), "--trap", "nan"}));
}

// Steps of each thread on its own track, and what engines do on theirs.
TEST_F(ThreadsTest, TracesHaveTracksOfThreadsAndOfEngines) {
  const std::string file = Write("k.pkir", Handoff());
  Output(0, {"trace", file, "--in", "x=iota", "--out", Path("t.json"), "--no-check"});
  const std::string trace = ReadBack(Path("t.json"));
  ExpectIn("\"tid\": 0, \"name\": \"thread_name\", \"args\": {\"name\": \"engines\"}", trace);
  ExpectIn("\"name\": \"thread_name\", \"args\": {\"name\": \"thread 1\"}", trace);
  std::stringstream lines(trace);
  std::string line;
  int roots = 0, negations = 0, engines = 0;
  while (std::getline(lines, line)) {
    const auto has = [&](const char* part) { return line.find(part) != std::string::npos; };
    if (has("\"ph\": \"M\"")) continue;
    if (has("\"name\": \"sqrt\"")) roots += has("\"program\": \"thread 0\"");
    if (has("\"name\": \"neg\"")) negations += has("\"program\": \"thread 1\"");
    engines += (has("\"tid\": 0,") || has("\"tid\": 1,")) && has("\"name\": \"copy_");
  }
  EXPECT_EQ(1, roots) << trace;
  EXPECT_EQ(1, negations) << trace;
  EXPECT_EQ(4, engines) << trace;
}

TEST_F(ThreadsTest, DumpNamesWarpsAndTheirIterations) {
  const std::string file = Write("k.pkir", Warps());
  const std::string text = Output(0, {"run", file, "--in", "x=iota", "--out", Path("out"), "--dump", "s@16"});
  ExpectIn("dumps: 8\n", text);
  ExpectIn("s after line 16 (swap), warp 3 of thread 0, iteration 1: i32[4] = 1 2 3 4\n", text);
}

}  // namespace
}  // namespace palladion::debug
