// What of global memory is in the L2 of a chip, by lines: what was used last stays. Based on: the last level of a GPU
// as a whole, with no sets; a line that is asked for again within a short time is given to both who asked, as the
// coalescer before L2 does. Limits: near and far partitions are one; a line is read whole. A line costs 24 bytes for as
// long as the launch lasts, a fifth of what it stands for.
#ifndef PALLADION_EMU_TIME_L2_CACHE_H_
#define PALLADION_EMU_TIME_L2_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scheduler/virtual_clock.h"

namespace palladion::time {

// Part of an array in global memory, as a copy sees it: planes of rows of bytes, each a stride apart.
struct GlobalBox {
  std::int64_t array = 0, first_byte = 0, row_stride = 0, rows = 0, row_bytes = 0;
  std::int64_t planes = 1, plane_stride = 0;
  std::int64_t landing_bytes = 0;  // of a row of shared memory that it is cut into; 0: as long as its own

  std::int64_t bytes() const { return planes * rows * row_bytes; }
};

class L2Cache {
 public:
  // `together`: the time within which two who ask for a line are given it at once.
  L2Cache(std::int64_t line_bytes, std::int64_t room, scheduler::Ticks together)
      : line_bytes_(line_bytes), room_(room), together_(together) {}

  struct Found {
    std::int64_t merged = 0, hit = 0, missed = 0;  // lines
  };
  Found Look(const GlobalBox& box, scheduler::Ticks at);
  std::int64_t touched() const { return static_cast<std::int64_t>(lines_.size()); }  // lines, each counted once

 private:
  static constexpr std::int32_t kNone = -1;
  struct Line {
    scheduler::Ticks asked;
    std::int32_t newer = kNone, older = kNone;
    bool here = false;
  };
  std::int32_t Find(std::int64_t array, std::int64_t number);
  void Use(std::int32_t line);
  void Unlink(std::int32_t line);
  Line& At(std::int32_t line) { return lines_[static_cast<std::size_t>(line)]; }

  const std::int64_t line_bytes_, room_;
  const scheduler::Ticks together_;
  std::vector<std::vector<std::int32_t>> line_of_;  // by array and number: in lines_, or kNone
  std::vector<Line> lines_;
  std::int32_t newest_ = kNone, oldest_ = kNone;
  std::int64_t here_ = 0;
};

}  // namespace palladion::time

#endif  // PALLADION_EMU_TIME_L2_CACHE_H_
