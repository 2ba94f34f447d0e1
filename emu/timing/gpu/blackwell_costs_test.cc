// Laws of tcgen05 and of tensor memory, against the published numbers that they were made from, against others that
// they were not made from, and against counting.
#include "emu/timing/gpu/blackwell_costs.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "emu/timing/base/ticks.h"
#include "emu/timing/gpu/b200_test_util.h"
#include "emu/timing/gpu/chip.h"

namespace palladion::timing::gpu::test {
namespace {

using base::CyclesOf;
using machines::Bytes;
using machines::Cycles;
using scheduler::Ticks;

double IntervalOf(const BlackwellCosts& costs, TensorProduct product, std::int64_t n) {
  product.n = n;
  const absl::StatusOr<BlackwellCosts::Form> form = FormOf(costs, product);
  EXPECT_TRUE(form.ok()) << form.status();
  return Tcgen05Interval(*form, n).value();
}

// From the issue of one instruction until a wait for its commit returns.
double LatencyOf(const BlackwellCosts& costs, TensorProduct product, std::int64_t n) {
  product.n = n;
  const absl::StatusOr<TensorWork> work = WorkOf(costs, product, 1);
  EXPECT_TRUE(work.ok()) << work.status();
  return (work->pipe + work->drain).value();
}

// SemiAnalysis, umma_* on a B200: cycles from one instruction to the next. The laws were fitted to these.
struct Intervals {
  TensorProduct form;
  std::array<double, 6> cycles;  // N = 64, 80, 96, 112, 128, 256
  double error;
};
const Intervals kIntervals[] = {
    {{.m = 128}, {48, 52, 56, 60, 64, 128}, 0},
    {{.m = 128, .left_in_tensor_memory = true}, {32, 40, 48, 56, 64, 128}, 0},
    {{.m = 64}, {32, 40, 48, 56, 64, 128}, 0},
    {{.m = 128, .pair = true}, {25, 27, 29, 30, 32, 64}, 0.05},
    {{.m = 256, .pair = true}, {43, 45.3, 49.4, 56, 64, 128}, 0.06},
};
constexpr std::array<std::int64_t, 6> kColumns = {64, 80, 96, 112, 128, 256};

TEST(BlackwellCosts, ProductsTakeWhatWasMeasured) {
  const BlackwellCosts costs = B200();
  for (const Intervals& row : kIntervals) {
    for (std::size_t i = 0; i < kColumns.size(); ++i) {
      EXPECT_NEAR(IntervalOf(costs, row.form, kColumns[i]) / row.cycles[i], 1, row.error + 1e-9)
          << row.form.m << " rows, N = " << kColumns[i];
    }
  }
  for (const auto& [n, cycles] : {std::pair{64, 32.0}, {128, 64.0}, {256, 128.0}})
    EXPECT_EQ(IntervalOf(costs, {.m = 256, .pair = true, .left_in_tensor_memory = true}, n), cycles);
}

// The same, umma_latency. Fitted as well.
TEST(BlackwellCosts, CommitsTakeWhatWasMeasured) {
  const BlackwellCosts costs = B200();
  struct Row {
    TensorProduct form;
    std::array<double, 3> cycles;  // N = 64, 128, 256
    double error;
  };
  const Row kMeasured[] = {{{.m = 128}, {168, 200, 264}, 0},
                           {{.m = 64}, {152, 184, 248}, 0},
                           {{.m = 128, .left_in_tensor_memory = true}, {136, 168, 232}, 0},
                           {{.m = 256, .pair = true}, {202, 234, 298}, 0},
                           {{.m = 128, .pair = true}, {173, 197, 229}, 0.04}};
  for (const Row& row : kMeasured) {
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_NEAR(LatencyOf(costs, row.form, 64 << i) / row.cycles[i], 1, row.error + 1e-9) << row.form.m << ", " << i;
  }
}

// The same, pipeline_depth: so many in flight keep the pipe busy. Nothing was fitted to these.
TEST(BlackwellCosts, AsManyInFlightAsWasMeasuredKeepThePipeBusy) {
  const BlackwellCosts costs = B200();
  const auto depth = [&](const TensorProduct& form, std::int64_t n) {
    return std::ceil(LatencyOf(costs, form, n) / IntervalOf(costs, form, n));
  };
  EXPECT_EQ(depth({.m = 128}, 64), 4);
  EXPECT_EQ(depth({.m = 128}, 128), 4);
  EXPECT_EQ(depth({.m = 128}, 256), 3);
  EXPECT_EQ(depth({.m = 128, .left_in_tensor_memory = true}, 128), 3);
  EXPECT_EQ(depth({.m = 128, .left_in_tensor_memory = true}, 256), 2);
  EXPECT_EQ(depth({.m = 128, .pair = true}, 128), 7);
  EXPECT_EQ(depth({.m = 128, .pair = true}, 256), 4);
  EXPECT_EQ(depth({.m = 256, .pair = true}, 64), 5);
  EXPECT_EQ(depth({.m = 256, .pair = true}, 128), 4);
  EXPECT_EQ(depth({.m = 256, .pair = true}, 256), 3);
}

// gb300-microbench, of a B300: FLOP a cycle of each SM for so many products and what begins and ends them, M = 128 of
// one SM. Nothing was fitted to these. What begins and ends there takes longer than a commit: docs/explanation/time.md.
TEST(BlackwellCosts, ChainsTakeNearlyWhatWasMeasured) {
  const BlackwellCosts costs = B200();
  struct Row {
    std::int64_t n, products;
    double flops, error;
  };
  constexpr Row kMeasured[] = {{256, 4, 5599, 0.16},  {128, 4, 3489, 0.54},   {256, 16, 7008, 0.10},
                               {256, 64, 7841, 0.03}, {256, 256, 8101, 0.01}, {128, 16, 6652, 0.10},
                               {128, 64, 7706, 0.03}, {128, 256, 8065, 0.01}, {64, 64, 4942, 0.07},
                               {64, 256, 5321, 0.02}};
  for (const Row& row : kMeasured) {
    GpuChip chip(costs);
    const std::int64_t sm = 0;
    const absl::StatusOr<TensorWork> work = WorkOf(costs, {.m = 128, .n = row.n}, row.products);
    ASSERT_TRUE(work.ok()) << work.status();
    const double found = work->flops16 / CyclesOf(chip.Multiply({&sm, 1}, {}, *work)).value();
    EXPECT_NEAR(found / row.flops, 1, row.error) << row.products << " of N = " << row.n;
    EXPECT_GT(found, row.flops);
  }
}

// What an instruction reads goes through the port in its interval, or the port would be the limit.
TEST(BlackwellCosts, OperandsFitThroughThePort) {
  const BlackwellCosts costs = B200();
  for (const Intervals& row : kIntervals) {
    for (const std::int64_t n : kColumns) {
      TensorProduct product = row.form;
      product.n = n;
      EXPECT_LE(Tcgen05Port(costs, product).value(), IntervalOf(costs, row.form, n)) << row.form.m << ", " << n;
    }
  }
  EXPECT_EQ(Tcgen05Port(costs, {.m = 128, .n = 128}), Cycles(64));
  EXPECT_EQ(Tcgen05Port(costs, {.m = 256, .n = 256, .pair = true}), Cycles(64));
  EXPECT_EQ(Tcgen05Port(costs, {.m = 128, .n = 128, .left_in_tensor_memory = true}), Cycles(32));
}

// SemiAnalysis, CUTLASS main loops: however small N is. Fitted.
TEST(BlackwellCosts, SmallProductsTakeALeastTime) {
  EXPECT_EQ(IntervalOf(B200(), {.m = 128}, 8), 40);
  EXPECT_EQ(IntervalOf(B200(), {.m = 64}, 8), 28);
}

TEST(BlackwellCosts, AProductIsMadeOfInstructions) {
  EXPECT_EQ(*Tcgen05Instructions(64, DType::kF16, DType::kF16), 4);
  EXPECT_EQ(*Tcgen05Instructions(64, DType::kF32, DType::kF32), 8);
  EXPECT_EQ(*Tcgen05Instructions(64, DType::kF8E4M3FN, DType::kF8E5M2), 2);
  EXPECT_EQ(*Tcgen05Instructions(64, DType::kF4E2M1FN, DType::kF4E2M1FN), 1);
  EXPECT_EQ(*Tcgen05Instructions(64, DType::kF6E3M2FN, DType::kF4E2M1FN), 2);
  const absl::Status odd = Tcgen05Instructions(24, DType::kF16, DType::kF16).status();
  EXPECT_EQ(odd.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(odd.message().find("384 bits"), absl::string_view::npos) << odd;
}

TEST(BlackwellCosts, WhatWasNeverMeasuredIsAnError) {
  const BlackwellCosts costs = B200();
  const absl::Status form = FormOf(costs, {.m = 64, .n = 128, .left_in_tensor_memory = true}).status();
  EXPECT_EQ(form.code(), absl::StatusCode::kUnimplemented);
  EXPECT_NE(form.message().find("64 rows by one SM"), absl::string_view::npos) << form;
  const absl::Status commit =
      WorkOf(costs, {.m = 256, .n = 128, .pair = true, .left_in_tensor_memory = true}, 1).status();
  EXPECT_EQ(commit.code(), absl::StatusCode::kNotFound);
  EXPECT_NE(commit.message().find("A is in tensor memory"), absl::string_view::npos) << commit;
}

TEST(BlackwellCosts, MachinesGiveWhatTheyHave) {
  EXPECT_EQ(BlackwellCostsOf(**machines::FindMachine("h100")).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(HopperCostsOf(**machines::FindMachine("b200")).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CostsOf(**machines::FindMachine("v5e")).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CostsOf(**machines::FindMachine("b200"))->index(), 1U);
}

// quickruncuda, of a B300: 128 x 256 sums by four warps take some 620 cycles; a warp reaches a quarter.
TEST(BlackwellCosts, TensorMemoryIsReadInQuarters) {
  const BlackwellCosts costs = B200();
  const Bytes sums(128 * 256 * 4);
  EXPECT_NEAR(TensorLoad(costs, sums, 4).result.value(), 620, 5);
  EXPECT_EQ(TensorLoad(costs, sums, 1).result, 4 * TensorLoad(costs, sums, 4).result);
  EXPECT_EQ(TensorLoad(costs, sums, 1).slot, TensorLoad(costs, sums, 8).slot);
  EXPECT_LT(TensorStore(costs, sums, 4).result, TensorLoad(costs, sums, 4).result);
}

TEST(BlackwellCosts, ACopyToTensorMemoryGoesThroughThePort) {
  const TensorWork copy = TensorCopy(B200(), Bytes(4096));
  EXPECT_EQ(copy.port, Cycles(32));
  EXPECT_EQ(copy.pipe, Cycles(32));
}

TEST(BlackwellChip, APairTakesBothSms) {
  const BlackwellCosts costs = B200();
  GpuChip chip(costs);
  const std::array<std::int64_t, 2> both = {0, 1};
  const TensorWork pair = *WorkOf(costs, {.m = 256, .n = 256, .pair = true}, 4);
  const TensorWork alone = *WorkOf(costs, {.m = 128, .n = 256}, 4);
  const Ticks end = chip.Multiply(both, {}, pair);
  EXPECT_EQ(CyclesOf(end), pair.pipe + pair.drain);
  for (const std::int64_t sm : both)
    EXPECT_EQ(CyclesOf(chip.Multiply({&sm, 1}, {}, alone)), pair.pipe + alone.pipe + alone.drain);
  EXPECT_EQ(pair.flops16, 2 * alone.flops16);
}

// SemiAnalysis, CUTLASS main loops: copies land at 122 bytes a cycle beside products that read 128. Fitted: on a chip
// whose copies share the port, as a Hopper's do, both would take twice as long.
TEST(BlackwellChip, CopiesLandBesideWhatProductsRead) {
  constexpr std::int64_t kRows = 256, kRowBytes = 128;
  BlackwellCosts costs = B200();
  const auto landed = [&] {
    GpuChip chip(costs);
    const std::int64_t sm = 0;
    const TensorWork reads = *WorkOf(costs, {.m = 128, .n = 128}, 64);
    chip.Multiply({&sm, 1}, {}, reads);  // 4096 cycles, in each of which the port is busy
    return CyclesOf(chip.Load(0, {}, {.array = 0, .row_stride = kRowBytes, .rows = kRows, .row_bytes = kRowBytes}));
  };
  const Cycles alone = Cycles(kRows) + costs.tma_dram_latency;
  EXPECT_NEAR(landed().value(), alone.value(), 1);
  costs.smem_landing.reset();
  EXPECT_GT(landed(), Cycles(4096));
}

// The same source, tma2d_throughput: GB/s from DRAM with so many bytes of each SM in flight, the middle of its runs.
// Nothing was fitted to these. Below 64 KB the latency decides, which comes from main loops at 1.3 GHz and is too long
// at the clock of these runs: docs/explanation/time.md.
TEST(BlackwellChip, DramGivesNearlyWhatWasMeasured) {
  struct Row {
    std::int64_t kilobytes;
    double gigabytes, share;  // published; what is found of it
  };
  constexpr Row kMeasured[] = {{4, 1148, 0.63},  {8, 2037, 0.70},  {16, 3590, 0.78},
                               {32, 5645, 0.94}, {64, 7143, 0.99}, {128, 7122, 1.00}};
  constexpr std::int64_t kTurns = 40, kRowBytes = 128, kInFlight = 2;
  const BlackwellCosts costs = B200();
  for (const Row& row : kMeasured) {
    GpuChip chip(costs);
    const std::int64_t rows = row.kilobytes * 1024 / kRowBytes / kInFlight;
    std::vector<Ticks> free(static_cast<std::size_t>(costs.sms * kInFlight));
    std::int64_t next = 0;
    Ticks end;
    for (std::int64_t turn = 0; turn < kTurns; ++turn) {
      for (std::size_t slot = 0; slot < free.size(); ++slot) {
        const std::int64_t sm = static_cast<std::int64_t>(slot) / kInFlight, bytes = rows * kRowBytes;
        free[slot] = chip.Load(
            sm, free[slot] + base::TicksOf(costs.tma_issue),
            {.array = 0, .first_byte = bytes * next++, .row_stride = kRowBytes, .rows = rows, .row_bytes = kRowBytes});
        end = std::max(end, free[slot]);
      }
    }
    const double seconds = (CyclesOf(end) / costs.clock).value() * 1e-9;
    const double found = static_cast<double>(chip.use().dram_bytes) / seconds * 1e-9;
    EXPECT_NEAR(found / row.gigabytes, row.share, 0.01) << row.kilobytes << " KB: " << found;
  }
}

TEST(BlackwellChip, WarpgroupsShareTensorMemorysPorts) {
  const BlackwellCosts costs = B200();
  GpuChip chip(costs);
  const Burst load = TensorLoad(costs, Bytes(65536), 4), store = TensorStore(costs, Bytes(65536), 4);
  chip.LoadTensor(0, {}, load);
  EXPECT_NEAR(CyclesOf(chip.LoadTensor(0, {}, load)).value(), 2 * load.result.value(), 0.01);
  EXPECT_NEAR(CyclesOf(chip.StoreTensor(0, {}, store)).value(), store.result.value(), 0.01);
  EXPECT_NEAR(CyclesOf(chip.LoadTensor(1, {}, load)).value(), load.result.value(), 0.01);
  EXPECT_NEAR(CyclesOf(chip.use().tensor_loads).value(), 3 * load.slot.value(), 0.01);
}

}  // namespace
}  // namespace palladion::timing::gpu::test
