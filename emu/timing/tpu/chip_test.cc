// A TPU's core in time, and the pipeline of its blocks, against schedules worked out by hand: what hides behind work,
// and what does not.
#include "emu/timing/tpu/chip.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "emu/timing/base/ticks.h"
#include "emu/timing/tpu/timing_test_util.h"

namespace palladion::timing::tpu {
namespace {

using base::CyclesOf;
using base::Timed;
using machines::Bytes;
using machines::BytesPerCycle;
using machines::Cycles;
using machines::PerCycle;

// A byte a cycle, one vector operation a cycle, nothing else takes time.
TpuCosts Plain() {
  TpuCosts costs;
  costs.hbm = BytesPerCycle(1);
  costs.dma_issue = PerCycle(1e9);
  costs.slots.fill(1);
  return costs;
}

TEST(TpuCore, ACopyTakesItsStartBesideItsBytes) {
  TpuCosts costs = Plain();
  costs.dma_startup = Cycles(20);
  TpuCore core(costs, 1);
  EXPECT_EQ(CyclesOf(core.Copy({}, Bytes(100))).value(), 120);
  EXPECT_EQ(CyclesOf(core.Copy({}, Bytes(100))).value(), 220);  // the starts of copies go side by side
}

TEST(TpuCore, TwoCoresHaveHalfOfMainMemoryEach) {
  const TpuCosts costs = Plain();
  TpuCore core(costs, 2);
  EXPECT_EQ(CyclesOf(core.Copy({}, Bytes(100))).value(), 200);
}

TEST(TpuCopyQueue, AGroupIsAwaitedOnce) {
  TpuCopyQueue queue;
  queue.Add({.operand = 3});
  queue.Add({.operand = 5});
  queue.Commit();
  queue.Commit();  // an empty one
  queue.Add({.operand = 7});
  queue.Commit();
  EXPECT_TRUE(queue.TakeAllBut(3).empty());
  const std::vector<TpuBlockCopy> taken = queue.TakeAllBut(1);
  ASSERT_EQ(taken.size(), 2u);
  EXPECT_EQ(taken[0].operand, 3u);
  EXPECT_EQ(taken[1].operand, 5u);
  EXPECT_TRUE(queue.TakeAllBut(1).empty());
  EXPECT_EQ(queue.TakeAllBut(0).size(), 1u);
}

// Four programs of Doubled, whose block takes kCopy cycles in and out each, and whose work takes `work`.
constexpr double kClock = 1.5e9, kBytes = 256 * 1024 * 4, kPrograms = 4;
constexpr double kNear = 15;  // cycles: starting a copy takes one

struct Plan {
  double copy = 0;  // cycles of a block
  std::string more = "";
  double step = 0;
};

double TimeOf(const Plan& plan) {
  const std::string text = Doubled(static_cast<std::int64_t>(kPrograms) * 256, 256, plan.more);
  const absl::StatusOr<PreparedKernel> kernel = PrepareText(text, {.target = "mosaic_tpu/v5e", .observable = true});
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  const Tensor x = *TensorFromText(DType::kF32, {static_cast<std::int64_t>(kPrograms) * 256, 1024}, "full(1.0)");
  machines::Machine machine = **machines::FindMachine("v5e");
  const std::vector<std::string> changes = {
      Cat("dram.peak=", std::to_string(kBytes / plan.copy * kClock / 1e12), " TB/s"),
      Cat("dram.achieved=", std::to_string(kBytes / plan.copy * kClock / 1e12), " TB/s"), "dma.startup=0.000001 ns",
      Cat("grid.step=", std::to_string(std::max(1e-6, plan.step / kClock * 1e9)), " ns")};
  const absl::Status set = machine.Set(changes);
  EXPECT_TRUE(set.ok()) << set;
  const absl::StatusOr<Timed> timed = TimeKernel({*kernel, {&x, 1}, machine, {}});
  EXPECT_TRUE(timed.ok()) << timed.status();
  return timed.ok() ? timed->timing.cycles.value() : 0;
}

double Work() { return TimeOf({.copy = 0.001}) / kPrograms; }

TEST(TpuPipeline, CopiesHideBehindWork) {
  const double work = Work(), copy = 0.3 * work;
  ASSERT_GT(work, 200);
  EXPECT_NEAR(TimeOf({.copy = copy}), copy + kPrograms * work + copy, kNear);
}

// Both directions go through the same memory, which is never idle here.
TEST(TpuPipeline, WorkHidesBehindCopies) {
  const double copy = 3 * Work();
  EXPECT_NEAR(TimeOf({.copy = copy}), 2 * kPrograms * copy, kNear);
}

// A block with one buffer comes after the one before it has gone, and its body waits.
TEST(TpuPipeline, OneBufferHidesNothing) {
  const double work = Work(), copy = 0.3 * work;
  EXPECT_NEAR(TimeOf({.copy = copy, .more = " buffered {buffer_count=1}"}), kPrograms * (work + 2 * copy), kNear);
}

TEST(TpuPipeline, AStepOfTheGridComesOnTop) {
  const double work = Work(), copy = 0.3 * work;
  EXPECT_NEAR(TimeOf({.copy = copy, .step = 50}), copy + kPrograms * (work + 50) + copy, kNear);
  const double slow = 3 * work;
  // Copies go beside steps, and leave memory idle nowhere.
  EXPECT_NEAR(TimeOf({.copy = slow, .step = 50}), 2 * kPrograms * slow, kNear);
}

// What goes back is awaited after the next body, also where no block of its operand follows it.
TEST(TpuPipeline, WhatGoesBackIsAwaitedAfterTheNextBody) {
  const std::string text =
      "pkir 1;\nkernel @k {\n  backend mosaic_tpu;\n  grid [4];\n  out %o: f32[1024,1024] as \"o\" block (512,1024) "
      "map "
      "(%i: i32[]) { %b = div(%i, 2:i32) : i32[]; return %b, 0:i32; };\n  body @b (%or: ref<default,f32[512,1024]>) {\n"
      "    %z = broadcast_in_dim{shape=[8,1024], dims=[]}(0.0:f32) : f32[8,1024];\n"
      "    _ = swap(%or.at[0 +: 8, *], %z) : f32[8,1024];\n    return;\n  }\n}\n";
  const Timed timed = TimeText(text, "v5e", timeline::TimelineOptions{});
  std::vector<double> begins, waits;
  for (const timeline::Span& span : timed.timeline->spans) {
    if (span.what == "step of the grid") begins.push_back(span.begin.value());
    if (span.what == "wait for o to go back") waits.push_back(span.end.value());
  }
  ASSERT_EQ(begins.size(), 4u);
  ASSERT_EQ(waits.size(), 2u);
  EXPECT_EQ(waits[0], begins[3]);  // the block of programs 0 and 1, after body 2
  EXPECT_EQ(waits[1], timed.timeline->length.value());
}

}  // namespace
}  // namespace palladion::timing::tpu
