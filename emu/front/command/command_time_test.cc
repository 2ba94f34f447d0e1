// What `palladion time` says of its options before anything runs. Its output: emu/timing/report/format_test.cc.
#include <gtest/gtest.h>

#include <string>

#include "emu/front/command/command_test_util.h"
#include "semantics/base/cat.h"

namespace palladion::command {
namespace {

constexpr const char* kText =
    "pkir 1;\nkernel @k { backend mosaic_gpu; mesh gpu {grid=[1], threads=1};\n"
    " out %o: f32[8]; body @b (%or: ref<gmem,f32[8]>) { return; } }\n";

TEST_F(CommandTest, TimeDrawsOnlyWhatIsThere) {
  const std::string kernel = Write("k.pkir", kText);
  ExpectError(4, {"time", kernel, "--target", "h100", "--sm", "3"},
              "give --page PAGE.html, --trace TRACE.json, or both");
  for (const char* unit : {"132", "-1", "3.5", "x", ""}) {
    ExpectError(4, {"time", kernel, "--target", "h100", "--page", Path("p.html"), "--sm", unit},
                Cat("--sm must be 0 to 131, one of the 132 that h100 has; found '", unit, "'"));
  }
}

TEST_F(CommandTest, TimeKnowsThatItsFilesCanBeWrittenBeforeItRuns) {
  const std::string kernel = Write("k.pkir", kText);
  ExpectError(4, {"time", kernel, "--page", Path("a/../p"), "--trace", Path("p")},
              "--page and --trace are the same file");
  ExpectError(4, {"time", kernel, "--page", Path("no/such/folder.html")}, "no/such");
  ExpectError(4, {"time", kernel, "--trace", kernel}, "would overwrite");
}

TEST_F(CommandTest, TimeReportsWhatIsSetAndNeverRead) {
  const std::string kernel = Write("k.pkir", kText);
  EXPECT_EQ(0, Run({"time", kernel, "--target", "h100", "--set", "l1.latency=50", "--set", "mufu.lanes=8", "--set",
                    "smem.latency=40", "--set", "link.read=400 GB/s"}))
      << err_;
  EXPECT_EQ(err_,
            "palladion: note: mufu.lanes is set, and no law of time reads it\n"
            "palladion: note: l1.latency is set, and only kernels of Triton read it\n"
            "palladion: note: link.read is set, and a kernel of one device uses no links\n");
  EXPECT_EQ(0, Run({"time", kernel, "--target", "h100", "--set", "chip.cores=66"})) << err_;
  EXPECT_EQ(err_, "") << "what follows from it is not told";
}

TEST_F(CommandTest, TimeWritesThePageAndTheTrace) {
  const std::string kernel = Write("k.pkir", kText);
  EXPECT_EQ(0, Run({"time", kernel, "--target", "h100", "--page", Path("p"), "--trace", Path("t")})) << err_;
  EXPECT_NE(std::string::npos, out_.find(Cat("wrote ", Path("p"), "\nwrote ", Path("t"), "\n"))) << out_;
  EXPECT_EQ(3u, FileCount());
  EXPECT_EQ(0, Run({"time", kernel, "--target", "h100", "--page", Path("p"), "--format", "json"})) << err_;
  EXPECT_EQ('{', out_[0]);
  EXPECT_EQ(std::string::npos, out_.find("wrote")) << "it would be no JSON";
  EXPECT_EQ(Cat("wrote ", Path("p"), "\n"), err_);
}

TEST_F(CommandTest, TimePutsAnotherRunBesideThePage) {
  const std::string kernel = Write("k.pkir", kText), other = Path("other");
  EXPECT_EQ(0, Run({"time", kernel, "--target", "h100", "--page", other})) << err_;
  EXPECT_EQ(0, Run({"time", kernel, "--target", "b200", "--page", Path("p"), "--compare", other})) << err_;
  ExpectError(4, {"time", kernel, "--target", "h100", "--compare", other}, "--compare is part of the page");
  ExpectError(4, {"time", kernel, "--target", "h100", "--page", Path("q"), "--compare", kernel},
              "this is not a page of `palladion time --page`");
  ExpectError(4, {"time", kernel, "--target", "h100", "--page", Path("q"), "--compare", Path("no")}, "no");
}

TEST_F(CommandTest, TimeDrawsADeviceThatTheKernelHas) {
  const std::string kernel = Write("k.pkir", kText);
  EXPECT_EQ(0, Run({"time", kernel, "--target", "h100", "--page", Path("p"), "--device", "0"})) << err_;
  ExpectError(4, {"time", kernel, "--target", "h100", "--device", "0"}, "--device says which device is drawn");
  ExpectError(4, {"time", kernel, "--target", "h100", "--page", Path("p"), "--device", "1"},
              "a timeline of device 1 is requested; kernel @k runs on one device, number 0");
  for (const char* device : {"-1", "x", ""}) {
    ExpectError(4, {"time", kernel, "--target", "h100", "--page", Path("p"), "--device", device},
                Cat("--device must be a device of the kernel's mesh, from 0; found '", device, "'"));
  }
}

TEST_F(CommandTest, TimeWritesAScheduleThatACheckReplays) {
  const std::string kernel = Write("k.pkir", kText), file = Path("schedule");
  EXPECT_EQ(0, Run({"time", kernel, "--target", "h100", "--schedule", file})) << err_;
  EXPECT_NE(std::string::npos, out_.find(Cat("wrote ", file, "\n"))) << out_;
  EXPECT_EQ(0, Run({"check", kernel, "--target", "h100", "--no-definedness", "--replay", Cat("@", file)}))
      << out_ << err_;
  ExpectError(4, {"check", kernel, "--replay", Cat("@", file), "--target", "b200"}, "recorded for the target");
  ExpectError(4, {"check", kernel, "--target", "h100", "--replay", Cat("@", file), "--output", file},
              "would overwrite");
  ExpectError(4, {"check", kernel, "--replay", Cat("@", Path("no"))}, "no");
  ExpectError(4, {"time", kernel, "--page", file, "--schedule", file}, "--page and --schedule are the same file");
}

TEST_F(CommandTest, TimeDrawsACoreOfATpu) {
  const std::string kernel = Write("t.pkir",
                                   "pkir 1;\nkernel @k { backend mosaic_tpu; out %o: f32[8,128]; grid [];\n"
                                   " body @b (%or: ref<default,f32[8,128]>) { return; } }\n");
  EXPECT_EQ(0, Run({"time", kernel, "--target", "v5e", "--page", Path("p")})) << err_;
  EXPECT_EQ(0, Run({"time", kernel, "--target", "v5p", "--page", Path("p"), "--core", "0"})) << err_;
  ExpectError(4, {"time", kernel, "--target", "v5e", "--core", "0"},
              "--core says which core is drawn, and nothing is; give --page PAGE.html");
  ExpectError(4, {"time", kernel, "--target", "v5e", "--page", Path("p"), "--sm", "0"},
              "--sm: v5e has cores, no SMs; which of them is drawn says --core N");
  ExpectError(4, {"time", kernel, "--target", "v5e", "--page", Path("p"), "--core", "1"},
              "--core must be 0, the only core that v5e has; found '1'");
  ExpectError(4, {"time", kernel, "--target", "v5p", "--page", Path("p"), "--core", "2"},
              "--core must be 0 to 1, one of the 2 that v5p has; found '2'");
  ExpectError(4, {"time", kernel, "--target", "v5p", "--page", Path("p"), "--core", "1"},
              "core 1 of v5p has no part in kernel @k, whose grid has no parallel dimension that the cores share");
  ExpectError(3, {"time", kernel, "--target", "v5e", "--schedule", Path("s")}, "there is no schedule to write");
  const std::string gpu = Write("k.pkir", kText);
  ExpectError(4, {"time", gpu, "--target", "h100", "--page", Path("p"), "--core", "0"},
              "--core: h100 has SMs, and no cores that run programs; which of them is drawn says --sm N");
}

// A completion that no thread waits for is a note, and the time is right.
TEST_F(CommandTest, TimeCallsNoKernelWrongForANote) {
  const std::string kernel = Write(
      "n.pkir",
      "pkir 1;\nkernel @n { backend mosaic_gpu; out %o: f32[8] space gmem; mesh gpu {grid=[1], threads=1, "
      "thread_name=\"wg\"};\n"
      " body @b (%or: ref<gmem,f32[8]>) {\n"
      "  run_scoped{collective_axes=[\"wg\"]}() (%bar: ref<smem,barrier{arrivals=1, orders_tensor_core=false}[1]>) {\n"
      "   barrier_arrive(barrier=%bar.at[0]);\n   return; };\n  return; } }\n");
  EXPECT_EQ(0, Run({"time", kernel, "--target", "h100"})) << err_;
  EXPECT_NE(std::string::npos, out_.find("n on h100 at")) << out_ << err_;
  EXPECT_EQ(std::string::npos, err_.find("not that of a correct kernel")) << err_;
}

}  // namespace
}  // namespace palladion::command
