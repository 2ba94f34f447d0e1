// The recorder on a kernel whose accesses are known, and what is written from it.
#include <gtest/gtest.h>

#include "emu/check.h"
#include "emu/front/command/command_test_util.h"
#include "emu/kernel/arrays.h"
#include "emu/run/launch/run.h"
#include "emu/timing/timeline/trace_tracks.h"
#include "emu/tools/debug/index_map_text.h"
#include "emu/tools/debug/recorded_launch.h"
#include "emu/tools/debug/source_excerpts.h"
#include "emu/tools/debug/step_recorder.h"
#include "emu/tools/debug/trace_json.h"
#include "emu/tools/debug/trace_page.h"
#include "emu/values.h"
#include "semantics/base/cat.h"

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

// Of one program: its instructions in order, with what they touch and compute.
TEST(StepRecorder, WhatAProgramDoes) {
  const absl::StatusOr<PreparedKernel> kernel =
      PrepareText(kText, {.kernel = "", .target = "triton/h100", .path = "", .observable = true});
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const std::vector<Tensor> inputs = {*TensorFromText(DType::kF32, {3, 8}, "iota")};
  StepRecorder steps(kernel->state(), {.elements = 1000});
  const std::vector<run::Watcher*> recorders = {&steps};
  ASSERT_TRUE(RecordLaunch(*kernel, kernel::ArraysOf(inputs), {}, recorders).ok());
  const std::vector<RecordedStep>* done = steps.StepsOf({2});
  ASSERT_NE(nullptr, done);
  ASSERT_EQ(4u, done->size());
  EXPECT_EQ("program_id", (*done)[0].instr->name);
  EXPECT_EQ((std::vector<std::string>{"2"}), (*done)[0].values[0].elements);
  const RecordedStep &get = (*done)[2], &swap = (*done)[3];
  ASSERT_EQ(1u, get.accesses.size());
  EXPECT_EQ(AccessKind::kRead, get.accesses[0].kind);
  EXPECT_EQ("x_ref[2, 0:8]", get.accesses[0].name + get.accesses[0].box);
  EXPECT_EQ(8, get.values[0].columns);
  EXPECT_EQ("17.0", get.values[0].elements[1]);
  ASSERT_EQ(1u, swap.accesses.size());
  EXPECT_EQ(AccessKind::kWrite, swap.accesses[0].kind);
  EXPECT_EQ("o_ref[16:24]", swap.accesses[0].name + swap.accesses[0].box);
  EXPECT_EQ(nullptr, steps.StepsOf({9}));
  EXPECT_EQ(0, steps.dropped());
}

TEST(StepRecorder, WhatIsPastTheLimitIsCounted) {
  const absl::StatusOr<PreparedKernel> kernel =
      PrepareText(kText, {.kernel = "", .target = "triton/h100", .path = "", .observable = true});
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const std::vector<Tensor> inputs = {*TensorFromText(DType::kF32, {3, 8}, "iota")};
  StepRecorder steps(kernel->state(), {.steps = 5});
  const std::vector<run::Watcher*> recorders = {&steps};
  ASSERT_TRUE(RecordLaunch(*kernel, kernel::ArraysOf(inputs), {}, recorders).ok());
  EXPECT_EQ(11, steps.dropped());
  EXPECT_EQ(nullptr, steps.StepsOf({2}));
  EXPECT_TRUE(steps.StepsOf({0})->front().values.empty()) << "none were asked for";
}

TEST(IndexMapText, HasTheNamesOfItsAuthor) {
  const absl::StatusOr<PreparedKernel> kernel = PrepareText(
      "pkir 1;\nkernel @k { backend mosaic_tpu; grid [2, 3]; prefetch %r: i32[2];\n"
      " out %o: f32[8,128] block (8, 128) map (%i: i32[], %j: i32[], %s: ref<smem,i32[2]>) {\n"
      "  %a = get(%s.at[%i]) : i32[]; %b = add(%a, %j) : i32[]; return %b, 0:i32; };\n"
      " body @b (%rr: ref<smem,i32[2]>, %or: ref<default,f32[8,128]>) { return; } }\n",
      {.kernel = "", .target = "mosaic_tpu/v5e", .path = ""});
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const Kernel& text = kernel->state().text();
  EXPECT_EQ((std::vector<std::string>{"i", "j"}), AxisNames(text));
  const IndexMapText map = TextOfMap(text, text.operands.back().block->map);
  EXPECT_EQ((std::vector<std::string>{"i", "j", "s"}), map.parameters);
  EXPECT_EQ((std::vector<std::string>{"add(s[i], j)", "0"}), map.results);
}

TEST(SourceExcerpts, HaveTheLinesBetweenAndTheFunctionAbove) {
  const auto line = [](const std::string& file, int number) -> std::optional<std::string> {
    if (file != "k.py" || number > 60) return std::nullopt;
    return number == 7 || number == 38 ? "  def f():" : Cat("line ", number);
  };
  const std::vector<UserPlace> places = {{"k.py", 9}, {"k.py", 12}, {"k.py", 40}, {"gone.py", 1}, {"", 0}};
  const std::vector<SourceExcerpt> excerpts = ExcerptsOf(places, line);
  ASSERT_EQ(1u, excerpts.size());
  std::vector<int> numbers;
  for (const auto& [number, text] : excerpts[0].lines) numbers.push_back(number);
  EXPECT_EQ((std::vector<int>{7, 8, 9, 10, 11, 12, 38, 39, 40}), numbers);
}

TEST(TraceTracks, SlicesOfOneRowNestOrAreApart) {
  //  0123456789
  //  aaaaaa      b begins in a and goes on after it; c lies in a
  //    cc
  //     bbbbbb
  const std::vector<timing::timeline::TraceSlice> slices = {{0, 6}, {3, 6}, {2, 2}, {9, 1}};
  const timing::timeline::TraceRows nested = timing::timeline::NestedRows(slices),
                                    separate = timing::timeline::SeparateRows(slices);
  EXPECT_EQ((std::vector<int>{0, 1, 0, 0}), nested.row);
  EXPECT_EQ(2, nested.count);
  EXPECT_EQ((std::vector<int>{0, 2, 1, 1}), separate.row);
  EXPECT_EQ(3, separate.count);
  // The longest of those that begin together holds the others.
  EXPECT_EQ((std::vector<int>{0, 0}),
            timing::timeline::NestedRows(std::vector<timing::timeline::TraceSlice>{{0, 1}, {0, 5}}).row);
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

TEST_F(CommandTest, TraceWritesWhatIsRequested) {
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
