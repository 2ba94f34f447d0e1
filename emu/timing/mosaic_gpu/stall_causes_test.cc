// Why threads wait: each class by a kernel that has it, and that classes of a line add up to what it waited.
#include "emu/timing/mosaic_gpu/stall_causes.h"

#include <gtest/gtest.h>

#include <string>

#include "emu/timing/gpu/h100_test_util.h"
#include "emu/timing/gpu/stalls.h"
#include "emu/timing/mosaic_gpu/kernels_test_util.h"

namespace palladion::timing::mosaic_gpu::test {
namespace {

using gpu::Stall;
using gpu::test::H100;
using machines::Cycles;
using report::LineTime;
using report::StallTime;
using report::Timing;

double Of(const std::vector<StallTime>& stalls, Stall stall) {
  for (const StallTime& one : stalls) {
    if (one.reason == Name(stall)) return one.waited.value();
  }
  return 0;
}

void ExpectSums(const Timing& timing) {
  double of_lines = 0, of_kernel = 0;
  for (const LineTime& line : timing.lines) {
    double sum = 0;
    for (const StallTime& stall : line.stalls) sum += stall.waited.value();
    EXPECT_NEAR(sum, line.waited.value(), 1e-6 * sum) << line.op;
    EXPECT_EQ(line.waited.value() > 0, !line.waited_for.empty()) << line.op;
    of_lines += sum;
  }
  for (const StallTime& stall : timing.stalls) of_kernel += stall.waited.value();
  EXPECT_NEAR(of_kernel, of_lines + Of(timing.stalls, Stall::kLaunch), 1e-6 * of_kernel);
}

TEST(Stalls, AMatrixProductWaitsForCopiesProductsAndTheOtherThread) {
  const Timing timing = TimeOf({.m = 128, .n = 256, .k = 1024, .slots = 2});
  ExpectSums(timing);
  for (const Stall stall : {Stall::kCopyIn, Stall::kProduct, Stall::kBarrier})
    EXPECT_GT(Of(timing.stalls, stall), 0) << Name(stall);
  EXPECT_EQ(Of(timing.stalls, Stall::kOther), 0);
  for (const LineTime& line : timing.lines) {
    if (line.op == "wgmma_wait") {
      EXPECT_EQ(line.stalls[0].reason, "a matrix product");
    }
  }
}

// `threads` that each load 8 KB, square them `squares` times, and store them.
std::string SquaresText(int threads, int squares) {
  std::string text = Cat(R"(pkir 1;
kernel @squares {
  backend mosaic_gpu;
  in %x: f32[64,32] space gmem;
  out %o: f32[)",
                         threads, R"(,64,32] space gmem;
  mesh gpu {grid=[], grid_names=[], cluster=[], cluster_names=[], threads=)",
                         threads, R"(, thread_name="wg"};
  body @squares (%xr: ref<gmem,f32[64,32]> as "x_ref", %or: ref<gmem,f32[)",
                         threads, R"(,64,32]> as "o_ref") {
    %wg = axis_index{axis="wg"}() : i32[];
    %v0 = get(%xr) : f32[64,32];
)");
  for (int i = 0; i < squares; ++i) Append(&text, "    %v", i + 1, " = mul(%v", i, ", %v", i, ") : f32[64,32];\n");
  return text + Cat("    _ = swap(%or.at[%wg, *, *], %v", squares, ") : f32[64,32];\n    return;\n  }\n}\n");
}

TEST(Stalls, ALoadIsOnItsWayToGlobalMemory) {
  const machines::Machine machine = MachineNamed("h100");
  const Timing timing = RunOf(SquaresText(1, 1), machine).timed.timing;
  ExpectSums(timing);
  EXPECT_NEAR(Of(timing.stalls, Stall::kGlobalMemory), H100().dram_latency.value(), 40);
  EXPECT_EQ(Of(timing.stalls, Stall::kIssueSlots), 0);
}

TEST(Stalls, AThreadThatFindsTheIssueSlotsBusyWaitsForThem) {
  const machines::Machine machine = MachineNamed("h100");
  const Timing alone = RunOf(SquaresText(1, 8), machine).timed.timing,
               four = RunOf(SquaresText(4, 8), machine).timed.timing;
  EXPECT_EQ(Of(alone.stalls, Stall::kIssueSlots), 0);
  EXPECT_GT(Of(four.stalls, Stall::kIssueSlots), 0);
  ExpectSums(four);
  double busy_alone = 0, busy_of_four = 0;
  for (const LineTime& line : alone.lines) busy_alone += line.op == "mul" ? line.busy.value() : 0;
  for (const LineTime& line : four.lines) busy_of_four += line.op == "mul" ? line.busy.value() : 0;
  EXPECT_NEAR(busy_of_four, 4 * busy_alone, 1e-6 * busy_of_four) << "waiting is not work";
}

// Eight blocks on two SMs that hold two each.
TEST(Stalls, LaterBlocksWaitForTheirLaunch) {
  const TiledMatmul shape{.m = 64, .n = 1024, .k = 512, .slots = 4};
  const Timing all = TimeOf(shape), few = TimeOf(shape, {"chip.cores=2"});
  EXPECT_EQ(Of(all.stalls, Stall::kLaunch), 0);
  EXPECT_NEAR(Of(few.stalls, Stall::kLaunch), 4 * 2 * H100().replace.value(), 0.1);  // of four blocks, two threads each
  ExpectSums(few);
}

// ---- stalls by the units that they are for

GpuPlan Access(Space space, bool stores) {
  GpuPlan plan;
  plan.work = GpuWork::kAccess;
  plan.space = space;
  plan.stores = stores;
  return plan;
}

TEST(Stalls, TheUnitThatKeptItWaitingLongestCounts) {
  const gpu::GpuChip::Recent recent{.port = {{3}, {10}}, .l2 = {{7}, {4}}, .dram = {{5}, {4}}};
  const Parts load = PartsOf(Access(Space::kGmem, false), {100}, recent);
  EXPECT_EQ(load.busy_unit, Stall::kL2);
  EXPECT_EQ(load.queued, scheduler::Ticks{7});
  EXPECT_EQ(load.worked, scheduler::Ticks{10});
  EXPECT_EQ(load.memory, Stall::kGlobalMemory);
  EXPECT_EQ(load.in_flight, scheduler::Ticks{83});
  const Parts store = PartsOf(Access(Space::kGmem, true), {13}, recent);
  EXPECT_EQ(store.busy_unit, Stall::kPort) << "nobody waits for what L2 does with a store";
  EXPECT_EQ(store.queued, scheduler::Ticks{3});
  EXPECT_EQ(store.worked, scheduler::Ticks{10});
  EXPECT_EQ(store.in_flight, scheduler::Ticks{});
  const Parts shared = PartsOf(Access(Space::kSmem, false), {2}, {.port = {{5}, {1}}});
  EXPECT_EQ(shared.queued, scheduler::Ticks{2}) << "no more than all of it";
}

TEST(Stalls, WhatEndedAWaitBeforeWhatItWaitedAt) {
  GpuPlan barrier;
  barrier.work = GpuWork::kAwaitBarrier;
  EXPECT_EQ(StallAt(barrier, Stall::kCopyIn), Stall::kCopyIn);
  EXPECT_EQ(StallAt(barrier, Stall::kOther), Stall::kBarrier);
  EXPECT_EQ(StallOf(barrier), Stall::kOther);
  EXPECT_EQ(StallAt(Access(Space::kSmem, false), Stall::kOther), Stall::kOther);
}

}  // namespace
}  // namespace palladion::timing::mosaic_gpu::test
