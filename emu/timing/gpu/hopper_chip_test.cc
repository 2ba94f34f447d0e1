// What operations that share a chip take, against published measurements that no number was fitted to, and against
// counting.
#include <gtest/gtest.h>

#include <vector>

#include "emu/timing/base/ticks.h"
#include "emu/timing/gpu/h100_test_util.h"
#include "emu/timing/gpu/hopper_chip_test_util.h"

namespace palladion::timing::gpu::test {
namespace {

using base::CyclesOf;
using base::TicksOf;
using machines::Bytes;
using machines::Cycles;
using scheduler::Ticks;

// One warpgroup that issues groups of wgmma (N = 64) and waits until at most `left` are in flight: cycles for each
// instruction.
double CyclesOfEach(std::int64_t of_group, std::size_t left) {
  constexpr std::int64_t kGroups = 200;
  const HopperCosts costs = H100();
  HopperChip chip(costs);
  std::vector<Ticks> results;
  Ticks now;
  for (std::int64_t group = 0; group < kGroups; ++group) {
    Ticks result;
    for (std::int64_t i = 0; i < of_group; ++i) {
      result = chip.Multiply(0, now, {.n = 64, .instructions = 1});
      now = now + TicksOf(costs.wgmma_rs_floor);
    }
    results.push_back(result);
    if (results.size() > left) now = std::max(now, results[results.size() - 1 - left]);
  }
  return CyclesOf(results.back()).value() / static_cast<double>(kGroups * of_group);
}

// flash-vla, unit-mma.md. The tail is a constant of another simulator, so all eight are predictions.
TEST(HopperChip, WgmmaInFlightTakeWhatWasMeasured) {
  struct Row {
    std::int64_t of_group;
    std::size_t left;
    double cycles;
  };
  constexpr Row kMeasured[] = {{1, 0, 79.0}, {1, 1, 42.0}, {1, 3, 33.7}, {2, 0, 55.6},
                               {2, 1, 33.1}, {4, 0, 44.6}, {4, 1, 32.3}, {8, 0, 38.2}};
  for (const Row& row : kMeasured) {
    EXPECT_NEAR(CyclesOfEach(row.of_group, row.left) / row.cycles, 1, 0.055)
        << row.of_group << " of a group, " << row.left << " groups left";
  }
}

GlobalBox Kilobytes(std::int64_t array, std::int64_t n) {
  return {.array = array, .first_byte = 0, .row_stride = 128, .rows = 8 * n, .row_bytes = 128};
}

// flash-vla, unit-tma.md: 217 ns + 4.8 ns/KB from L2, 595 ns + 5.2 ns/KB from DRAM. The slopes are predictions.
TEST(HopperChip, ACopyTakesWhatWasMeasured) {
  const HopperCosts costs = H100();
  for (const std::int64_t kilobytes : {1, 8, 32}) {
    HopperChip chip(costs);
    const auto slope = static_cast<double>(kilobytes);
    const Cycles cold = CyclesOf(chip.Load(0, {}, Kilobytes(0, kilobytes)));
    EXPECT_NEAR((cold / costs.clock).value() / (595 + 5.2 * slope), 1, 0.03) << kilobytes << " KB";
    const Ticks later = TicksOf(Cycles(10000));
    const Cycles warm = CyclesOf(chip.Load(0, later, Kilobytes(0, kilobytes)) - later);
    EXPECT_NEAR((warm / costs.clock).value() / (217 + 4.8 * slope), 1, 0.03) << kilobytes << " KB";
  }
}

TEST(HopperChip, SmsThatAskTogetherAreServedByOneRead) {
  HopperChip chip(H100());
  const std::int64_t bytes = 1024;
  chip.Load(0, {}, Kilobytes(0, 1));
  EXPECT_EQ(chip.use().dram_bytes, bytes);
  chip.Load(1, TicksOf(Cycles(10)), Kilobytes(0, 1));  // within the latency of L2
  EXPECT_EQ(chip.use().l2_bytes, bytes);
  chip.Load(2, TicksOf(Cycles(5000)), Kilobytes(0, 1));
  EXPECT_EQ(chip.use().l2_bytes, 2 * bytes);
  EXPECT_EQ(chip.use().dram_bytes, bytes);
  chip.Load(2, TicksOf(Cycles(5000)), Kilobytes(1, 1));  // another array
  EXPECT_EQ(chip.use().dram_bytes, 2 * bytes);
}

TEST(HopperChip, L2KeepsWhatWasUsedLast) {
  HopperCosts costs = H100();
  costs.l2_size = Bytes(2048);
  HopperChip chip(costs);
  for (const std::int64_t array : {0, 1, 0, 2}) chip.Load(0, {}, Kilobytes(array, 1));  // 2 takes the place of 1
  EXPECT_EQ(chip.use().dram_bytes, 3 * 1024);
  chip.Load(0, {}, Kilobytes(0, 1));
  EXPECT_EQ(chip.use().dram_bytes, 3 * 1024);
  chip.Load(0, {}, Kilobytes(1, 1));
  EXPECT_EQ(chip.use().dram_bytes, 4 * 1024);
}

// ---- sectors

GlobalBox Bytes32(std::int64_t first_sector, std::int64_t sectors) {
  return {.array = 0, .first_byte = 32 * first_sector, .row_stride = 0, .rows = 1, .row_bytes = 32 * sectors};
}

TEST(HopperChip, ALinesMissingSectorsAreFetchedAlone) {
  HopperChip chip(H100());
  const auto later = [](double cycles) { return TicksOf(Cycles(cycles)); };
  chip.LoadDirectly(0, {}, Bytes32(1, 1));
  EXPECT_EQ(chip.use().dram_bytes, 32);
  chip.LoadDirectly(0, later(10000), Bytes32(0, 4));  // the whole line
  EXPECT_EQ(chip.use().dram_bytes, 128);
  EXPECT_EQ(chip.use().l2_bytes, 32 + 128);
  chip.LoadDirectly(0, later(20000), Bytes32(3, 2));  // the last of it, the first of the next
  EXPECT_EQ(chip.use().dram_bytes, 160);
  EXPECT_EQ(chip.traffic(0).read, 32 + 128 + 64);
  EXPECT_EQ(chip.traffic(0).missed, 160);
  // Four bytes that lie across two sectors are both.
  chip.LoadDirectly(0, later(30000), {.array = 1, .first_byte = 30, .row_stride = 0, .rows = 1, .row_bytes = 4});
  EXPECT_EQ(chip.use().dram_bytes, 160 + 64);
}

TEST(HopperChip, WhatIsOnItsWayFromDramIsWaitedFor) {
  const HopperCosts costs = H100();
  HopperChip chip(costs);
  const Ticks first = chip.Load(0, {}, Kilobytes(0, 1)), soon = TicksOf(Cycles(10));
  const Ticks second = chip.Load(1, soon, Kilobytes(0, 1));
  EXPECT_GE(CyclesOf(second), costs.tma_dram_latency);
  EXPECT_LE(second, first + soon);
  EXPECT_EQ(chip.use().dram_bytes, 1024);
  const Ticks late = TicksOf(Cycles(10000));
  EXPECT_LT(CyclesOf(chip.Load(2, late, Kilobytes(0, 1)) - late), costs.tma_dram_latency);
}

TEST(HopperChip, WhatIsStoredGoesToDramOnceWhileItIsInL2) {
  HopperCosts costs = H100();
  costs.l2_size = Bytes(2048);
  HopperChip chip(costs);
  chip.StoreDirectly(0, {}, Kilobytes(0, 1));
  EXPECT_EQ(chip.use().dram_bytes, 1024);
  chip.StoreDirectly(0, {}, Kilobytes(0, 1));
  EXPECT_EQ(chip.use().dram_bytes, 1024);
  EXPECT_EQ(chip.traffic(0).written, 2048);
  chip.Load(0, TicksOf(Cycles(5000)), Kilobytes(0, 1));  // a read of what was stored hits
  EXPECT_EQ(chip.use().dram_bytes, 1024);
  chip.Load(0, TicksOf(Cycles(9000)), Kilobytes(1, 2));  // takes all the room
  EXPECT_EQ(chip.use().dram_bytes, 1024 + 2048);
  chip.StoreDirectly(0, TicksOf(Cycles(12000)), Kilobytes(0, 1));
  EXPECT_EQ(chip.use().dram_bytes, 2 * 1024 + 2048);
  EXPECT_EQ(chip.least_dram_bytes(), 1024 + 2048) << "with room enough";
}

// Of a line with one sector that was stored that one goes.
TEST(HopperChip, SectorsThatAreStoredGoAlone) {
  const HopperCosts costs = H100();
  HopperChip chip(costs);
  chip.LoadDirectly(0, {}, Bytes32(0, 4));
  EXPECT_EQ(chip.use().dram_bytes, 128);
  chip.StoreDirectly(0, {}, Bytes32(2, 1));
  EXPECT_EQ(chip.use().dram_bytes, 128 + 32);
  chip.StoreDirectly(0, {}, Bytes32(2, 2));
  EXPECT_EQ(chip.use().dram_bytes, 128 + 2 * 32);
  EXPECT_EQ(chip.least_dram_bytes(), 128 + 2 * 32);
}

// Stores keep DRAM from loads.
TEST(HopperChip, WhatIsStoredTakesDramsTime) {
  const HopperCosts costs = H100();
  HopperChip idle(costs), busy(costs);
  for (std::int64_t i = 0; i < 4096; ++i) busy.StoreDirectly(i % costs.sms, {}, Kilobytes(1 + i, 1));  // 4 MB
  EXPECT_EQ(busy.use().dram_bytes, 4 << 20);
  const Cycles took = CyclesOf(busy.use().dram);
  EXPECT_NEAR(took.value(), (Bytes(4 << 20) / costs.dram).value(), 0.01 * took.value());
  EXPECT_GT(CyclesOf(busy.Load(0, {}, Kilobytes(0, 1)) - idle.Load(0, {}, Kilobytes(0, 1))), 0.9 * took);
}

TEST(HopperChip, ManySmsShareDram) {
  const HopperCosts costs = H100();
  HopperChip chip(costs);
  Ticks end;
  for (std::int64_t sm = 0; sm < costs.sms; ++sm) end = std::max(end, chip.Load(sm, {}, Kilobytes(sm, 32)));
  const Cycles shared = Bytes(static_cast<double>(costs.sms * 32 * 1024)) / costs.dram;
  EXPECT_NEAR(CyclesOf(end).value(), (shared + costs.tma_dram_latency).value(), 1);
}

TEST(HopperChip, WarpgroupsShareTheSlots) {
  const HopperCosts costs = H100();
  HopperChip chip(costs);
  const Burst burst = BurstOf(costs, Pipe::kFp32, 8192, 4);
  EXPECT_EQ(CyclesOf(chip.Compute(0, {}, burst)), burst.result);
  EXPECT_EQ(CyclesOf(chip.Compute(0, {}, burst)), burst.slot + burst.result);
  EXPECT_EQ(CyclesOf(chip.Compute(1, {}, burst)), burst.result);
}

// A warp has the quadrant of its number for itself; a warpgroup uses all four.
TEST(HopperChip, QuadrantsWorkBesideEachOther) {
  const HopperCosts costs = H100();
  HopperChip chip(costs);
  const Burst warp = BurstOf(costs, Pipe::kFp32, 3200, 1), group = BurstOf(costs, Pipe::kFp32, 12800, 4);
  EXPECT_EQ(CyclesOf(chip.Compute(0, {}, warp, 0)), warp.result);
  EXPECT_EQ(CyclesOf(chip.Compute(0, {}, warp, 1)), warp.result);
  EXPECT_EQ(CyclesOf(chip.Compute(0, {}, warp, 4)), warp.slot + warp.result);  // the first quadrant again
  EXPECT_EQ(CyclesOf(chip.Compute(0, {}, group)), 2 * warp.slot + group.result);
  EXPECT_EQ(chip.use().issue, TicksOf(Cycles((3 * 100 + 4 * 100) / 4.0)));
}

// While eight cycles of the transcendental pipe are one instruction, another warp adds; what both issue they share.
TEST(HopperChip, PipesOfAQuadrantWorkBesideEachOther) {
  const HopperCosts costs = H100();
  HopperChip chip(costs);
  const Burst powers = BurstOf(costs, Pipe::kTranscendental, 3200, 1), sums = BurstOf(costs, Pipe::kFp32, 3200, 1);
  EXPECT_EQ(powers.slot, 8 * sums.slot);
  EXPECT_EQ(powers.issue, sums.issue);
  EXPECT_EQ(CyclesOf(chip.Compute(0, {}, powers, 0)), powers.result);
  EXPECT_EQ(CyclesOf(chip.Compute(0, {}, sums, 0)), powers.issue + sums.result);
}

// The port has 128 bytes a cycle for both: what a product reads and what a copy writes.
// What copies write goes beside the port; where a description does not say so, they get what products leave of it.
TEST(HopperChip, CopiesWaitForProductsOnlyWhereThePortIsShared) {
  HopperCosts costs = H100();
  ASSERT_TRUE(costs.smem_landing.has_value());
  const auto beside_products = [&] {
    HopperChip alone(costs), busy(costs);
    const Ticks landed = alone.Load(0, {}, Kilobytes(0, 32));
    for (int i = 0; i < 20; ++i) busy.Multiply(0, {}, {.n = 64, .instructions = 4});  // 32 of each 32.9 cycles
    return busy.Load(0, {}, Kilobytes(0, 32)) - landed;
  };
  EXPECT_EQ(beside_products(), Ticks());
  costs.smem_landing.reset();
  EXPECT_GT(beside_products(), Ticks());
}

}  // namespace
}  // namespace palladion::timing::gpu::test
