// The time of Triton kernels: by hand where a kernel is small, ladders where it is not.
#include "emu/timing/triton/timing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_replace.h"
#include "emu/testing/rows_of_time.h"
#include "emu/timing/mosaic_gpu/kernels_test_util.h"
#include "emu/timing/time_kernel.h"
#include "emu/timing/triton/costs.h"
#include "semantics/base/cat.h"

namespace palladion::timing::triton {
namespace {

using base::Timed;
using machines::Bytes;
using report::LineTime;
using report::StallTime;
using report::Timing;

machines::Machine TritonChip(const std::string& name, const std::vector<std::string>& changes = {}) {
  return mosaic_gpu::test::MachineNamed(name, changes);
}

absl::StatusOr<Timed> TryTriton(const std::string& text, const machines::Machine& machine, const RunOptions& run = {}) {
  const PreparedKernel kernel = mosaic_gpu::test::Prepared(text, Cat("triton/", machine.name()));
  const std::vector<Tensor> inputs = mosaic_gpu::test::InputsOf(kernel);
  return TimeKernel({.kernel = kernel, .inputs = inputs, .machine = machine, .run = run});
}

Timing TimeOfTriton(const std::string& text, const machines::Machine& machine = TritonChip("h100")) {
  const absl::StatusOr<Timed> timed = TryTriton(text, machine);
  EXPECT_TRUE(timed.ok()) << timed.status();
  return timed.ok() ? timed->timing : Timing{};
}

double CyclesOfTriton(const std::string& text) { return TimeOfTriton(text).cycles.value(); }

double BoundNamed(const Timing& timing, std::string_view limit) {
  for (const report::Bound& bound : timing.roofline) {
    if (bound.limit == limit) return bound.time.value();
  }
  return 0;
}

double StalledFor(const Timing& timing, std::string_view reason) {
  for (const StallTime& stall : timing.stalls) {
    if (stall.reason == reason) return stall.waited.value();
  }
  return 0;
}

// Sums of blocks of 1024.
std::string TritonAdd(std::int64_t blocks, int warps = 4) {
  return absl::StrReplaceAll(R"(pkir 1;
kernel @add {
  backend triton;
  params {num_warps=$W};
  in %x: f32[$N] block (1024) map (%i: i32[]) { return %i; };
  in %y: f32[$N] block (1024) map (%i: i32[]) { return %i; };
  out %o: f32[$N] block (1024) map (%i: i32[]) { return %i; };
  grid [$B];
  body @add (%xr: ref<default,f32[1024]>, %yr: ref<default,f32[1024]>, %or: ref<default,f32[1024]>) {
    %0 = get(%xr) : f32[1024];
    %1 = get(%yr) : f32[1024];
    %2 = add(%0, %1) : f32[1024];
    _ = swap(%or, %2) : f32[1024];
    return;
  }
}
)",
                             {{"$N", Cat(blocks * 1024)}, {"$B", Cat(blocks)}, {"$W", Cat(warps)}});
}

// 48 MiB through DRAM at 3.17 TB/s are 15.9 us.
TEST(TritonTiming, AVectorSumTakesWhatItsBytesTake) {
  const Timing timing = TimeOfTriton(TritonAdd(4096));
  const double bytes = 3.0 * 4096 * 4096;
  EXPECT_EQ(timing.memory, Bytes(bytes));
  const double least = bytes / 3.17e12 * 1e9;
  EXPECT_NEAR((timing.time - timing.launch).value(), least, 0.05 * least);
  EXPECT_EQ(timing.roofline[0].limit, "bytes of DRAM, each once");
  EXPECT_GT(StalledFor(timing, "a busy DRAM"), StalledFor(timing, "global memory"));
  EXPECT_EQ(timing.placement.blocks, 4096);
  EXPECT_EQ(timing.placement.units, 132);
  ASSERT_EQ(timing.traffic.size(), 3u);
  EXPECT_EQ(timing.traffic[0].read, Bytes(4096.0 * 4096));
  EXPECT_EQ(timing.flops, 4096.0 * 1024);
}

// One block: addresses, a load from DRAM with eight lines of each array, a sum, a store until L2 has it.
TEST(TritonTiming, OneBlockWaitsForItsLoads) {
  const Timing timing = TimeOfTriton(TritonAdd(1));
  const TritonCosts costs = *TritonCostsOf(TritonChip("h100"));
  const double dram = costs.common.dram_latency.value();
  EXPECT_GT(timing.cycles.value(), dram);
  EXPECT_LT(timing.cycles.value(), dram + 250);
  EXPECT_EQ(timing.placement.limit, "the grid");
}

// The program of a block computes where its blocks of the operands lie, so a quotient in an index map takes time.
TEST(TritonTiming, AnIndexMapIsComputedByEachBlock) {
  const std::string plain = TritonAdd(4);
  const std::string halved = absl::StrReplaceAll(
      plain, {{"in %x: f32[4096] block (1024) map (%i: i32[]) { return %i; };",
               "in %x: f32[4096] block (1024) map (%i: i32[]) { %h = div(%i, 2:i32) : i32[]; return %h; };"}});
  const Timing of_map = TimeOfTriton(halved);
  EXPECT_GT(BoundNamed(of_map, "integer pipes"), BoundNamed(TimeOfTriton(plain), "integer pipes"));
  EXPECT_TRUE(std::any_of(of_map.lines.begin(), of_map.lines.end(),
                          [](const LineTime& line) { return line.op == "div" && line.busy.value() > 0; }));
}

// A lane waits only where it needs a value, so two loads cost one latency.
TEST(TritonTiming, LoadsAreWaitedForAtTheirFirstUse) {
  const Timing timing = TimeOfTriton(TritonAdd(1));
  for (const LineTime& line : timing.lines) {
    if (line.op == "get") {
      EXPECT_LT(line.waited.value(), 60) << line.text_line;
    }
    if (line.op == "add") {
      EXPECT_EQ(line.waited_for, "'get' of line 10");
    }
  }
}

std::string TritonStrided(std::int64_t stride) {
  return absl::StrReplaceAll(R"(pkir 1;
kernel @strided {
  backend triton;
  in %x: f32[$N];
  out %o: f32[1024];
  grid [];
  body @strided (%xr: ref<default,f32[$N]>, %or: ref<default,f32[1024]>) {
    %0 = get(%xr.at[0 +: 1024 : $S]) : f32[1024];
    _ = swap(%or, %0) : f32[1024];
    return;
  }
}
)",
                             {{"$N", Cat(1024 * stride)}, {"$S", Cat(stride)}});
}

TEST(TritonTiming, AStrideOfASectorFetchesEightTimesTheBytes) {
  const Timing dense = TimeOfTriton(TritonStrided(1)), strided = TimeOfTriton(TritonStrided(8));
  EXPECT_EQ(dense.traffic[0].read, Bytes(4096));
  EXPECT_EQ(strided.traffic[0].read, Bytes(8 * 4096.0));
  EXPECT_GT(strided.cycles, dense.cycles);
}

std::string TritonSums(int warps) {
  std::string body, last = "%0";
  for (int i = 1; i <= 40; ++i) {
    body += Cat("    %", i, " = add(", last, ", ", last, ") : f32[4096];\n");
    last = Cat("%", i);
  }
  return absl::StrReplaceAll(R"(pkir 1;
kernel @sums {
  backend triton;
  params {num_warps=$W};
  in %x: f32[4096];
  out %o: f32[4096];
  grid [];
  body @sums (%xr: ref<default,f32[4096]>, %or: ref<default,f32[4096]>) {
    %0 = get(%xr) : f32[4096];
$BODY    _ = swap(%or, $LAST) : f32[4096];
    return;
  }
}
)",
                             {{"$W", Cat(warps)}, {"$BODY", body}, {"$LAST", last}});
}

// 40 sums of 4096 elements are 128 warp instructions each: all in one quadrant, or 32 in each of four.
TEST(TritonTiming, WarpsShareTheQuadrantsOfTheirSm) {
  const double one = CyclesOfTriton(TritonSums(1)), two = CyclesOfTriton(TritonSums(2)),
               four = CyclesOfTriton(TritonSums(4)), eight = CyclesOfTriton(TritonSums(8));
  EXPECT_NEAR(one - two, 40 * 64, 200);
  EXPECT_NEAR(two - four, 40 * 32, 150);
  EXPECT_NEAR(four, eight, 40) << "four warps fill the issue slots already";
}

struct TiledProduct {
  int warps = 4, stages = 3;
  std::string precision = "none", type = "f16";
  std::int64_t rows = 128;
};
std::string TritonProductText(const TiledProduct& of) {
  return absl::StrReplaceAll(
      R"(pkir 1;
kernel @mm {
  backend triton;
  params {num_warps=$W, num_stages=$S};
  in %a: $T[$M,4096];
  in %b: $T[4096,128];
  out %o: f32[$M,128];
  grid [];
  body @mm (%ar: ref<default,$T[$M,4096]>, %br: ref<default,$T[4096,128]>, %or: ref<default,f32[$M,128]>) {
    %0 = broadcast_in_dim{shape=[$M,128], dims=[]}(0.0:f32) : f32[$M,128];
    _, %r = scan{length=64, reverse=false}(init=0:i32, init=%0) (%i: i32[], %acc: f32[$M,128]) {
      %n = add(%i, 1:i32) : i32[];
      %k = mul(%i, 64:i32) : i32[];
      %x = get(%ar.at[*, %k +: 64]) : $T[$M,64];
      %y = get(%br.at[%k +: 64, *]) : $T[64,128];
      %d = dot_general{contract=[[1],[0]], batch=[[],[]], precision=$P, preferred=f32}(%x, %y) : f32[$M,128];
      %s = add(%acc, %d) : f32[$M,128];
      return %n, %s;
    } : i32[], f32[$M,128];
    _ = swap(%or, %r) : f32[$M,128];
    return;
  }
}
)",
      {{"$W", Cat(of.warps)}, {"$S", Cat(of.stages)}, {"$P", of.precision}, {"$T", of.type}, {"$M", Cat(of.rows)}});
}

// Each turn is 8 wgmma of 64 x 128 x 16, 65 cycles each: 33280 in 64 turns. DRAM is some 650 cycles away: with one
// stage a turn waits for that, with four it does not.
TEST(TritonTiming, StagesHideTheLatencyOfLoads) {
  const double pipe = 64 * 8 * 0.505 * 128;
  const double one = CyclesOfTriton(TritonProductText({.stages = 1})),
               two = CyclesOfTriton(TritonProductText({.stages = 2})),
               three = CyclesOfTriton(TritonProductText({.stages = 3})),
               four = CyclesOfTriton(TritonProductText({.stages = 4}));
  EXPECT_GT(one, pipe + 64 * 600);
  EXPECT_GT(one, two);
  EXPECT_GT(two, three);
  EXPECT_GE(three, four);
  EXPECT_GT(four, pipe);
  EXPECT_LT(four, 1.15 * pipe);
}

// 2680 FLOP a cycle by mma.sync: two warps are no warpgroup. Half of them as fast, each with its own instructions.
TEST(TritonTiming, FewerWarpsThanAWarpgroupMultiplyWithMmaSync) {
  const double flops = 2.0 * 128 * 128 * 4096;
  const double two = CyclesOfTriton(TritonProductText({.warps = 2}));
  EXPECT_GT(two, flops / 2680 * 1.9);
  EXPECT_NEAR(CyclesOfTriton(TritonProductText({.warps = 1})) / two, 2, 0.2);
  const double few_rows = CyclesOfTriton(TritonProductText({.warps = 4, .rows = 32}));
  EXPECT_GT(few_rows, 2.0 * 32 * 128 * 4096 / 2680) << "64 rows make a wgmma";
}

TEST(TritonTiming, ProductsInF32AreTf32OrExact) {
  const double tf32 = CyclesOfTriton(TritonProductText({.type = "f32"}));
  const double exact = CyclesOfTriton(TritonProductText({.precision = "highest", .type = "f32"}));
  const double half = CyclesOfTriton(TritonProductText({}));
  EXPECT_NEAR(tf32 / half, 2, 0.3);
  EXPECT_GT(exact, 128.0 * 128 * 4096 / 128) << "a lane of 128 multiplies and adds once a cycle";
}

std::string TritonAtomics(std::int64_t blocks, std::string_view where) {
  return absl::StrReplaceAll(R"(pkir 1;
kernel @count {
  backend triton;
  grid [$B];
  in %x: i32[4096];
  out %o: i32[4096] alias %x;
  body @count (%xr: ref<default,i32[4096]>, %or: ref<default,i32[4096]>) {
    %p = program_id{axis=0}() : i32[];
    _ = atomic_rmw{op=add}(%or.at[$AT], 1:i32) : i32[];
    return;
  }
}
)",
                             {{"$B", Cat(blocks)}, {"$AT", std::string(where)}});
}

// 1.36 G/s on one address.
TEST(TritonTiming, AtomicsOnOneAddressTakePlaceOneAfterAnother) {
  const Timing one = TimeOfTriton(TritonAtomics(4096, "0")), spread = TimeOfTriton(TritonAtomics(4096, "%p"));
  const double least = 4096 / 1.36;
  EXPECT_NEAR(BoundNamed(one, "atomics on one address"), least, 0.01 * least);
  EXPECT_GT((one.time - one.launch).value(), least);
  EXPECT_LT(BoundNamed(spread, "atomics on one address"), 1);
  EXPECT_GT(one.cycles.value(), 1.3 * spread.cycles.value());
}

TEST(TritonTiming, AWeightThatAllBlocksReadIsInL1) {
  const std::string text = absl::StrReplaceAll(
      TritonAdd(2048), {{"in %y: f32[2097152] block (1024) map (%i: i32[]) { return %i; }", "in %y: f32[1024]"}});
  const Timing timing = TimeOfTriton(text);
  EXPECT_LT(timing.traffic[1].read.value(), 0.2 * timing.traffic[0].read.value());
  const Timing without = TimeOfTriton(text, TritonChip("h100", {"l1.size=1B"}));
  EXPECT_EQ(without.traffic[1].read, without.traffic[0].read);
}

TEST(TritonTiming, RoomForBlocksIsLimitedByLanes) {
  const Timing timing = TimeOfTriton(TritonAdd(4096, 32));
  EXPECT_EQ(timing.placement.at_once, 2);
  EXPECT_NE(timing.placement.limit.find("2048 lanes, of which a block has 1024"), std::string::npos)
      << timing.placement.limit;
  ASSERT_TRUE(timing.placement.waves.has_value());
  EXPECT_EQ(timing.placement.waves->count, 16);  // of 264
}

TEST(TritonTiming, CriticalPathAndStallsAddUp) {
  const Timing timing = TimeOfTriton(TritonProductText({}));
  double path = 0, waited = 0, stalled = 0;
  for (const report::PathPart& part : timing.critical_path) path += part.time.value();
  for (const LineTime& line : timing.lines) waited += line.waited.value();
  for (const StallTime& stall : timing.stalls) stalled += stall.waited.value();
  EXPECT_NEAR(path, timing.cycles.value(), 1);
  EXPECT_NEAR(waited, stalled, 1);
  EXPECT_NEAR(
      timing.cycles.value(),
      waited +
          [&] {
            double busy = 0;
            for (const LineTime& line : timing.lines) busy += line.busy.value();
            return busy;
          }(),
      1)
      << "one block";
}

// Of each place all of the time: in 12 waves on one SM, the last with one block.
TEST(TritonTiming, RowsOfLinesLaunchesAndTheTailAreTheWhole) {
  const Timing timing = TimeOfTriton(TritonAdd(16 * 12 + 1), TritonChip("h100", {"chip.cores=1"}));
  EXPECT_EQ(timing.placement.waves->count, 13);
  ASSERT_TRUE(timing.whole.has_value());
  EXPECT_EQ(timing.whole->of, "16 places for blocks");
  const double all = 16 * (timing.time * timing.clock).value();
  EXPECT_NEAR(timing.whole->time.value(), all, 1e-6 * all);
  EXPECT_EQ(MissingOfTheRows(timing), "");
  ASSERT_EQ(timing.whole->rest.size(), 3u);
  EXPECT_EQ(timing.whole->rest[0].name, "launch of the kernel");
  EXPECT_NEAR(timing.whole->rest[0].time.value(), 16 * (timing.launch * timing.clock).value(), 1e-3);
  EXPECT_EQ(timing.whole->rest[1].name, "launches of later blocks");
  EXPECT_NEAR(timing.whole->rest[1].time.value(), StalledFor(timing, "the launch of its block"), 1e-3);
  EXPECT_EQ(timing.whole->rest[2].name, "tail: places without a block at the end");
  EXPECT_GT(timing.whole->rest[2].time.value(), 0);
}

// A b200 multiplies with tensor memory, whose use by Triton has no cost.
TEST(TritonTiming, OnABlackwellProductsAreRefusedAndSumsAreNot) {
  EXPECT_GT(TimeOfTriton(TritonAdd(64), TritonChip("b200")).cycles.value(), 0);
  const absl::StatusOr<Timed> timed = TryTriton(TritonProductText({}), TritonChip("b200"));
  ASSERT_FALSE(timed.ok());
  EXPECT_NE(timed.status().message().find("h100 and h200"), std::string::npos) << timed.status();
}

TEST(TritonTiming, WhatNeverEndsIsSaid) {
  const absl::StatusOr<Timed> timed = TryTriton(R"(pkir 1;
kernel @toggle {
  backend triton;
  grid [2];
  in %x: i32[1];
  out %o: i32[1] alias %x;
  body @toggle (%xr: ref<default,i32[1]>, %or: ref<default,i32[1]>) {
    %done = while(init=0:i32) (%v: i32[]) {
      %wait = ne(%v, 2:i32) : bool[];
      return %wait;
    } (%v: i32[]) {
      %seen = atomic_rmw{op=xor}(%or.at[0], 1:i32) : i32[];
      return %seen;
    } : i32[];
    return;
  }
}
)",
                                                TritonChip("h100"), {.loop_budget = 1000});
  ASSERT_FALSE(timed.ok());
  EXPECT_NE(timed.status().message().find("line 8"), std::string::npos) << timed.status();
}

}  // namespace
}  // namespace palladion::timing::triton
