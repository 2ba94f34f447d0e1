// Failing runs as pictures: what is recorded of runs whose order is known, where the two sides of a finding are, which
// edges there are, and what a long run is cut to. In a browser: python/tests/test_schedule_page.py.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "emu/front/command/command_test_util.h"
#include "emu/kernel/prepared_kernel.h"
#include "emu/tools/schedule/failing_run.h"
#include "emu/tools/schedule/picture.h"
#include "emu/values.h"
#include "semantics/base/cat.h"

namespace palladion::schedule {
namespace {

using command::CommandTest;

struct MeshThreads {
  std::string number, name, axes;  // as the text has them
};

std::string GpuKernel(const MeshThreads& threads, const std::string& scratch, const std::string& body) {
  return Cat(
      "pkir 1;\nkernel @k {\n  backend mosaic_gpu;\n  in %x: i32[128] space gmem;\n  out %o: i32[128] space gmem;\n",
      "  mesh gpu {grid=[], grid_names=[], cluster=[], cluster_names=[], threads=", threads.number,
      ", thread_name=", threads.name,
      "};\n  body @k (%xr: ref<gmem,i32[128]> as \"x_ref\", %or: ref<gmem,i32[128]> as \"o_ref\") {\n",
      "    run_scoped{collective_axes=[", threads.axes, "]}() (", scratch, ") {\n", body,
      "      return;\n    };\n    return;\n  }\n}\n");
}

std::string OneThread(const std::string& scratch, const std::string& body) {
  return GpuKernel({.number = "none", .name = "none", .axes = ""}, scratch, body);
}

std::string Threads(int threads, const std::string& scratch, const std::string& body) {
  return GpuKernel({.number = Cat(threads), .name = "\"wg\"", .axes = "\"wg\""}, scratch, body);
}

constexpr const char* kShared = "%s: ref<smem,i32[128]> as \"s\", %b: ref<smem,barrier{arrivals=1}[1]> as \"bar\"";

// Thread 0 writes, thread 1 reads; with `ordered` a barrier is between.
std::string Handoff(bool ordered, int iterations = 1) {
  const std::string arrive = ordered ? "          barrier_arrive(barrier=%b.at[0]);\n" : "";
  const std::string wait = ordered ? "          barrier_wait(barrier=%b.at[0]);\n" : "";
  return Threads(
      2, kShared,
      Cat("      %wg = axis_index{axis=\"wg\"}() : i32[];\n      cond(%wg) {\n", "        _ = scan{length=", iterations,
          ", reverse=false}(init=0:i32) (%i: i32[]) {\n",
          "          %v = get(%xr) : i32[128];\n          %n = add(%i, 1:i32) : i32[];\n          return %n;\n",
          "        } : i32[];\n        %u = get(%xr) : i32[128];\n        _ = swap(%s, %u) : i32[128];\n", arrive,
          "        return;\n      } {\n", wait,
          "        %r = get(%s) : i32[128];\n        _ = swap(%or, %r) : i32[128];\n        return;\n      };\n"));
}

std::string Deadlock() {
  return Threads(2, "%a: ref<smem,barrier{arrivals=1}[1]> as \"a\", %b: ref<smem,barrier{arrivals=1}[1]> as \"b\"",
                 "      %wg = axis_index{axis=\"wg\"}() : i32[];\n      cond(%wg) {\n"
                 "        barrier_wait(barrier=%a);\n        barrier_arrive(barrier=%b);\n        return;\n      } {\n"
                 "        barrier_wait(barrier=%b);\n        barrier_arrive(barrier=%a);\n        return;\n      };\n");
}

// The copy's destination is read before the wait for it.
std::string NoWait() {
  return OneThread("%s: ref<smem,i32[128]> as \"s\", %b: ref<smem,barrier{arrivals=1}[1]> as \"bar\"",
                   "      copy_gmem_to_smem{oob_mode=zeros}(src=%xr, dst=%s, barrier=%b.at[0]);\n"
                   "      %v = get(%s) : i32[128];\n      barrier_wait(barrier=%b.at[0]);\n"
                   "      _ = swap(%or, %v) : i32[128];\n");
}

// Each of two devices sends its number to the other one, which may not have entered the kernel.
constexpr const char* kRemote = R"(pkir 1;
kernel @swap2 {
  backend mosaic_tpu;
  params {collective_id=7, allow_collective_id_without_custom_barrier=true};
  devices {x=2};
  in %x: f32[1] space any;
  out %o: f32[1] space any;
  grid [];
  scratch %send: ref<semaphore,dma_sem[]>;
  scratch %recv: ref<semaphore,dma_sem[]>;
  body @swap2 (%xr: ref<any,f32[1]>, %or: ref<any,f32[1]>, %sr: ref<semaphore,dma_sem[]> as "sent", %rr: ref<semaphore,dma_sem[]> as "received") {
    %me = axis_index{axis="x"}() : i32[];
    %to = sub(1:i32, %me) : i32[];
    dma_start{device_id_type=mesh, priority=0, add=false}(src=%xr, dst=%or, dst_sem=%rr, src_sem=%sr, device_id=%to);
    dma_wait{device_id_type=mesh, insert_dummy_device=true}(src=%or, dst=%xr, dst_sem=%sr, src_sem=%rr, device_id=%to);
    dma_wait{device_id_type=mesh, insert_dummy_device=false}(src=%xr, dst=%or, dst_sem=%rr, src_sem=%sr, device_id=%to);
    return;
  }
}
)";

// Both blocks of a cluster arrive and wait; then both write one row.
constexpr const char* kCluster = R"(pkir 1;
kernel @k {
  backend mosaic_gpu;
  in %x: i32[128] space gmem;
  out %o: i32[2,128] space gmem;
  mesh gpu {grid=[], grid_names=[], cluster=[2], cluster_names=["c"], threads=none, thread_name=none};
  body @k (%xr: ref<gmem,i32[128]> as "x_ref", %or: ref<gmem,i32[2,128]> as "o_ref") {
    run_scoped{collective_axes=[]}() (%b: ref<smem,cluster_barrier{axes=["c"], arrivals=1, orders_tensor_core=false, leader_tracked=false}[1]> as "all") {
      %c = axis_index{axis="c"}() : i32[];
      %v = broadcast_in_dim{shape=[128], dims=[]}(%c) : i32[128];
      barrier_arrive(barrier=%b);
      barrier_wait(barrier=%b);
      _ = swap(%or.at[0, *], %v) : i32[128];
      return;
    };
    return;
  }
}
)";

// The kernel before may still write what the first load reads.
std::string Dependent() {
  return OneThread("%s: ref<smem,i32[128]> as \"s\"",
                   "      %v = get(%xr) : i32[128];\n      _ = swap(%s, %v) : i32[128];\n"
                   "      griddepcontrol_wait();\n      %w = get(%xr) : i32[128];\n"
                   "      _ = swap(%or, %w) : i32[128];\n");
}

class ScheduleTest : public CommandTest {
 protected:
  void Draw(const std::string& text, const std::string& code, const PictureOptions& options = {},
            const std::string& target = "") {
    absl::StatusOr<PreparedKernel> prepared = PrepareText(text, {.kernel = "", .target = target, .path = ""});
    ASSERT_TRUE(prepared.ok()) << prepared.status();
    std::vector<Tensor> inputs;
    for (const OperandDescription& input : prepared->inputs())
      inputs.push_back(*TensorFromText(input.dtype, input.shape, "iota"));
    absl::StatusOr<FailingRun> failing = ReplayFailing(*prepared, inputs, {.seeds = 16}, {.code = code});
    ASSERT_TRUE(failing.ok()) << failing.status();
    run_ = *std::move(failing);
    picture_ = DrawSchedule(run_, {.module = prepared->state().module(), .kernel_text = text, .kernel_path = "k.pkir"},
                            options);
  }

  // The row with these words, of a lane; -1: there is none.
  int RowOf(const std::string& lane, const std::string& words) const {
    for (std::size_t i = 0; i < picture_.rows.size(); ++i) {
      const PictureRow& row = picture_.rows[i];
      if (picture_.lanes[row.lane].name == lane && row.text.find(words) != std::string::npos)
        return static_cast<int>(i);
    }
    return -1;
  }
  bool Connects(int from, int to) const {
    return std::any_of(picture_.edges.begin(), picture_.edges.end(), [&](const PictureEdge& edge) {
      return static_cast<int>(edge.from) == from && static_cast<int>(edge.to) == to;
    });
  }
  std::string Text() const { return TextOf(picture_); }

  FailingRun run_;
  SchedulePicture picture_;
};

TEST_F(ScheduleTest, ARaceHasBothAccessesAndTheMissingEdge) {
  Draw(Handoff(false), "RACE_RW");
  const int write = RowOf("thread 0", "writes s[0:128]"), read = RowOf("thread 1", "reads s[0:128]");
  ASSERT_GE(write, 0) << Text();
  ASSERT_GE(read, 0) << Text();
  ASSERT_EQ(picture_.red.size(), 1u);
  const PictureEdge& red = picture_.red[0];
  EXPECT_EQ(static_cast<int>(red.from), std::min(write, read));
  EXPECT_EQ(static_cast<int>(red.to), std::max(write, read));
  EXPECT_EQ(picture_.missing, "nothing orders the two");
  EXPECT_NE(picture_.rows[static_cast<std::size_t>(write)].mark, RowMark::kNone);
  EXPECT_NE(picture_.rows[static_cast<std::size_t>(read)].mark, RowMark::kNone);
  EXPECT_EQ(picture_.lines[picture_.rows[static_cast<std::size_t>(write)].line].text, "_ = swap(%s, %u) : i32[128];");
  EXPECT_FALSE(Connects(write, read));
}

// A ring of two places, of which the producer fills the first again while it is read.
TEST_F(ScheduleTest, OfALoopTheAccessesOfTheSameElements) {
  Draw(Threads(2, "%s: ref<smem,i32[2,128]> as \"s\", %b: ref<smem,barrier{arrivals=1}[4]> as \"bar\"",
               "      %wg = axis_index{axis=\"wg\"}() : i32[];\n      _ = scan{length=4, reverse=false}(init=0:i32) "
               "(%i: i32[]) {\n"
               "        %n = add(%i, 1:i32) : i32[];\n        %p = rem(%i, 2:i32) : i32[];\n        cond(%wg) {\n"
               "          %v = get(%xr) : i32[128];\n          _ = swap(%s.at[%p, *], %v) : i32[128];\n"
               "          barrier_arrive(barrier=%b.at[%i]);\n          return;\n        } {\n"
               "          barrier_wait(barrier=%b.at[%i]);\n          %r = get(%s.at[%p, *]) : i32[128];\n"
               "          _ = swap(%or, %r) : i32[128];\n          return;\n        };\n        return %n;\n      } : "
               "i32[];\n"),
       "RACE_RW");
  ASSERT_EQ(picture_.sides.size(), 2u) << Text();
  const std::string box = run_.finding.first->object + run_.finding.first->box;
  EXPECT_EQ(box.find("s["), 0u) << box;
  for (const std::size_t side : picture_.sides)
    EXPECT_NE(picture_.rows[side].text.find(box), std::string::npos) << box << "\n" << Text();
  EXPECT_NE(picture_.rows[picture_.sides[0]].lane, picture_.rows[picture_.sides[1]].lane);
}

TEST_F(ScheduleTest, NothingFoundIsNothingToDraw) {
  absl::StatusOr<PreparedKernel> prepared = PrepareText(Handoff(true), {.kernel = "", .target = "", .path = ""});
  ASSERT_TRUE(prepared.ok()) << prepared.status();
  const std::vector<Tensor> inputs = {*TensorFromText(DType::kI32, {128}, "iota")};
  const absl::StatusOr<FailingRun> failing = ReplayFailing(*prepared, inputs, {.seeds = 4}, {});
  EXPECT_EQ(failing.status().code(), absl::StatusCode::kNotFound) << failing.status();
}

TEST_F(ScheduleTest, ACopyThatIsNotAwaited) {
  Draw(NoWait(), "RACE_ASYNC");
  const std::string operations = "async operations of the block";
  const int issue = RowOf("the block", "starts copy_gmem_to_smem: x_ref → s"), reads = RowOf(operations, "reads x_ref");
  const int writes = RowOf(operations, "writes s[0:128]; arrives at bar[0], phase 1");
  const int read = RowOf("the block", "reads s[0:128]"), wait = RowOf("the block", "barrier bar[0], phase 1");
  for (const int row : {issue, reads, writes, read, wait}) ASSERT_GE(row, 0) << Text();
  EXPECT_TRUE(Connects(issue, reads)) << Text();
  EXPECT_TRUE(Connects(issue, writes)) << Text();
  EXPECT_TRUE(Connects(writes, wait)) << Text();
  ASSERT_EQ(picture_.red.size(), 1u);
  EXPECT_EQ(static_cast<int>(picture_.red[0].from), std::min(writes, read));
  EXPECT_EQ(static_cast<int>(picture_.red[0].to), std::max(writes, read));
}

TEST_F(ScheduleTest, WhatWasBeforeTheRunComesFirst) {
  Draw(Dependent(), "RACE_RW");
  const int before = RowOf("the kernel before this one", "writes x_ref[0:128]");
  const int read = RowOf("the block", "reads x_ref[0:128]");
  ASSERT_EQ(before, 0) << Text();
  ASSERT_GT(read, before) << Text();
  ASSERT_EQ(picture_.red.size(), 1u) << Text();
  EXPECT_EQ(static_cast<int>(picture_.red[0].from), before);
  EXPECT_EQ(static_cast<int>(picture_.red[0].to), read);
  EXPECT_EQ(picture_.lines[picture_.rows[static_cast<std::size_t>(read)].line].text, "%v = get(%xr) : i32[128];");
}

TEST_F(ScheduleTest, AnOperationThatIsPutFirstKeepsTheNumbersOfOthersRight) {
  Recording run;
  run.ops = {{.kind = OpKind::kAccess, .text = "last"}};
  run.edges = {{.from = 0, .to = 0}};
  run.found = {{.finding = {}, .op = 0}, {.finding = {}, .op = -1}};
  run.PutFirst({.kind = OpKind::kAccess, .text = "before"});
  EXPECT_EQ(run[0].text, "before");
  EXPECT_EQ(run[1].text, "last");
  EXPECT_EQ(run.edges[0].from, 1);
  EXPECT_EQ(run.found[0].op, 1);
  EXPECT_EQ(run.found[1].op, -1);
  run.forgotten = 7;  // there is a number for it already
  run.PutFirst({.kind = OpKind::kAccess, .text = "earlier"});
  EXPECT_EQ(run[6].text, "earlier");
  EXPECT_EQ(run.edges[0].from, 1);
}

TEST_F(ScheduleTest, ADeadlockIsACircleOfWaits) {
  Draw(Deadlock(), "DEADLOCK");
  const int a = RowOf("thread 0", "waits for ever: barrier a[0]"),
            b = RowOf("thread 1", "waits for ever: barrier b[0]");
  ASSERT_GE(a, 0) << Text();
  ASSERT_GE(b, 0) << Text();
  ASSERT_EQ(picture_.red.size(), 2u);
  EXPECT_EQ(picture_.red[0].from, picture_.red[1].to);
  EXPECT_EQ(picture_.red[0].to, picture_.red[1].from);
  EXPECT_EQ(picture_.missing, "each waits for the next");
}

TEST_F(ScheduleTest, ARemoteCopySignalsBothDevices) {
  Draw(kRemote, "PEER_LIFETIME");
  const std::string operations = "async operations of the core on device 0";
  const int writes = RowOf(operations, "signals received of the core on device 1 +4");
  const int reads = RowOf(operations, "signals sent of the core on device 0 +4");
  const int sent = RowOf("the core on device 0", "semaphore sent"),
            got = RowOf("the core on device 1", "semaphore received");
  for (const int row : {writes, reads, sent, got}) ASSERT_GE(row, 0) << Text();
  EXPECT_TRUE(Connects(reads, sent)) << Text();
  EXPECT_TRUE(Connects(writes, got)) << Text();
  EXPECT_FALSE(Connects(writes, sent)) << Text();
  EXPECT_EQ(picture_.red.size(), 1u);
}

TEST_F(ScheduleTest, AClusterBarrierConnectsBothBlocks) {
  Draw(kCluster, "RACE_WW");
  for (const auto& [from, to] : {std::pair("block (0)", "block (1)"), std::pair("block (1)", "block (0)")}) {
    const int arrive = RowOf(from, "arrives at barrier all"), wait = RowOf(to, "barrier all");
    ASSERT_GE(arrive, 0) << Text();
    int last = wait;
    for (std::size_t i = 0; i < picture_.rows.size(); ++i) {
      const PictureRow& row = picture_.rows[i];
      if (row.kind == OpKind::kWait && picture_.lanes[row.lane].name == to) last = static_cast<int>(i);
    }
    EXPECT_TRUE(Connects(arrive, last)) << from << "\n" << Text();
  }
  EXPECT_EQ(picture_.red.size(), 1u);
}

TEST_F(ScheduleTest, ALongRunIsCutToWhatMatters) {
  Draw(Handoff(false, 5000), "RACE_RW");
  const auto shown =
      std::count_if(picture_.rows.begin(), picture_.rows.end(), [](const PictureRow& r) { return r.shown; });
  EXPECT_GT(picture_.operations, 5000);
  EXPECT_LT(shown, 40);
  EXPECT_LE(picture_.rows.size(), PictureOptions().rows + static_cast<std::size_t>(shown));
  EXPECT_GT(picture_.not_kept, 1000);
  EXPECT_NE(Text().find("operations\n"), std::string::npos) << Text();
  ASSERT_EQ(picture_.red.size(), 1u);
}

// More operations than are kept, of programs that only their order tells apart.
TEST_F(ScheduleTest, OfManyProgramsTheTwoOfTheFinding) {
  Draw(R"(pkir 1;
kernel @rows { grid [90000]; in %x: f32[3,8]; out %o: f32[30];
 body @b (%xr: ref<default,f32[3,8]> as "x_ref", %or: ref<default,f32[30]> as "o_ref") {
  %p = program_id{axis=0}() : i32[];
  %q = rem(%p, 3:i32) : i32[];
  %s = mul(%q, 8:i32) : i32[];
  %v = get(%xr.at[%q, *]) : f32[8];
  %f = convert_element_type{to=f32}(%p) : f32[];
  %w = add(%v, %f) : f32[8];
  _ = swap(%or.at[%s +: 8 : 1], %w) : f32[8];
  return; } }
)",
       "RACE_WW", {}, "triton/h100");
  ASSERT_EQ(picture_.sides.size(), 2u) << Text();
  EXPECT_GE(RowOf("program (0)", "writes o_ref[0:8]"), 0) << Text();
  EXPECT_GE(RowOf("program (3)", "writes o_ref[0:8]"), 0) << Text();
  EXPECT_EQ(picture_.red.size(), 1u);
  EXPECT_EQ(picture_.lanes_left_out, 90000 - 2);
}

TEST_F(ScheduleTest, AgentsPastTheLimitAreCounted) {
  Draw(Handoff(false), "RACE_RW", {.lanes = 1});
  EXPECT_EQ(picture_.lanes.size(), 1u);
  EXPECT_EQ(picture_.lanes_left_out, 1);
}

TEST_F(ScheduleTest, EveryFormHasTheWholePicture) {
  Draw(Handoff(false), "RACE_RW");
  const std::string svg = SvgOf(picture_), page = PageOf(picture_), json = JsonOf(picture_);
  EXPECT_EQ(svg.find("<svg"), 0u);
  EXPECT_EQ(svg.find("<script"), std::string::npos);
  EXPECT_NE(svg.find("not time"), std::string::npos);
  for (const std::string* form : {&svg, &page, &json}) {
    EXPECT_NE(form->find("RACE_RW"), std::string::npos);
    EXPECT_NE(form->find("writes s[0:128]"), std::string::npos);
    EXPECT_EQ(form->find("http://"),
              form == &svg ? svg.find("http://www.w3.org/2000/svg") : form->find("http://www.w3.org/2000/svg"));
  }
}

TEST_F(ScheduleTest, TheCommandDrawsAReplayOrTheWorstFinding) {
  const std::string kernel = Write("k.pkir", Handoff(false));
  EXPECT_EQ(1, Run({"trace", kernel, "--in", "x=iota", "--view", "schedule"})) << err_;
  EXPECT_NE(std::string::npos, out_.find("RACE_RW: ")) << out_;
  EXPECT_EQ(1, Run({"trace", kernel, "--in", "x=iota", "--svg", Path("a.svg"), "--page", Path("a.html"), "--out",
                    Path("a.json")}))
      << err_;
  Draw(Handoff(false), "RACE_RW");
  EXPECT_EQ(1, Run({"trace", kernel, "--in", "x=iota", "--replay", run_.replay})) << err_;
  EXPECT_NE(std::string::npos, out_.find("> ")) << out_;
  ExpectError(4, {"trace", kernel, "--in", "x=iota", "--replay", run_.replay, "--view", "time"}, "draws no schedule");
  ExpectError(4, {"trace", kernel, "--in", "x=iota", "--svg", Path("b.svg"), "--sm", "1"}, "--sm does not go with");
  ExpectError(4, {"trace", kernel, "--in", "x=iota", "--page", Path("b"), "--fill", "zero"}, "--fill is of the check");
  ExpectError(4, {"trace", kernel, "--in", "x=iota", "--finding", "OOB"}, "there is no finding OOB");
}

}  // namespace
}  // namespace palladion::schedule
