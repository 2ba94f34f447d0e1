// The time of kernel text on a Hopper chip: by hand where a kernel is small, by comparison where it is not, and that a
// run in time is a run like any other.
#include "emu/timing/mosaic_gpu/timing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include "emu/kernel/arrays.h"
#include "emu/run/launch/run.h"
#include "emu/testing/rows_of_time.h"
#include "emu/timing/gpu/h100_test_util.h"
#include "emu/timing/mosaic_gpu/kernels_test_util.h"
#include "emu/timing/time_kernel.h"
#include "scheduler/policies/policies.h"

namespace palladion::timing::mosaic_gpu::test {
namespace {

using base::Timed;
using gpu::HopperCosts;
using gpu::test::H100;
using machines::Bytes;
using machines::Cycles;
using report::AllTraffic;
using report::Bound;
using report::L2HitRate;
using report::LineTime;
using report::Timing;
using timeline::kNoSpan;
using timeline::Lane;
using timeline::Span;
using timeline::SpanKind;
using timeline::Timeline;
using timeline::TimelineOptions;

const LineTime* LineOf(const Timing& timing, std::string_view op) {
  const auto found =
      std::find_if(timing.lines.begin(), timing.lines.end(), [&](const LineTime& line) { return line.op == op; });
  return found == timing.lines.end() ? nullptr : &*found;
}

double UseOf(const Timing& timing, std::string_view unit) {
  for (const report::UnitUse& use : timing.units) {
    if (use.unit == unit) return use.busy;
  }
  ADD_FAILURE() << "no unit " << unit;
  return 0;
}

bool SameBytes(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](const Tensor& x, const Tensor& y) {
           return x.num_bytes() == y.num_bytes() && std::memcmp(x.bytes(), y.bytes(), x.num_bytes()) == 0;
         });
}

// ---- a copy of 8 KB there and back

// Issue, the published latency of a copy from DRAM with its rows; issue, rows, the latency of L2; and a branch's worth
// of instructions for the wait.
TEST(GpuTiming, ACopyTakesItsIssueAndItsLatency) {
  const Timing timing = RunOf(CopyText(), MachineNamed("h100")).timed.timing;
  const HopperCosts costs = H100();
  const Cycles rows(64);
  const Cycles in = costs.tma_issue + rows + costs.tma_dram_latency,
               out = costs.tma_issue + rows + costs.tma_l2_latency;
  EXPECT_NEAR(timing.cycles.value(), (in + out + costs.alu_interval).value(), 3);
  EXPECT_EQ(timing.time, timing.launch + timing.cycles / timing.clock);
  EXPECT_EQ(timing.launch.value(), 1240);
  ASSERT_EQ(timing.traffic.size(), 2u);
  EXPECT_EQ(timing.traffic[0].read, Bytes(8192));
  EXPECT_EQ(timing.traffic[0].missed, Bytes(8192));
  EXPECT_EQ(timing.traffic[1].written, Bytes(8192));
  EXPECT_EQ(timing.memory, Bytes(2 * 8192));
  const LineTime* const wait = LineOf(timing, "barrier_wait");
  ASSERT_NE(wait, nullptr);
  EXPECT_NEAR(wait->waited.value(), (rows + costs.tma_dram_latency).value(), 1);
  EXPECT_EQ(wait->waited_for, "the copy that line 10 starts");
  EXPECT_EQ(timing.placement.blocks, 1);
  EXPECT_EQ(timing.placement.units, 1);
  EXPECT_EQ(timing.placement.limit, "the grid");
  EXPECT_EQ(timing.uncertainty, 0.28);
  EXPECT_FALSE(RunOf(CopyText(), MachineNamed("b200")).timed.timing.uncertainty.has_value())
      << "no published time of such a kernel was compared";
}

TEST(GpuTiming, AKernelForAnotherFamilyIsRefused) {
  const PreparedKernel tpu = Prepared(R"(pkir 1;
kernel @k {
  backend mosaic_tpu;
  in %x: f32[8,128];
  out %o: f32[8,128];
  grid [];
  body @k (%xr: ref<default,f32[8,128]> as "x_ref", %or: ref<default,f32[8,128]> as "o_ref") {
    %0 = get(%xr) : f32[8,128];
    _ = swap(%or, %0) : f32[8,128];
    return;
  }
}
)",
                                      "mosaic_tpu/v5e");
  const machines::Machine machine = MachineNamed("h100");
  const std::vector<Tensor> inputs = InputsOf(tpu);
  const absl::Status status = TimeKernel({tpu, inputs, machine, {}}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  const PreparedKernel blackwell = Prepared(CopyText(), "mosaic_gpu/b200");
  EXPECT_EQ(TimeKernel({blackwell, InputsOf(blackwell), machine, {}}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(GpuTiming, ANumberThatTheMachineLacksIsNamed) {
  std::string text = MachineNamed("h100").Print();
  const std::size_t line = text.find("smem.latency");
  text.erase(line, text.find('\n', line) + 1 - line);
  const absl::StatusOr<machines::Machine> machine = machines::Machine::Parse(text, "h100.machine");
  ASSERT_TRUE(machine.ok()) << machine.status();
  const PreparedKernel kernel = Prepared(CopyText(), "mosaic_gpu/h100");
  const absl::Status status = TimeOnGpu({kernel, InputsOf(kernel), *machine, {}}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_NE(std::string(status.message()).find("smem.latency"), std::string::npos) << status;
}

// ---- the timeline

TEST(GpuTiming, ATimelineHasThreadsCopiesAndProductsOfItsSm) {
  const std::string text = MatmulText({.m = 128, .n = 256, .k = 256, .slots = 2});
  const PreparedKernel kernel = Prepared(text, "mosaic_gpu/h100");
  const std::vector<Tensor> inputs = InputsOf(kernel);
  const machines::Machine machine = MachineNamed("h100");
  const absl::StatusOr<Timed> timed = TimeKernel({kernel, inputs, machine, {}, TimelineOptions{}});
  ASSERT_TRUE(timed.ok()) << timed.status();
  ASSERT_TRUE(timed->timeline.has_value());
  const Timeline& timeline = *timed->timeline;
  EXPECT_EQ("SM 0", timeline.of);
  std::map<SpanKind, int> spans;
  int slots = 0;
  for (const Span& span : timeline.spans) {
    ++spans[span.kind];
    slots = std::max(slots, span.slot + 1);
    EXPECT_LE(span.begin.value(), span.end.value());
    if (span.kind != SpanKind::kWait || span.ended_by == kNoSpan) continue;
    EXPECT_LE(timeline.spans[static_cast<std::size_t>(span.ended_by)].begin.value(), span.end.value());
  }
  for (const SpanKind kind : {SpanKind::kWork, SpanKind::kWait, SpanKind::kCopyIn, SpanKind::kMultiply})
    EXPECT_GT(spans[kind], 0) << static_cast<int>(kind);
  EXPECT_EQ(2, slots);
  // Without the option nothing is recorded, and the time is the same.
  const absl::StatusOr<Timed> without = TimeKernel({kernel, inputs, machine, {}});
  ASSERT_TRUE(without.ok());
  EXPECT_FALSE(without->timeline.has_value());
  EXPECT_EQ(without->timing.cycles.value(), timed->timing.cycles.value());
}

std::vector<std::string> WhatIn(const Timeline& timeline, const std::string& group, const std::string& lane) {
  std::vector<std::string> what;
  for (const Span& span : timeline.spans) {
    const Lane& of = timeline.lanes[static_cast<std::size_t>(span.lane)];
    if (of.group == group && of.name == lane) what.push_back(span.what);
  }
  return what;
}

TEST(GpuTiming, ATimelineHasPhasesOfBarriersAndSlotsOfSharedMemory) {
  const std::string text = MatmulText({.m = 64, .n = 128, .k = 256, .slots = 2});
  const PreparedKernel kernel = Prepared(text, "mosaic_gpu/h100");
  const std::vector<Tensor> inputs = InputsOf(kernel);
  const machines::Machine machine = MachineNamed("h100");
  const absl::StatusOr<Timed> timed = TimeKernel({kernel, inputs, machine, {}, TimelineOptions{}});
  ASSERT_TRUE(timed.ok()) << timed.status();
  const Timeline& timeline = *timed->timeline;
  using Strings = std::vector<std::string>;
  EXPECT_EQ(WhatIn(timeline, "barriers", "full[1]"), (Strings{"full[1], phase 0", "2 of 2 pending", "1 of 2 pending",
                                                              "full[1], phase 1", "2 of 2 pending", "1 of 2 pending"}));
  EXPECT_EQ(WhatIn(timeline, "barriers", "empty[0]").size(), 3u);  // a phase for each time that the slot was free
  EXPECT_EQ(WhatIn(timeline, "shared memory", "a[0]"),
            (Strings{"x_ref[0:64, 0:64] -> a[0]", "wgmma_ref a[0] b[0]", "x_ref[0:64, 128:192] -> a[0]",
                     "wgmma_ref a[0] b[0]"}));
  EXPECT_FALSE(WhatIn(timeline, "units", "tensor cores").empty());
  EXPECT_FALSE(WhatIn(timeline, "units", "copy engine").empty());
  int ended = 0, waits = 0;
  for (const Span& span : timeline.spans) {
    const bool phase = span.kind == SpanKind::kPhase && span.what.starts_with("full");
    const bool wait = span.kind == SpanKind::kWait && span.what.starts_with("barrier_wait full");
    ended += phase || wait ? 1 : 0;
    waits += wait ? 1 : 0;
    if (!phase && !wait) continue;
    ASSERT_NE(span.ended_by, kNoSpan) << span.what;
    const Span& by = timeline.spans[static_cast<std::size_t>(span.ended_by)];
    EXPECT_EQ(by.kind, SpanKind::kCopyIn) << span.what;
    EXPECT_NEAR(by.end.value(), span.end.value(), 0.01) << span.what;
    EXPECT_EQ(by.slot, span.slot) << span.what;
  }
  EXPECT_EQ(ended - waits, 4);
  EXPECT_GT(waits, 0);
}

TEST(GpuTiming, OnlyTheChosenSmHasLanes) {
  const std::string text = MatmulText({.m = 128, .n = 256, .k = 256, .slots = 2});
  const PreparedKernel kernel = Prepared(text, "mosaic_gpu/h100");
  const std::vector<Tensor> inputs = InputsOf(kernel);
  const machines::Machine machine = MachineNamed("h100");
  const absl::StatusOr<Timed> timed = TimeKernel({kernel, inputs, machine, {}, TimelineOptions{.unit = 3}});
  ASSERT_TRUE(timed.ok()) << timed.status();
  EXPECT_EQ(WhatIn(*timed->timeline, "barriers", "full[1]").size(), 6u);
  EXPECT_EQ(WhatIn(*timed->timeline, "shared memory", "a[0]")[0], "x_ref[64:128, 0:64] -> a[0]");
  const absl::StatusOr<Timed> idle = TimeKernel({kernel, inputs, machine, {}, TimelineOptions{.unit = 100}});
  ASSERT_TRUE(idle.ok()) << idle.status();
  ASSERT_EQ(idle->timeline->spans.size(), 1u);
  EXPECT_EQ(idle->timeline->spans[0].what, "no block on this SM; others run");
}

TEST(GpuTiming, EverythingDrawnHasANameAndTheBlocksOfTheSmAreThere) {
  const std::string text = MatmulText({.m = 128, .n = 256, .k = 256, .slots = 2});
  const PreparedKernel kernel = Prepared(text, "mosaic_gpu/h100");
  const std::vector<Tensor> inputs = InputsOf(kernel);
  const machines::Machine machine = MachineNamed("h100");
  const absl::StatusOr<Timed> timed = TimeKernel({kernel, inputs, machine, {}, TimelineOptions{.unit = 3}});
  ASSERT_TRUE(timed.ok()) << timed.status();
  const Timeline& timeline = *timed->timeline;
  for (const Lane& lane : timeline.lanes) EXPECT_TRUE(!lane.name.empty() && !lane.group.empty());
  for (const timeline::Strip& strip : timeline.strips) EXPECT_FALSE(strip.name.empty());
  for (const Span& span : timeline.spans) {
    EXPECT_FALSE(span.what.empty()) << timeline.lanes[static_cast<std::size_t>(span.lane)].name << " at "
                                    << span.begin.value();
  }
  const std::vector<std::string> blocks = WhatIn(timeline, "units", "blocks of this SM");
  ASSERT_FALSE(blocks.empty());
  EXPECT_TRUE(blocks[0].starts_with("block (")) << blocks[0];
}

// ---- a run in time is a run

TEST(GpuTiming, TimeChangesNoResult) {
  const std::string text = MatmulText({.m = 128, .n = 256, .k = 256, .slots = 2});
  const GpuRun timed = RunOf(text, MachineNamed("h100"), {.values = true});
  const PreparedKernel kernel = Prepared(text);
  const absl::StatusOr<RunResult> plain = palladion::Run(kernel, InputsOf(kernel));
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_TRUE(SameBytes(timed.outputs, plain->outputs));
  EXPECT_TRUE(timed.timed.report.findings.empty());
}

TEST(GpuTiming, ItsMovesReplayWithoutAClock) {
  const std::string text = MatmulText({.m = 128, .n = 256, .k = 256, .slots = 2});
  const GpuRun timed = RunOf(text, MachineNamed("h100"), {.values = true, .record = true});
  ASSERT_FALSE(timed.result.run.moves.empty());
  const PreparedKernel kernel = Prepared(text);
  std::vector<Tensor> outputs = *kernel::NewOutputs(kernel), inputs = InputsOf(kernel);
  scheduler::ReplayPolicy replay(timed.result.run.moves);
  agents::LaunchOptions options{.mode = agents::ExecutionMode::kThreads, .clusters_at_once = 132};
  const std::vector<ConstArray> in = kernel::ArraysOf(inputs);
  const std::vector<MutableArray> out = kernel::MutableArraysOf(outputs);
  const absl::StatusOr<agents::Ran> again = launch::Run({kernel.state(), in, out}, options, replay);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(replay.not_made(), 0u);
  EXPECT_EQ(again->run.steps, timed.result.run.steps);
  EXPECT_TRUE(SameBytes(outputs, timed.outputs));
}

TEST(GpuTiming, WithoutValuesItTakesAsLong) {
  const std::string text = MatmulText({.m = 128, .n = 256, .k = 256, .slots = 3});
  const GpuRun with = RunOf(text, MachineNamed("h100"), {.values = true});
  const GpuRun without = RunOf(text, MachineNamed("h100"));
  EXPECT_FALSE(SameBytes(with.outputs, without.outputs)) << "nothing was elided";
  EXPECT_EQ(with.timed.timing.cycles, without.timed.timing.cycles);
  EXPECT_EQ(with.result.run.steps, without.result.run.steps);
}

TEST(GpuTiming, TheSameCallGivesTheSameTiming) {
  const Timing once = TimeOf({.m = 256, .n = 512, .k = 512}), again = TimeOf({.m = 256, .n = 512, .k = 512});
  EXPECT_EQ(once.cycles, again.cycles);
  ASSERT_EQ(once.lines.size(), again.lines.size());
  for (std::size_t i = 0; i < once.lines.size(); ++i) {
    EXPECT_EQ(once.lines[i].busy, again.lines[i].busy);
    EXPECT_EQ(once.lines[i].waited, again.lines[i].waited);
    EXPECT_EQ(once.lines[i].waited_for, again.lines[i].waited_for);
  }
}

// ---- matrix products

// Without a second slot each step waits for its copies, from when the one before it was multiplied.
TEST(GpuTiming, AMissingSecondSlotIsExposedLatency) {
  const auto cycles = [](std::int64_t slots) {
    return TimeOf({.m = 64, .n = 128, .k = 4096, .slots = slots}, {"tma.dram_latency=595 ns"}).cycles;
  };
  const Cycles one = cycles(1), two = cycles(2), four = cycles(4), eight = cycles(8);
  constexpr double kSteps = 64;
  const HopperCosts costs = H100();
  EXPECT_GT(one, kSteps * costs.tma_dram_latency);
  EXPECT_GT(one, 1.8 * two);
  EXPECT_GT(two, 1.8 * four);
  EXPECT_LE(eight, four);
}

TEST(GpuTiming, TimeGrowsWithK) {
  const auto cycles = [](std::int64_t k) { return TimeOf({.m = 64, .n = 128, .k = k, .slots = 4}).cycles.value(); };
  const double first = cycles(1024), second = cycles(2048), third = cycles(3072);
  EXPECT_NEAR((third - second) / (second - first), 1, 0.02);
  EXPECT_GT(second - first, 0.5 * first);
}

TEST(GpuTiming, ProductsAndBytesAreCounted) {
  const HopperCosts costs = H100();
  const Timing timing = TimeOf({.m = 128, .n = 256, .k = 512, .slots = 4});
  EXPECT_EQ(timing.flops, 2.0 * 128 * 256 * 512);
  const double instructions = 4 * 8 * 4;  // tiles, steps, of a step
  const Cycles tensor = instructions * gpu::WgmmaInterval(costs, 128, gpu::Left::kShared);
  EXPECT_NEAR(UseOf(timing, "tensor cores") * timing.cycles.value() * 132, tensor.value(), 1);
  ASSERT_EQ(timing.traffic.size(), 3u);
  EXPECT_EQ(L2HitRate(timing.traffic[0]), 0.5);
  EXPECT_FALSE(L2HitRate(timing.traffic[2]).has_value()) << "nobody read it";
  EXPECT_EQ(timing.traffic[0].read, Bytes(2 * 128 * 512 * 2));  // by each column of tiles
  EXPECT_EQ(timing.traffic[0].missed, Bytes(128 * 512 * 2));
  EXPECT_EQ(timing.traffic[2].written, Bytes(128 * 256 * 4));
  EXPECT_EQ(timing.placement.blocks, 4);
  EXPECT_EQ(timing.placement.units, 4);
  const auto product = std::find_if(timing.roofline.begin(), timing.roofline.end(),
                                    [](const Bound& bound) { return bound.limit == "matrix products"; });
  ASSERT_NE(product, timing.roofline.end());
  EXPECT_NEAR(product->time.value(), timing.flops / (4096.0 * 132 * timing.clock.value()) * 1e9, 1e-6);
  for (const Bound& bound : timing.roofline) EXPECT_LT(bound.time, timing.time) << bound.limit;
  EXPECT_NE(
      std::find(timing.left_out.begin(), timing.left_out.end(), "how the clock falls while the tensor cores are busy"),
      timing.left_out.end());
}

// An L2 that holds little: rows of tiles that are done together share what they read of y.
TEST(GpuTiming, TheOrderOfTilesChangesWhatL2Misses) {
  const TiledMatmul rows{.m = 1024, .n = 1024, .k = 512, .slots = 4};
  TiledMatmul grouped = rows;
  grouped.group = 8;
  const std::vector<std::string> small = {"l2.size=256 KiB", "chip.cores=16"};
  const auto missed = [&](const TiledMatmul& shape) {
    double bytes = 0;
    for (const report::OperandTraffic& traffic : TimeOf(shape, small).traffic) bytes += traffic.missed->value();
    return bytes;
  };
  EXPECT_GT(missed(rows), 1.3 * missed(grouped));
  EXPECT_LT(*L2HitRate(AllTraffic(TimeOf(rows, small).traffic)),
            *L2HitRate(AllTraffic(TimeOf(grouped, small).traffic)));
}

// ---- blocks

// Two blocks of a cluster that fetch the same 8 KB: together, or each for itself.
std::string SharedCopyText(const std::string& axes) {
  return R"(pkir 1;
kernel @copy {
  backend mosaic_gpu;
  in %x: f32[64,32] space gmem;
  out %o: f32[2,64,32] space gmem;
  mesh gpu {grid=[], grid_names=[], cluster=[2], cluster_names=["c"], threads=none, thread_name=none};
  body @copy (%xr: ref<gmem,f32[64,32]> as "x_ref", %or: ref<gmem,f32[2,64,32]> as "o_ref") {
    run_scoped{collective_axes=[]}() (%a: ref<smem,f32[64,32]> as "a",
        %full: ref<smem,barrier{arrivals=1, orders_tensor_core=false}[1]> as "full") {
      %c = axis_index{axis="c"}() : i32[];
      copy_gmem_to_smem{collective_axes=)" +
         axes + R"(, leader_tracked=none, oob_mode=zeros}(src=%xr, dst=%a, barrier=%full);
      barrier_wait(barrier=%full);
      %v = get(%a) : f32[64,32];
      _ = swap(%or.at[%c, *, *], %v) : f32[64,32];
      return;
    };
    return;
  }
}
)";
}

TEST(GpuTiming, AMulticastAsksL2Once) {
  const machines::Machine machine = MachineNamed("h100");
  const Timing apart = RunOf(SharedCopyText("none"), machine).timed.timing;
  const Timing together = RunOf(SharedCopyText("[\"c\"]"), machine).timed.timing;
  EXPECT_EQ(apart.traffic[0].read, Bytes(2 * 8192));
  EXPECT_EQ(together.traffic[0].read, Bytes(8192));
  EXPECT_EQ(apart.placement.units, 2);
  EXPECT_EQ(together.placement.units, 2);
}

// What a region keeps in its state is in registers.
TEST(GpuTiming, StateOfARegionCostsNothing) {
  const std::string text = CopyText(R"(      %s = run_state(0:i32) (%r: ref<default,i32[]>) {
        %v = get(%r) : i32[];
        _ = swap(%r, %v) : i32[];
        return;
      } : i32[];
)");
  const GpuRun with = RunOf(text, MachineNamed("h100")), without = RunOf(CopyText(), MachineNamed("h100"));
  EXPECT_EQ(with.timed.timing.cycles, without.timed.timing.cycles);
}

// Of both threads of each place: 33 blocks, of which four SMs hold a few each.
TEST(GpuTiming, RowsOfLinesLaunchesEndedThreadsAndTheTailAreTheWhole) {
  const Timing timing = TimeOf({.m = 64 * 33, .slots = 4}, {"chip.cores=4"});
  ASSERT_TRUE(timing.whole.has_value());
  EXPECT_EQ(MissingOfTheRows(timing), "");
  std::vector<std::string> names;
  for (const report::Whole::Part& part : timing.whole->rest) {
    names.push_back(part.name);
    EXPECT_GT(part.time.value(), 0) << part.name;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"launch of the kernel", "launches of later blocks",
                                             "threads that have ended, until their block has",
                                             "tail: places without a block at the end"}));
  const std::int64_t threads = 2 * 4 * timing.placement.at_once;
  EXPECT_EQ(timing.whole->of, Cat(threads, " threads of places for blocks"));
  const double all = static_cast<double>(threads) * (timing.time * timing.clock).value();
  EXPECT_NEAR(timing.whole->time.value(), all, 1e-6 * all);
}

TEST(GpuTiming, BlocksThatDoNotFitBeginWhereOthersEnd) {
  const TiledMatmul shape{.m = 64, .n = 1024, .k = 512, .slots = 4};  // eight tiles, of 100 KB
  const Timing all = TimeOf(shape), few = TimeOf(shape, {"chip.cores=2"});
  EXPECT_EQ(all.placement.units, 8);
  EXPECT_EQ(all.placement.limit, "the grid");
  ASSERT_TRUE(all.placement.waves.has_value() && few.placement.waves.has_value());
  EXPECT_EQ(all.placement.waves->count, 1);
  EXPECT_EQ(all.placement.waves->last, 8 / 264.0);  // two fit on each of 132
  EXPECT_EQ(few.placement.waves->count, 2);
  EXPECT_EQ(few.placement.waves->last, 1);
  const Timing odd = TimeOf(shape, {"chip.cores=3"});
  EXPECT_EQ(odd.placement.waves->count, 2);
  EXPECT_NEAR(odd.placement.waves->last, 2 / 6.0, 1e-12);
  EXPECT_EQ(few.placement.units, 2);
  EXPECT_EQ(few.placement.at_once, 2);
  EXPECT_NE(few.placement.limit.find("2 SMs hold 2 blocks each"), std::string::npos) << few.placement.limit;
  EXPECT_GT(few.cycles, 1.5 * all.cycles);
  const Timing slower = TimeOf(shape, {"chip.cores=2", "launch.replace=5000"});
  EXPECT_NEAR((slower.cycles - few.cycles).value(), 3800, 400);  // one replacement on the path of each
}

}  // namespace
}  // namespace palladion::timing::mosaic_gpu::test
