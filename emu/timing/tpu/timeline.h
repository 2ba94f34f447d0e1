// What one TensorCore shows of itself on a timeline: its programs and what they did, its copies beside them, how its
// slots were busy, and main memory. Based on: run.h, which passes it every event with its time. Limits: of operations
// that share bundles only the time of all together is known (costs.h). Each is drawn with its share of that time, in
// the order of the text, and its use of a slot as near to that as the slot has room.
#ifndef PALLADION_EMU_TIMING_TPU_TIMELINE_H_
#define PALLADION_EMU_TIMING_TPU_TIMELINE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "emu/timing/report/timing.h"
#include "emu/timing/timeline/recorder.h"
#include "emu/timing/tpu/chip.h"
#include "emu/timing/tpu/costs.h"

namespace palladion::timing::tpu {

// How much of something was used over a time whose length is not known before: where there would be too many
// intervals, pairs of them become one.
class UseOverTime {
 public:
  explicit UseOverTime(std::size_t intervals) : most_(std::max<std::size_t>(2, intervals)) {}
  // `share` of it, from one time to the other.
  void Add(scheduler::Ticks begin, scheduler::Ticks end, double share);
  // Of each interval, until `length`.
  std::vector<double> Shares(scheduler::Ticks length) const;

 private:
  const std::size_t most_;
  scheduler::Ticks interval_{64};
  std::vector<double> used_;  // ticks of each interval
};

// An operation within a run of those that share bundles.
struct TpuPart {
  report::LineTime* line = nullptr;
  machines::Cycles alone;  // it would have taken
  TpuWork work;
  std::int32_t slot = -1;  // of a block with several buffers that it reads or writes
  std::string block;       // whose
};

class TpuTimeline {
 public:
  using Ticks = scheduler::Ticks;

  // Both outlive it.
  TpuTimeline(const TpuCosts& costs, timeline::TimelineRecorder& recorder, const timeline::TimelineOptions& options)
      : costs_(costs), recorder_(recorder), memory_(options.intervals), core_(options.unit) {}

  // Main memory gives them `share` of itself.
  void UsedMemory(const scheduler::Server::Piece& piece, double share) { memory_.Add(piece.begin, piece.end, share); }

  // ---- Of the core that is drawn.

  // A step of a grid: its blocks are awaited, what a step takes, its work; and then the next one begins.
  void BeganBody();  // blocks that start to come from here on are another program's
  void EndedBody(Ticks end);
  void EndedProgram(Ticks begin, Ticks end, const timeline::TimelineLine& line);
  void Ran(Ticks begin, Ticks end, const std::vector<TpuPart>& parts);
  void Worked(Ticks begin, Ticks end, const timeline::TimelineLine& line);
  void Waited(Ticks begin, Ticks end, const timeline::TimelineLine& line, std::int32_t copy);
  // Their numbers, by which waits name them. `declared.op`: whose block.
  std::int32_t CopiedBlock(const TpuBlockCopy& copy, const timeline::TimelineLine& declared);
  struct Copy {
    timeline::SpanKind kind = timeline::SpanKind::kCopyIn;
    std::string what;
    std::int32_t buffer = -1;  // of the core's memory that it fills or empties
    std::int64_t place = 0;    // in its first dimension
  };
  std::int32_t Copied(const Copy& copy, Ticks begin, Ticks end, const timeline::TimelineLine& line);

  // In which of its buffers the block is that a program has now; -1: there is one.
  std::int32_t SlotOf(std::size_t operand, std::int64_t buffers, bool goes_back) const;

  timeline::Timeline Take(Ticks length);

 private:
  struct Stretch {
    Ticks begin, time;
    std::size_t part;
  };
  static timeline::TimelineLine LineOf(const TpuPart& part);
  std::int32_t ProgramLane();
  std::int32_t BufferLane(const std::string& block, std::int32_t slot);
  std::int32_t UnitLane(const TpuSlotRow& row);
  void FillUnit(const TpuSlotRow& row, Ticks end, const std::vector<TpuPart>& parts, const std::vector<Ticks>& begins);

  const TpuCosts& costs_;
  timeline::TimelineRecorder& recorder_;
  UseOverTime memory_;
  const std::int64_t core_;
  std::int32_t program_lane_ = -1, steps_lane_ = -1;
  std::map<TpuSlot, std::int32_t> unit_lanes_;
  std::map<std::size_t, std::int64_t> fetched_, flushed_;        // by operand: so many blocks
  std::map<std::size_t, std::int64_t> here_;                     // of those that came: as many as when the body began
  std::pair<Ticks, std::int32_t> ended_{{}, timeline::kNoSpan};  // the last body, and its last span
  std::vector<std::pair<int, std::int32_t>> without_issuer_;     // copies, by line
};

}  // namespace palladion::timing::tpu

#endif  // PALLADION_EMU_TIMING_TPU_TIMELINE_H_
