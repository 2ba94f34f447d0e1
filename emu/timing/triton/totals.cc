#include "emu/timing/triton/totals.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace palladion::timing::triton {
namespace {

using gpu::GpuChip;
using gpu::Spent;
using scheduler::Ticks;

std::int64_t Times(double times, std::int64_t value) { return std::llround(times * static_cast<double>(value)); }

Ticks BusyOf(const TritonTotals& totals) {
  Ticks busy;
  for (const Spent& one : totals.spent) busy = busy + one.busy;
  return busy;
}
Ticks WaitedOf(const TritonTotals& totals) {
  Ticks waited;
  for (const Spent& one : totals.spent) waited = waited + one.waited;
  return waited;
}

// Waits by class are what the wait is, to the tick.
void AddWaits(double times, const Spent& from, const Spent& to, Spent* sum) {
  for (std::size_t s = 0; s < sum->stalls.size(); ++s) {
    const std::int64_t more = Times(times, std::max<std::int64_t>(0, to.stalls[s].value - from.stalls[s].value));
    sum->stalls[s].value += more;
    sum->waited.value += more;
  }
  for (const auto& [by, waited] : to.waited_for) {
    const auto before = from.waited_for.find(by);
    const std::int64_t since = waited.value - (before == from.waited_for.end() ? 0 : before->second.value);
    sum->waited_for[by].value += Times(times, std::max<std::int64_t>(0, since));
  }
}

// DRAM has what L2 has not, and what is written.
void AddTraffic(const LeftOutBlocks& blocks, double share, TritonTotals* all) {
  double missed = 0, bytes = blocks.missed_bytes;
  for (std::size_t i = 0; i < all->traffic.size(); ++i)
    missed += static_cast<double>(blocks.to.traffic[i].missed - blocks.from.traffic[i].missed);
  for (std::size_t i = 0; i < all->traffic.size(); ++i) {
    GpuChip::Traffic& sum = all->traffic[i];
    const std::int64_t written = Times(share, sum.written);
    sum.read += Times(share, sum.read);
    sum.written += written;
    bytes += static_cast<double>(written);
    const std::int64_t of_it = blocks.to.traffic[i].missed - blocks.from.traffic[i].missed;
    if (missed > 0) sum.missed += Times(blocks.missed_bytes / missed, of_it);
  }
  const auto dram = static_cast<double>(all->use.dram_bytes);
  if (dram > 0) all->use.dram.value += Times(bytes / dram, all->use.dram.value);
  all->use.dram_bytes += std::llround(bytes);
  const auto since = static_cast<double>(blocks.to.use.dram_bytes - blocks.from.use.dram_bytes);
  if (since > 0)
    all->least_dram_bytes += Times(bytes / since, blocks.to.least_dram_bytes - blocks.from.least_dram_bytes);
}

}  // namespace

TritonTotals WithLeftOut(const TritonTotals& run, const LeftOutBlocks& blocks) {
  TritonTotals all = run;
  const auto count = static_cast<double>(blocks.count);
  const double share = count / static_cast<double>(blocks.timed);
  all.at.value += std::llround(count * blocks.ticks_of_block);
  for (Spent& one : all.spent) {
    one.runs += Times(share, one.runs);
    one.busy.value += Times(share, one.busy.value);
  }
  // All but those that begin with the kernel.
  all.launches.value += Times(count / static_cast<double>(blocks.timed - blocks.places), all.launches.value);
  const Ticks added = all.at - run.at, worked = BusyOf(all) - BusyOf(run) + (all.launches - run.launches);
  const Ticks waited = WaitedOf(blocks.to) - WaitedOf(blocks.from);
  const std::int64_t rest = added.value * blocks.places - worked.value;
  for (std::size_t i = 0; waited.value > 0 && i < all.spent.size(); ++i) {
    AddWaits(static_cast<double>(rest) / static_cast<double>(waited.value), blocks.from.spent[i], blocks.to.spent[i],
             &all.spent[i]);
  }
  all.flops += share * all.flops;
  all.use.AddShare(share);
  AddTraffic(blocks, share, &all);
  return all;
}

}  // namespace palladion::timing::triton
