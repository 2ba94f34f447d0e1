// The contents of the L2 of a chip: lines, each with its present sectors, and which of these are dirty; replacement is
// LRU. Based on: the last level of a GPU as a whole, fully associative; a line has a tag, a sector is the unit of
// fetches and write-backs. Requests for one sector within a short time are merged, as by the coalescer before L2; a
// request for a sector that is being fetched waits for it and causes no second fetch. A store makes its whole sectors
// dirty, without reading them first. They are written back once while their line is present: a copy on an H200 moves
// all that it reads and writes through DRAM while it runs, at DRAM's rate, even where L2 would hold what it writes
// (conformance/hardware/h200/times.json). Limits: near and far partitions are one; a sector that is written in part is
// not read first. A line costs 28 bytes for as long as the launch lasts, a fifth of what it stands for.
#ifndef PALLADION_EMU_TIMING_GPU_L2_CACHE_H_
#define PALLADION_EMU_TIMING_GPU_L2_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scheduler/virtual_clock.h"

namespace palladion::timing::gpu {

// Part of an array in global memory, as a copy sees it: planes of rows of bytes, each a stride apart.
struct GlobalBox {
  std::int64_t array = 0, first_byte = 0, row_stride = 0, rows = 0, row_bytes = 0;
  std::int64_t planes = 1, plane_stride = 0;
  std::int64_t landing_bytes = 0;  // of a row of shared memory that it is cut into; 0: as long as its own

  std::int64_t bytes() const { return planes * rows * row_bytes; }
};

class L2Cache {
 public:
  struct Sizes {
    std::int64_t line_bytes = 128, sector_bytes = 32;  // powers of two; up to eight sectors to a line
    std::int64_t lines = 0;                            // that there is room for
    scheduler::Ticks together;                         // within which two requests for a sector are merged
  };
  explicit L2Cache(const Sizes& sizes);

  // Sectors. Of those missed, Arrived has to be called before the next Look.
  struct Found {
    std::int64_t merged = 0, hit = 0, missed = 0;
    std::int64_t dirtied = 0;    // by a store
    scheduler::Ticks in_flight;  // when the last of those arrives that an earlier request fetches from memory
  };
  Found Look(const GlobalBox& box, scheduler::Ticks at);
  void Arrived(scheduler::Ticks when) { arrivals_.back() = when; }  // what the last Look has missed
  // A store: how many sectors it has, as `hit`, and how many of them were not dirty.
  Found Store(const GlobalBox& box, scheduler::Ticks at);

  // Sectors, each counted once: what was read and no store had made, and what was written.
  std::int64_t read() const { return read_; }
  std::int64_t written() const { return written_; }

 private:
  static constexpr std::int32_t kNone = -1;
  using Sectors = std::uint8_t;  // of a line, a bit for each
  struct Line {
    scheduler::Ticks requested;
    std::int32_t newer = kNone, older = kNone;
    std::int32_t arrival = kNone;  // in arrivals_: of those requested last
    Sectors here = 0, dirty = 0, was_read = 0, was_written = 0;
  };
  // Calls on_line(line, sectors) for each line of the box.
  template <class F>
  void ForEachLine(const GlobalBox& box, const F& on_line);
  std::int32_t Find(std::int64_t array, std::int64_t number);
  void Use(std::int32_t line);
  void Unlink(std::int32_t line);
  Line& At(std::int32_t line) { return lines_[static_cast<std::size_t>(line)]; }

  const Sizes sizes_;
  const int line_shift_, sector_shift_;
  std::vector<std::vector<std::int32_t>> line_of_;  // by array and number: in lines_, or kNone
  std::vector<Line> lines_;
  std::vector<scheduler::Ticks> arrivals_;
  std::int32_t newest_ = kNone, oldest_ = kNone;
  std::int64_t here_ = 0;  // lines
  std::int64_t read_ = 0, written_ = 0;
};

}  // namespace palladion::timing::gpu

#endif  // PALLADION_EMU_TIMING_GPU_L2_CACHE_H_
