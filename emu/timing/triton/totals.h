// What a timed run of a Triton kernel adds up to. Where blocks in the middle of the grid are left out
// (equal_blocks.h), what they would have taken is added. Based on: what a block does and asks for is the same in each,
// so of that they have their share by number; their time is the pace at which blocks began before them, and in it they
// waited as those did, for what is left of it.
#ifndef PALLADION_EMU_TIMING_TRITON_TOTALS_H_
#define PALLADION_EMU_TIMING_TRITON_TOTALS_H_

#include <cstdint>
#include <vector>

#include "emu/timing/gpu/chip.h"
#include "emu/timing/gpu/spent.h"
#include "scheduler/virtual_clock.h"

namespace palladion::timing::triton {

struct TritonTotals {
  scheduler::Ticks at;            // the run's time
  std::vector<gpu::Spent> spent;  // by plan
  scheduler::Ticks launches;      // that later blocks waited for
  double flops = 0;
  gpu::GpuChip::Use use;
  std::vector<gpu::GpuChip::Traffic> traffic;  // by operand
  std::int64_t least_dram_bytes = 0;
};

struct LeftOutBlocks {
  std::int64_t count = 0, timed = 0;  // of the grid
  std::int64_t places = 1;            // on which they would have been
  double missed_bytes = 0;            // of L2, by all of them
  double ticks_of_block = 0;          // between the beginnings of two of them
  const TritonTotals& from;           // when the first of the blocks began that stand for them,
  const TritonTotals& to;             // and when the first one after them did
};
// `run` is the one without them.
TritonTotals WithLeftOut(const TritonTotals& run, const LeftOutBlocks& blocks);

}  // namespace palladion::timing::triton

#endif  // PALLADION_EMU_TIMING_TRITON_TOTALS_H_
