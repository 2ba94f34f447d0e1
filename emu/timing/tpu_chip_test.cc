// The pipeline of a TPU's grid, against schedules worked out by hand: what hides behind work, and what does not.
#include "emu/timing/tpu_chip.h"

#include <gtest/gtest.h>

#include <vector>

namespace palladion::timing {
namespace {

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

TpuWork Operations(double count) {
  TpuWork work;
  work[TpuSlot::kVector] = count;
  return work;
}

struct Grid {
  std::int64_t fetched = 1000, flushed = 0;  // bytes of each block
  std::int64_t buffers = 2, out_buffers = 2;
  std::vector<double> work;  // of each program
};

double TimeOf(const Grid& grid, const TpuCosts& costs) {
  TpuCore core(costs, 1);
  TpuPipeline pipeline(core);
  const Bytes flushed(static_cast<double>(grid.flushed));
  for (std::size_t program = 0; program < grid.work.size(); ++program) {
    if (program > 0 && grid.flushed > 0) pipeline.Flush(1, flushed, grid.out_buffers);
    pipeline.Fetch(0, Bytes(static_cast<double>(grid.fetched)), grid.buffers);
    pipeline.Begin(true);
    core.Compute(Operations(grid.work[program]), {});
    pipeline.End();
  }
  if (grid.flushed > 0) pipeline.Flush(1, flushed, grid.out_buffers);
  pipeline.Finish();
  return CyclesOf(core.now()).value();
}

TEST(TpuPipeline, CopiesHideBehindWork) {
  EXPECT_EQ(TimeOf({.fetched = 300, .work = {1000, 1000, 1000, 1000}}, Plain()), 300 + 4 * 1000);
  EXPECT_EQ(TimeOf({.fetched = 300, .flushed = 200, .work = {1000, 1000, 1000, 1000}}, Plain()), 300 + 4 * 1000 + 200);
}

TEST(TpuPipeline, WorkHidesBehindCopies) {
  EXPECT_EQ(TimeOf({.fetched = 1000, .work = {300, 300, 300, 300}}, Plain()), 4 * 1000 + 300);
  // Both directions go through the same memory, which is never idle here.
  EXPECT_EQ(TimeOf({.fetched = 1000, .flushed = 1000, .work = {300, 300, 300, 300}}, Plain()), 8 * 1000);
}

TEST(TpuPipeline, OneBufferHidesNothing) {
  EXPECT_EQ(TimeOf({.fetched = 300, .buffers = 1, .work = {1000, 1000, 1000, 1000}}, Plain()), 4 * 1300);
  EXPECT_EQ(TimeOf({.fetched = 0, .flushed = 200, .out_buffers = 1, .work = {1000, 1000, 1000, 1000}}, Plain()),
            4 * 1200);
}

TEST(TpuPipeline, ThreeBuffersBridgeALongProgram) {
  EXPECT_EQ(TimeOf({.work = {2000, 0, 2000, 0}}, Plain()), 6000);
  EXPECT_EQ(TimeOf({.buffers = 3, .work = {2000, 0, 2000, 0}}, Plain()), 5000);
}

TEST(TpuPipeline, AStepOfTheGridComesOnTop) {
  TpuCosts costs = Plain();
  costs.grid_step = Cycles(50);
  EXPECT_EQ(TimeOf({.fetched = 300, .work = {1000, 1000, 1000, 1000}}, costs), 300 + 4 * 1050);
  EXPECT_EQ(TimeOf({.fetched = 1000, .work = {300, 300, 300, 300}}, costs), 4 * 1050 + 300);
}

TEST(TpuPipeline, ACopyTakesItsStartBesideItsBytes) {
  TpuCosts costs = Plain();
  costs.dma_startup = Cycles(20);
  TpuCore core(costs, 1);
  EXPECT_EQ(CyclesOf(core.Copy({}, Bytes(100))).value(), 120);
  EXPECT_EQ(CyclesOf(core.Copy({}, Bytes(100))).value(), 220);  // the starts of copies go side by side
}

TEST(TpuPipeline, TwoCoresHaveHalfOfMainMemoryEach) {
  const TpuCosts costs = Plain();
  TpuCore core(costs, 2);
  EXPECT_EQ(CyclesOf(core.Copy({}, Bytes(100))).value(), 200);
}

TEST(TpuPipeline, SaysWhatItWaitedFor) {
  const TpuCosts costs = Plain();
  TpuCore core(costs, 1);
  TpuPipeline pipeline(core);
  pipeline.Fetch(3, Bytes(100), 2);
  pipeline.Fetch(5, Bytes(100), 2);
  const auto waited = pipeline.Begin(false);
  ASSERT_TRUE(waited.has_value());
  EXPECT_EQ(waited->operand, 5u);
  EXPECT_EQ(CyclesOf(waited->time).value(), 200);
  EXPECT_FALSE(waited->goes_back);
  pipeline.End();
  EXPECT_FALSE(pipeline.Begin(false).has_value());
}

}  // namespace
}  // namespace palladion::timing
