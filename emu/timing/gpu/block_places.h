// Which SM a block is on, and when it may begin there: blocks go to the SM with the most room, the first of several,
// and later to the SM where a block has ended. The blocks of a cluster are on neighbouring SMs. Based on: the observed
// order in which CUDA places blocks: first over the SMs, then wherever one ends. Limits: GPCs are groups of neighbours
// of the cluster's size; that fewer clusters fit than SMs would hold is a number of the machine.
#ifndef PALLADION_EMU_TIMING_GPU_BLOCK_PLACES_H_
#define PALLADION_EMU_TIMING_GPU_BLOCK_PLACES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "scheduler/virtual_clock.h"

namespace palladion::timing::gpu {

class BlockPlaces {
 public:
  struct Room {
    std::int64_t groups = 0;   // of as many SMs as a cluster has blocks
    std::int64_t blocks = 1;   // that one SM holds
    scheduler::Ticks replace;  // from the end of a cluster until the next one begins in its place
  };
  explicit BlockPlaces(const Room& room)
      : room_(room), groups_(static_cast<std::size_t>(room.groups), Group{.free = room.blocks, .ended = {}}) {}

  struct Place {
    std::int64_t group = 0;
    scheduler::Ticks begins;
  };
  Place Begin() {
    const auto most = std::max_element(groups_.begin(), groups_.end(), [](const Group& a, const Group& b) {
      return a.free != b.free ? a.free < b.free : a.NextFree() > b.NextFree();
    });
    Place place{.group = most - groups_.begin(), .begins = {}};
    if (most->free > 0) {
      --most->free;
    } else if (!most->ended.empty()) {
      const auto first = std::min_element(most->ended.begin(), most->ended.end());
      place.begins = *first + room_.replace;
      waited_ = true;
      most->ended.erase(first);
    }
    at_once_ = std::max(at_once_, ++most->here);
    used_ = std::max(used_, place.group + 1);
    return place;
  }
  void End(std::int64_t group, scheduler::Ticks at) {
    Group& it = groups_[static_cast<std::size_t>(group)];
    --it.here;
    it.ended.push_back(at);
  }

  // Where every block that has begun has ended: places that had any, and for how long they were without one until
  // `end`.
  struct Left {
    std::int64_t places = 0;
    scheduler::Ticks idle;
  };
  std::optional<Left> LeftUntil(scheduler::Ticks end) const {
    Left left;
    for (const Group& group : groups_) {
      if (group.here > 0) return std::nullopt;
      left.places += static_cast<std::int64_t>(group.ended.size());
      for (const scheduler::Ticks ended : group.ended) left.idle = left.idle + (end - ended);
    }
    return left;
  }

  std::int64_t room() const { return room_.groups * room_.blocks; }  // clusters that there can be at once
  bool waited() const { return waited_; }                            // some began where others had ended
  std::int64_t used() const { return used_; }                        // groups that had any
  std::int64_t at_once() const { return at_once_; }                  // that one SM held at most

 private:
  struct Group {
    std::int64_t free = 0, here = 0;      // free: places not used yet
    std::vector<scheduler::Ticks> ended;  // when used places were left
    scheduler::Ticks NextFree() const {
      return ended.empty() ? scheduler::Ticks{kNever} : *std::min_element(ended.begin(), ended.end());
    }
  };
  static constexpr std::int64_t kNever = std::int64_t{1} << 62;

  const Room room_;
  std::vector<Group> groups_;
  std::int64_t used_ = 0, at_once_ = 0;
  bool waited_ = false;
};

}  // namespace palladion::timing::gpu

#endif  // PALLADION_EMU_TIMING_GPU_BLOCK_PLACES_H_
