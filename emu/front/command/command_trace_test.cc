// What `palladion trace` draws of which kernel. What the pictures hold: emu/tools/debug/trace_test.cc,
// emu/timing/timeline/page_test.cc, and of a browser python/tests/test_trace_page.py.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "emu/front/command/command_test_util.h"
#include "emu/timing/mosaic_gpu/kernels_test_util.h"
#include "semantics/base/cat.h"

namespace palladion::command {
namespace {

class TraceCommandTest : public CommandTest {
 protected:
  std::string FileText(const std::string& name) const {
    std::ifstream file(Path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // A copy in and a copy out, which may begin before the first is over.
  std::string Racy() const {
    std::string text = timing::mosaic_gpu::test::CopyText();
    const std::string wait = "      barrier_wait(barrier=%full);\n";
    text.erase(text.find(wait), wait.size());
    text.insert(text.find("      wait_smem_to_gmem"), wait);
    return Write("racy.pkir", text);
  }
};

constexpr const char* kTimeline = "<title>Palladion timeline</title>";

TEST_F(TraceCommandTest, AKernelWhoseChipHasAModelOfTimeIsDrawnInTime) {
  const std::string kernel =
      Write("mm.pkir", timing::mosaic_gpu::test::MatmulText({.m = 128, .n = 256, .k = 256, .slots = 2}));
  const std::vector<std::string> trace = {"trace", kernel,      "--in",     "x=full(1)",
                                          "--in",  "y=full(1)", "--target", "h100"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), trace.begin(), trace.end());
    return more;
  };
  EXPECT_EQ(0, Run(with({"--page", Path("p"), "--out", Path("t"), "--sm", "2"}))) << out_ << err_;
  EXPECT_NE(std::string::npos, out_.find(" spans of SM 2")) << out_;
  EXPECT_NE(std::string::npos, FileText("p").find(kTimeline));
  EXPECT_NE(std::string::npos, FileText("t").find("\"name\": \"full[1], phase 0\""));
  EXPECT_EQ(0, Run(with({"--page", Path("p"), "--events", "20"}))) << err_;
  EXPECT_NE(std::string::npos, out_.find(": 20 spans of SM 0; ")) << out_;
  ExpectError(4, with({"--page", Path("q"), "--sm", "132"}), "--sm must be 0 to 131");
  ExpectError(4, with({"--page", Path("q"), "--core", "0"}), "SMs, and no cores");
  EXPECT_EQ(0, Run(with({"--page", Path("p"), "--view", "programs"}))) << err_;
  EXPECT_EQ(std::string::npos, FileText("p").find(kTimeline));
  EXPECT_NE(std::string::npos, out_.find("events of ")) << out_;
  ExpectError(4, with({"--page", Path("q"), "--view", "programs", "--sm", "0"}), "or give --view time");
}

TEST_F(TraceCommandTest, AFindingIsWhereTheRunMetIt) {
  EXPECT_EQ(1, Run({"trace", Racy(), "--in", "x=full(1)", "--target", "h100", "--page", Path("p"), "--out", Path("t")}))
      << out_ << err_;
  const std::string page = FileText("p"), at = "\"at\": ";
  const std::size_t finding = page.find("\"code\": \"RACE_");
  ASSERT_NE(std::string::npos, finding);
  EXPECT_NE('-', page[page.find(at, finding) + at.size()]) << page.substr(finding, 1000);
  EXPECT_NE(std::string::npos, FileText("t").find("{\"ph\": \"i\"")) << FileText("t");
  EXPECT_EQ(0, Run({"trace", Racy(), "--in", "x=full(1)", "--target", "h100", "--page", Path("p"), "--no-check"}))
      << err_;
  EXPECT_EQ(std::string::npos, FileText("p").find("\"code\": \"RACE_"));
}

// Blocks that the backend copies have no cost on Mosaic GPU: the note says so, and the page is the other one. Of
// Triton's kernels programs are drawn, where nothing else is asked for.
TEST_F(TraceCommandTest, AKernelWithoutATimeShowsItsProgramsAndSaysWhy) {
  const std::string kernel =
      Write("k.pkir",
            "pkir 1;\nkernel @k { grid [2]; out %o: f32[2]; body @b (%or: ref<default,f32[2]>) {\n"
            "  %p = program_id{axis=0}() : i32[];\n  _ = swap(%or.at[%p], 1.0:f32) : f32[];\n  return; } }\n");
  EXPECT_EQ(0, Run({"trace", kernel, "--target", "triton/h100", "--page", Path("p")})) << err_;
  EXPECT_EQ("", err_);
  EXPECT_EQ(std::string::npos, FileText("p").find(kTimeline));
  EXPECT_EQ(0, Run({"trace", kernel, "--target", "triton/h100", "--page", Path("p"), "--view", "time"})) << err_;
  EXPECT_NE(std::string::npos, FileText("p").find(kTimeline));
  EXPECT_EQ(1, Run({"trace", kernel, "--target", "mosaic_gpu/h100", "--page", Path("p")})) << err_;
  EXPECT_NE(std::string::npos, err_.find("programs and operands are drawn, as this kernel has no time: ")) << err_;
  EXPECT_EQ(std::string::npos, FileText("p").find(kTimeline));
}

}  // namespace
}  // namespace palladion::command
