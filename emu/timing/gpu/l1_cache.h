// The contents of the L1 of one SM: lines, each with its present sectors; replacement is LRU. Based on: the CUDA C++
// Programming Guide: L1 and shared memory are one store, so blocks that take more of it leave less; stores go through
// to L2 and leave L1 as it is. A load of a sector that is in flight waits for it. Limits: fully associative; atomics
// and copies into shared memory pass it by.
#ifndef PALLADION_EMU_TIMING_GPU_L1_CACHE_H_
#define PALLADION_EMU_TIMING_GPU_L1_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <list>

#include "absl/container/flat_hash_map.h"
#include "emu/timing/gpu/sector_lines.h"
#include "scheduler/virtual_clock.h"

namespace palladion::timing::gpu {

class L1Cache {
 public:
  explicit L1Cache(std::int64_t lines) : room_(lines > 0 ? static_cast<std::size_t>(lines) : 0) {}

  struct Found {
    SectorLine::Sectors missed = 0;
    scheduler::Ticks there;  // the last of those that it has
  };
  // Those missed are here from `Arrived` on.
  Found Look(const SectorLine& line);
  void Arrived(const SectorLine& line, scheduler::Ticks when);

 private:
  struct Line {
    SectorLine::Key key;
    SectorLine::Sectors here = 0;
    scheduler::Ticks there;
  };
  const std::size_t room_;
  std::list<Line> lines_;                                                    // the one that was used last first
  absl::flat_hash_map<SectorLine::Key, std::list<Line>::iterator> line_of_;  // only looked up
};

}  // namespace palladion::timing::gpu

#endif  // PALLADION_EMU_TIMING_GPU_L1_CACHE_H_
