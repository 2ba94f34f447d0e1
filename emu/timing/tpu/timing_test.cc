// The time of kernels on TPUs: laws that hold whatever the numbers are, and the published figures of units.
#include "emu/timing/tpu/timing.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "emu/emulate.h"
#include "emu/timing/tpu/costs.h"
#include "emu/timing/tpu/timing_test_util.h"
#include "emu/values.h"
#include "semantics/base/cat.h"

namespace palladion::timing::tpu {
namespace {

using base::Timed;
using report::LineTime;
using report::PathPart;
using report::Timing;

double CyclesOfMatmul(std::int64_t m, std::int64_t k, std::int64_t n, std::int64_t block, const std::string& chip) {
  return TimeText(Matmul({m, k, n}, {block, block, block}), chip).timing.cycles.value();
}

double BusyOf(const Timing& timing, const std::string& unit) {
  for (const report::UnitUse& use : timing.units) {
    if (use.unit.find(unit) != std::string::npos) return use.busy;
  }
  ADD_FAILURE() << "no unit " << unit;
  return 0;
}

TEST(TpuTiming, APipelineShowsTheBubbleOfTheFirstAndTheLastStep) {
  const Timing timing = TimeText(Doubled(2048, 256), "v5e").timing;
  const double block = 256 * 1024 * 4, hbm = timing.clock.value() / 0.73e12;  // cycles of a byte
  const LineTime &x = LineOf(timing, "block of x"), &o = LineOf(timing, "block of o");
  EXPECT_GE(x.waited.value(), block * hbm);  // nothing to do while the first one comes
  EXPECT_GE(o.waited.value(), block * hbm);  // nor while the last one goes
  EXPECT_EQ(o.waited_for, "its block to go back to main memory");
  // Without the bubble it would take as long as the bytes.
  const double bytes = timing.memory.value() * hbm;
  EXPECT_EQ(timing.memory.value(), 16 * block);
  EXPECT_GT(timing.cycles.value(), bytes);
  EXPECT_LT(timing.cycles.value(), 1.2 * bytes);
}

// A step takes 142 ns, in which 100 KiB go through main memory.
TEST(TpuTiming, BlocksThatAreTooSmallForTheirStepsCostMore) {
  const auto time = [](std::int64_t block) { return TimeText(Doubled(4096, block), "v5e").timing.cycles.value(); };
  EXPECT_LT(time(32), 1.05 * time(64));  // 2 x 128 KiB
  EXPECT_GT(time(8), 1.5 * time(256));   // 2 x 32 KiB
}

TEST(TpuTiming, AStepOfTheGridTakesWhatItTakesBesideItsWork) {
  const double few = TimeText(Doubled(64, 8), "v5e").timing.cycles.value();
  const double many = TimeText(Doubled(128, 8), "v5e").timing.cycles.value();
  const double step = (many - few) / 8 / 1.5;  // ns
  // Eight registers are loaded, added and stored, a store a bundle. The copies of the blocks before and after, of
  // 2 x 32 KiB in 90 ns, hide behind that.
  EXPECT_NEAR(step, 142 + 8 / 1.5, 0.1);
}

machines::Cycles OnPath(const Timing& timing, const std::string& op, const std::string& doing) {
  machines::Cycles all;
  for (const PathPart& part : timing.critical_path) {
    if (part.op == op && part.doing == doing) all += part.time;
  }
  return all;
}

void ExpectToAddUp(const Timing& timing) {
  machines::Cycles path, waited, stalls;
  for (const PathPart& part : timing.critical_path) path += part.time;
  for (const report::StallTime& stall : timing.stalls) stalls += stall.waited;
  for (const LineTime& line : timing.lines) waited += line.waited;
  EXPECT_NEAR(path.value(), timing.cycles.value(), 0.5);
  EXPECT_NEAR(stalls.value(), waited.value(), 0.5);
}

// Two blocks of 1 MiB, 2155 cycles of a v5e: x is copied in and awaited, 682 cycles; the body; o is copied out.
TEST(TpuTiming, TheCriticalPathGoesThroughTheCopiesThatAreAwaited) {
  const Timing one = TimeText(Doubled(256, 256), "v5e").timing;
  ExpectToAddUp(one);
  const double block = 256 * 1024 * 4 / 730.0 * 1.5, way = 455 * 1.5;
  EXPECT_NEAR(OnPath(one, "block of x", "under way").value(), block + way, 2);
  EXPECT_NEAR(OnPath(one, "block of o", "under way").value(), block + way, 2);
  ASSERT_EQ(one.stalls.size(), 2u);
  EXPECT_EQ(one.stalls[0].reason, "a block from main memory");
  EXPECT_EQ(one.stalls[1].reason, "a block to main memory");
  // With many blocks, nearly all of the path is copies, and bodies run beside them.
  const Timing many = TimeText(Doubled(8192, 256), "v5e").timing;
  ExpectToAddUp(many);
  EXPECT_GT(OnPath(many, "block of x", "under way") + OnPath(many, "block of o", "under way"), 0.9 * many.cycles);
  EXPECT_LT(OnPath(many, "add", ""), LineOf(many, "add").busy);
}

TEST(TpuTiming, TheCriticalPathOfProductsGoesThroughTheBodies) {
  const Timing timing = TimeText(Matmul({2048, 2048, 2048}, {1024, 512, 1024}), "v5e").timing;
  ExpectToAddUp(timing);
  // Where a new output begins, the last one, of 4 MiB, is still in flight.
  EXPECT_GT(OnPath(timing, "dot_general", "").value(), 0.75 * LineOf(timing, "dot_general").busy.value());
  ExpectToAddUp(TimeText(Doubled(2048, 256), "v5p").timing);  // of the core that ends last
}

TEST(TpuTiming, AMatmulOfLargeBlocksIsBoundByTheMatrixUnits) {
  const Timing timing = TimeText(Matmul({2048, 2048, 2048}, {1024, 512, 1024}), "v5e").timing;
  ASSERT_FALSE(timing.roofline.empty());
  EXPECT_EQ(timing.roofline[0].limit, "bf16 matrix products");
  const double bound = timing.roofline[0].time.value(), took = timing.cycles.value() / 1.5;
  EXPECT_NEAR(bound, 2.0 * 2048 * 2048 * 2048 / 197e3, 1);
  EXPECT_GT(took, bound);
  EXPECT_LT(took, 1.35 * bound);
  EXPECT_GT(BusyOf(timing, "MXU"), 0.75);
}

TEST(TpuTiming, AMatmulOfFewRowsIsBoundByMainMemory) {
  const Timing timing = TimeText(Matmul({16, 4096, 4096}, {16, 1024, 1024}), "v5e").timing;
  EXPECT_EQ(timing.roofline[0].limit, "bytes of main memory (HBM) at its peak");
  EXPECT_GT(BusyOf(timing, "HBM"), 0.8);
  EXPECT_LT(BusyOf(timing, "MXU"), 0.5);  // it takes in weights, most of the time
}

TEST(TpuTiming, TwiceTheDepthTakesTwiceAsLong) {
  for (const char* chip : {"v5e", "v6e", "v7x"}) {
    const double once = CyclesOfMatmul(512, 1024, 512, 256, chip), twice = CyclesOfMatmul(512, 2048, 512, 256, chip),
                 four = CyclesOfMatmul(512, 4096, 512, 256, chip);
    EXPECT_NEAR(four - twice, 2 * (twice - once), 0.02 * four) << chip;
    EXPECT_GT(twice, 1.7 * once) << chip;  // the first blocks and the last ones are waited for
  }
}

// Main memory is busy nearly all the time, the matrix units are, and neither is.
TEST(TpuTiming, TheUncertaintyIsThatOfWhatBoundsTheKernel) {
  const Timing memory = TimeText(Doubled(2048, 256), "v5e").timing,
               unit = TimeText(Matmul({1024, 8192, 1024}, {1024, 512, 1024}), "v5e").timing,
               steps = TimeText(Matmul({256, 256, 256}, {128, 128, 128}), "v5e").timing;
  EXPECT_EQ(memory.uncertainty, kMemoryUncertainty);
  EXPECT_NE(memory.uncertainty_why.find("bound by main memory"), std::string::npos) << memory.uncertainty_why;
  EXPECT_EQ(unit.uncertainty, kUnitUncertainty);
  EXPECT_EQ(steps.uncertainty, kLatencyUncertainty);
}

TEST(TpuTiming, TwoCoresShareAParallelDimension) {
  const Timing both = TimeText(Doubled(2048, 256), "v5p").timing;
  const Timing one = TimeText(Doubled(2048, 256, "", "arbitrary"), "v5p").timing;
  EXPECT_EQ(both.placement.units, 2);
  EXPECT_EQ(one.placement.units, 1);
  EXPECT_EQ(both.placement.blocks, one.placement.blocks);
  EXPECT_EQ(both.left_out.size(), one.left_out.size() + 1);  // that each has half of main memory
  // Main memory is theirs together, so what it bounds is as fast; steps are twice as fast.
  EXPECT_NEAR(both.cycles.value(), one.cycles.value(), 0.01 * one.cycles.value());
  const double half = TimeText(Doubled(2048, 8), "v5p").timing.cycles.value();
  EXPECT_NEAR(half, TimeText(Doubled(2048, 8, "", "arbitrary"), "v5p").timing.cycles.value() / 2, 0.05 * half);
  EXPECT_EQ(both.memory.value(), one.memory.value());
}

TEST(TpuTiming, OneBufferShowsEveryCopy) {
  const double two = TimeText(Doubled(2048, 256), "v5e").timing.cycles.value();
  const Timing one = TimeText(Doubled(2048, 256, " buffered {buffer_count=1}"), "v5e").timing;
  EXPECT_EQ(LineOf(one, "block of x").runs, 8);
  EXPECT_GE(one.cycles.value(), two);
  EXPECT_GE(LineOf(one, "block of x").waited.value(), 8 * 256 * 1024 * 4 * 1.5 / 730);
}

// Only such a block may have more buffers than two: it never moves.
TEST(TpuTiming, ThreeBuffersOfABlockThatNeverMoves) {
  const auto time = [](const std::string& buffered) {
    return TimeText(
               Cat("pkir 1;\nkernel @k { backend mosaic_tpu;\n  in %x: f32[8,128] as \"x\" space vmem block (8,128) "
                   "map (%i: i32[]) { return 0:i32, 0:i32; }",
                   buffered,
                   ";\n  grid [4];\n  out %o: f32[32,128] as \"o\" block (8,128) map (%i: i32[]) { return %i, "
                   "0:i32; };\n  body @b (%xr: ref<vmem,f32[8,128]>, %or: ref<default,f32[8,128]>) {\n    %v = "
                   "get(%xr) : f32[8,128]; _ = swap(%or, %v) : f32[8,128]; return; } }\n"),
               "v5e")
        .timing;
  };
  const Timing three = time(" buffered {buffer_count=3}");
  EXPECT_EQ(three.cycles, time("").cycles);
  EXPECT_EQ(three.traffic[0].read.value(), 4096);
}

// The map takes `index` to the block of y.
std::string TwoOperands(const std::string& index) {
  return Cat(
      "pkir 1;\nkernel @k { backend mosaic_tpu;\n  in %x: f32[64,128] as \"x\" block (8,128) map (%i: i32[]) { "
      "return %i, 0:i32; };\n  in %y: f32[64,128] as \"y\" block (8,128) map (%i: i32[]) { return ",
      index,
      ", 0:i32; };\n  grid [8];\n  out %o: f32[8,128] as \"o\" block (8,128) map (%i: i32[]) { return 0:i32, "
      "0:i32; };\n  body @b (%xr: ref<default,f32[8,128]>, %yr: ref<default,f32[8,128]>, %or: "
      "ref<default,f32[8,128]>) {\n    %a = get(%xr) : f32[8,128]; %b = get(%yr) : f32[8,128]; %c = add(%a, %b) "
      ": f32[8,128]; _ = swap(%or, %c) : f32[8,128]; return; } }\n");
}

TEST(TpuTiming, ABlockThatStaysIsNotFetchedAgain) {
  const Timing stays = TimeText(TwoOperands("0:i32"), "v5e").timing, moves = TimeText(TwoOperands("%i"), "v5e").timing;
  ASSERT_EQ(stays.traffic.size(), 3u);
  EXPECT_EQ(stays.traffic[0].read.value(), 8 * 4096);
  EXPECT_EQ(stays.traffic[1].read.value(), 4096);
  EXPECT_EQ(stays.traffic[2].written.value(), 4096);  // once, at the end
  EXPECT_EQ(moves.traffic[1].read.value(), 8 * 4096);
}

// An operand of that many columns in the core's memory, with an operation on it.
std::string Columns(std::int64_t columns, const std::string& type, const std::string& operation) {
  const std::string array = Cat(type, "[64,", columns, "]");
  return Cat("pkir 1;\nkernel @k { backend mosaic_tpu; in %x: ", array, " as \"x\"; grid []; out %o: ", array,
             " as \"o\";\n  body @b (%xr: ref<default,", array, ">, %or: ref<default,", array,
             ">) {\n    %a = get(%xr) : ", array, "; %c = ", operation, " : ", array, "; _ = swap(%or, %c) : ", array,
             "; return; } }\n");
}

TEST(TpuTiming, PaddingCounts) {
  const Timing narrow = TimeText(Columns(1, "f32", "add(%a, %a)"), "v5e").timing,
               wide = TimeText(Columns(128, "f32", "add(%a, %a)"), "v5e").timing,
               half = TimeText(Columns(128, "bf16", "add(%a, %a)"), "v5e").timing;
  EXPECT_EQ(narrow.cycles.value(), wide.cycles.value());
  EXPECT_EQ(narrow.memory.value(), 2 * 64 * 128 * 4);
  EXPECT_EQ(half.memory.value(), wide.memory.value() / 2);
  EXPECT_EQ(LineOf(half, "add").runs, 1);
}

TEST(TpuTiming, BundlesAreNotSharedOverABranch) {
  const auto time = [](const std::string& between) {
    std::string text = Columns(4096, "f32", "tanh(%a)");  // 256 functions, 256 stores: one of each a bundle
    text.insert(text.find("_ = swap"), between);
    return TimeText(text, "v5e").timing.cycles.value();
  };
  EXPECT_NEAR(time("cond(true) { return; } { return; };\n    ") - time(""), 256, 5);
}

TEST(TpuTiming, WhatHasNoCostIsRefusedWithItsLine) {
  // TimeKernel would say that no TensorCore has it.
  const std::string text = Columns(128, "f32", "cumsum{axis=0, reverse=false}(%a)");
  const absl::StatusOr<PreparedKernel> kernel =
      PrepareText(text, {.kernel = "", .target = "mosaic_tpu/v5e", .path = "", .observable = true});
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const Tensor x = *TensorFromText(DType::kF32, {64, 128}, "full(1.0)");
  const absl::StatusOr<Timed> timed = TimeOnTpu({*kernel, {&x, 1}, **machines::FindMachine("v5e"), {}});
  EXPECT_EQ(timed.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(std::string(timed.status().message()),
            "line 4: 'cumsum' has no cost on a TPU: no source says what it takes");
}

TEST(TpuTiming, AProductOfATypeWithoutAPublishedRateNamesTheRate) {
  std::string text = Matmul({256, 256, 256}, {256, 256, 256});
  for (std::size_t at; (at = text.find("bf16")) != std::string::npos;) text.replace(at, 4, "f8e4m3fn");
  const absl::StatusOr<PreparedKernel> kernel =
      PrepareText(text, {.kernel = "", .target = "mosaic_tpu/v5e", .path = "", .observable = true});
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const Tensor x = *TensorFromText(DType::kF8E4M3FN, {256, 256}, "full(1.0)");
  const std::vector<Tensor> inputs = {x, x};
  const absl::StatusOr<Timed> timed = TimeKernel({*kernel, inputs, **machines::FindMachine("v5e"), {}});
  EXPECT_EQ(timed.status().code(), absl::StatusCode::kNotFound);
  EXPECT_NE(timed.status().message().find("peak.fp8"), std::string::npos) << timed.status();
  EXPECT_NE(timed.status().message().find("line 19"), std::string::npos) << timed.status();
}

TEST(TpuTiming, AKernelForAnotherMachineIsRefused) {
  std::string text = Columns(128, "f32", "add(%a, %a)");
  text.erase(text.find(" backend mosaic_tpu;"), 20);
  const Tensor x = *TensorFromText(DType::kF32, {64, 128}, "full(1.0)");
  for (const char* target : {"generic", "triton/h100", "mosaic_tpu/v6e"}) {
    const absl::StatusOr<PreparedKernel> kernel =
        PrepareText(text, {.kernel = "", .target = target, .path = "", .observable = true});
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    const absl::StatusOr<Timed> timed = TimeKernel({*kernel, {&x, 1}, **machines::FindMachine("v5e"), {}});
    EXPECT_EQ(timed.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_NE(timed.status().message().find("prepare it for mosaic_tpu/v5e"), std::string::npos) << timed.status();
  }
}

TEST(TpuTiming, TheSameAgainAndWithoutValues) {
  const std::string text = Matmul({512, 512, 512}, {256, 256, 256});
  std::string prints = text;  // so its values are computed
  prints.insert(prints.find("    %a = get"), "    debug_print{fmt=\"{}\"}(%k);\n");
  const Timed one = TimeText(text, "v5e"), again = TimeText(text, "v5e"), computed = TimeText(prints, "v5e");
  EXPECT_EQ(one.timing.cycles, again.timing.cycles);
  EXPECT_EQ(one.timing.cycles, computed.timing.cycles);
  ASSERT_EQ(one.timing.lines.size(), again.timing.lines.size());
  for (std::size_t i = 0; i < one.timing.lines.size(); ++i) {
    EXPECT_EQ(one.timing.lines[i].busy, again.timing.lines[i].busy);
    EXPECT_EQ(one.timing.lines[i].op, computed.timing.lines[i].op);
    EXPECT_EQ(one.timing.lines[i].busy, computed.timing.lines[i].busy);
  }
  EXPECT_EQ(computed.report.printed.size(), 8u);
  EXPECT_EQ(computed.timing.left_out.size(), one.timing.left_out.size() + 1);
}

TEST(TpuTiming, WhatIfMemoryWereSlower) {
  const std::string text = Doubled(2048, 256);
  const absl::StatusOr<PreparedKernel> kernel =
      PrepareText(text, {.kernel = "", .target = "mosaic_tpu/v5e", .path = "", .observable = true});
  const Tensor x = *TensorFromText(DType::kF32, {2048, 1024}, "full(1.0)");
  machines::Machine slower = **machines::FindMachine("v5e");
  ASSERT_TRUE(slower.Set(std::vector<std::string>{"dram.peak=0.41TB/s"}).ok());
  const absl::StatusOr<Timed> timed = TimeKernel({*kernel, {&x, 1}, slower, {}});
  ASSERT_TRUE(timed.ok()) << timed.status();
  const double before = TimeText(text, "v5e").timing.cycles.value();
  EXPECT_GT(timed->timing.cycles.value(), 1.7 * before);
  EXPECT_LT(timed->timing.cycles.value(), 2.1 * before);
}

}  // namespace
}  // namespace palladion::timing::tpu
