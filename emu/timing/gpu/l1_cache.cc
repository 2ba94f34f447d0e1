#include "emu/timing/gpu/l1_cache.h"

#include <algorithm>

namespace palladion::timing::gpu {

L1Cache::Found L1Cache::Look(const SectorLine& line) {
  const auto found = line_of_.find(line.key);
  if (found == line_of_.end()) return {.missed = line.sectors, .there = {}};
  lines_.splice(lines_.begin(), lines_, found->second);
  const Line& it = lines_.front();
  return {.missed = static_cast<SectorLine::Sectors>(line.sectors & ~it.here), .there = it.there};
}

void L1Cache::Arrived(const SectorLine& line, scheduler::Ticks when) {
  if (room_ == 0) return;
  const auto found = line_of_.find(line.key);
  if (found != line_of_.end()) {
    Line& it = *found->second;
    it.here |= line.sectors;
    it.there = std::max(it.there, when);
    return;
  }
  if (lines_.size() >= room_) {
    line_of_.erase(lines_.back().key);
    lines_.pop_back();
  }
  lines_.push_front({.key = line.key, .here = line.sectors, .there = when});
  line_of_[line.key] = lines_.begin();
}

}  // namespace palladion::timing::gpu
