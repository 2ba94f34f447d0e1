// The recorder on a kernel whose accesses are known, and what is written from it.
#include <gtest/gtest.h>

#include "emu/check.h"
#include "emu/front/command/command_test_util.h"
#include "emu/run/launch/run.h"
#include "emu/timing/trace_tracks.h"
#include "emu/tools/debug/trace_json.h"
#include "emu/tools/debug/trace_page.h"
#include "emu/values.h"

namespace palladion::debug {
namespace {

using command::CommandTest;  // a fixture has no qualified name

// Program p reads row p of x, which has no row 3, and writes block p of o.
constexpr const char* kText =
    "pkir 1;\nkernel @rows { grid [4]; in %x: f32[3,8]; out %o: f32[30];\n"
    " body @b (%xr: ref<default,f32[3,8]> as \"x_ref\", %or: ref<default,f32[30]> as \"o_ref\") {\n"
    "  %p = program_id{axis=0}() : i32[];\n"
    "  %s = mul(%p, 8:i32) : i32[];\n"
    "  %v = get(%xr.at[%p, *]) : f32[8];\n"
    "  _ = swap(%or.at[%s +: 8 : 1], %v) : f32[8];\n  return; } }\n";

class TraceTest : public testing::Test {
 protected:
  void Record(const std::string& target, const TraceLimits& limits) {
    absl::StatusOr<PreparedKernel> prepared = PrepareText(kText, {.kernel = "", .target = target, .path = ""});
    ASSERT_TRUE(prepared.ok()) << prepared.status();
    kernel_.emplace(*std::move(prepared));
    recorder_.emplace(kernel_->state(), limits);
    inputs_ = {*TensorFromText(DType::kF32, {3, 8}, "iota")};
    Tensor output(DType::kF32, {30});
    const std::vector<std::int64_t> in_shape = {3, 8}, out_shape = {30};
    const ConstArray in{DType::kF32, in_shape, inputs_[0].bytes()};
    const MutableArray out{DType::kF32, out_shape, output.bytes()};
    const agents::LaunchOptions launch{.observers = {&*recorder_}};
    const auto result = launch::Run({kernel_->state(), {&in, 1}, {&out, 1}}, launch);
    ASSERT_TRUE(result.ok()) << result.status();
  }

  std::optional<PreparedKernel> kernel_;
  std::optional<TraceRecorder> recorder_;
  std::vector<Tensor> inputs_;
};

TEST_F(TraceTest, WhatEachProgramTouches) {
  Record("triton/h100", {});
  ASSERT_EQ(4u, recorder_->programs().size());
  const TraceProgram& program = recorder_->programs()[2];
  EXPECT_EQ((std::vector<std::int64_t>{2}), program.index);
  ASSERT_EQ(2u, program.accesses.size());
  EXPECT_EQ(AccessKind::kRead, program.accesses[0].kind);
  EXPECT_EQ("x_ref", program.accesses[0].name);
  EXPECT_EQ((std::vector<std::int64_t>{2, 0}), program.accesses[0].start);
  EXPECT_EQ((std::vector<std::int64_t>{1, 8}), program.accesses[0].count);
  EXPECT_EQ(AccessKind::kWrite, program.accesses[1].kind);
  EXPECT_EQ((std::vector<std::int64_t>{16}), program.accesses[1].start);
  EXPECT_EQ(0, recorder_->dropped());
}

TEST_F(TraceTest, EventsAreNamedByTheirOperation) {
  Record("triton/h100", {});
  const std::string json = TraceJson(*recorder_, kernel_->state());
  for (const char* expected :
       {"\"name\": \"program (3)\"", "\"name\": \"swap\"", "\"memory\": \"write o_ref[16:24]\"", "\"text_line\": 6"}) {
    EXPECT_NE(std::string::npos, json.find(expected)) << expected << "\n" << json;
  }
}

TEST(TraceTracks, SlicesOfOneRowNestOrAreApart) {
  //  0123456789
  //  aaaaaa      b begins in a and goes on after it; c lies in a
  //    cc
  //     bbbbbb
  const std::vector<timing::TraceSlice> slices = {{0, 6}, {3, 6}, {2, 2}, {9, 1}};
  const timing::TraceRows nested = timing::NestedRows(slices), separate = timing::SeparateRows(slices);
  EXPECT_EQ((std::vector<int>{0, 1, 0, 0}), nested.row);
  EXPECT_EQ(2, nested.count);
  EXPECT_EQ((std::vector<int>{0, 2, 1, 1}), separate.row);
  EXPECT_EQ(3, separate.count);
  // The longest of those that begin together holds the others.
  EXPECT_EQ((std::vector<int>{0, 0}), timing::NestedRows(std::vector<timing::TraceSlice>{{0, 1}, {0, 5}}).row);
}

TEST_F(TraceTest, WhatIsPastTheLimitIsCounted) {
  Record("triton/h100", {.events = 3, .accesses = 2, .flows = 1});
  EXPECT_EQ(3u, recorder_->events().size());
  EXPECT_GT(recorder_->dropped(), 0);
}

TEST_F(TraceTest, ThePageHoldsItsDataAndNoWayOut) {
  Record("triton/h100", {});
  absl::StatusOr<Report> report = Check(*kernel_, inputs_, {.seeds = 1});
  ASSERT_TRUE(report.ok()) << report.status();
  report->findings.push_back(
      {.code = FindingCode::kOutOfBounds, .severity = Severity::kDefect, .message = "</script><b>no"});
  const std::string page = TracePage(TraceData({.trace = *recorder_, .kernel = kernel_->state(), .report = &*report}));
  EXPECT_EQ(std::string::npos, page.find("{{DATA}}"));
  EXPECT_EQ(std::string::npos, page.find("</script><b>no"));
  EXPECT_NE(std::string::npos, page.find("\"code\":\"OOB\""));
  EXPECT_EQ(std::string::npos, page.find("http")) << "a page that needs nothing from elsewhere";
}

TEST_F(CommandTest, TraceWritesWhatItIsAskedFor) {
  const std::string kernel = Write("rows.pkir", kText);
  ExpectError(4, {"trace", kernel, "--in", "x=iota"},
              "give --out TRACE.json (for Perfetto), --page PAGE.html, or both");
  ExpectError(4, {"trace", kernel, "--in", "x=iota", "--page", Path("no/such/folder.html")}, "no/such");
  const std::vector<std::string> trace = {"trace",       kernel,  "--in",    "x=iota", "--target",
                                          "triton/h100", "--out", Path("t"), "--page", Path("p")};
  EXPECT_EQ(1, Run(trace)) << "row 3 of x is out of bounds" << err_;
  EXPECT_NE(std::string::npos, out_.find("events of 4 programs")) << out_;
  EXPECT_EQ(3u, FileCount());
}

}  // namespace
}  // namespace palladion::debug
