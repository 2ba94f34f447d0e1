// Builds a Timeline during a run in virtual time: the cost model reports the span of each operation on its lane. Only
// spans of the chosen SM or core are kept. Limits: a maximum number of spans; the operation that ended a wait is found
// by its instruction and end time, so of several that ended at once the last one counts.
#ifndef PALLADION_EMU_TIMING_TIMELINE_RECORDER_H_
#define PALLADION_EMU_TIMING_TIMELINE_RECORDER_H_

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "emu/timing/timeline/timeline.h"
#include "scheduler/virtual_clock.h"
#include "semantics/base/finding.h"

namespace palladion::timing::timeline {

// An instruction of the kernel's text, as spans show it.
struct TimelineLine {
  std::int32_t instruction = -1;  // by which waits find what ended them
  LocId loc;
  int text_line = 0;
  std::string op;
  std::int32_t slot = -1;  // of a ring that it reads or fills; -1: none
};

class TimelineRecorder {
 public:
  using Ticks = scheduler::Ticks;

  TimelineRecorder(const TimelineOptions& options, double ticks_of_cycle)
      : options_(options), ticks_of_cycle_(ticks_of_cycle) {}

  bool Shows(std::int64_t unit) const { return unit == options_.unit; }

  std::int32_t NewLane(Lane lane);
  std::int32_t LaneNamed(const Lane& lane);  // of this group and name, made when it is first needed
  void Worked(std::int32_t lane, Ticks begin, Ticks end, const TimelineLine& line, SpanKind kind = SpanKind::kWork);
  // `ended_by`: the instruction that did, -1 where it is not known.
  void Waited(std::int32_t lane, Ticks begin, Ticks end, const TimelineLine& line, std::int32_t ended_by);
  // `by`: the span that did, kNoSpan where it is not known.
  void WaitedFor(std::int32_t lane, Ticks begin, Ticks end, const TimelineLine& line, std::int32_t by);
  // A span that can end no wait: spans that can are recorded beside it.
  struct Placed {
    std::int32_t lane = 0;
    SpanKind kind = SpanKind::kWork;
    std::string what;
    std::int32_t slot = -1;
    std::int32_t by = kNoSpan;
  };
  std::int32_t Put(const Placed& placed, Ticks begin, Ticks end, const TimelineLine& line);
  TimelineLine LineOf(std::int32_t span) const;           // of kNoSpan: none
  std::int32_t LastOf(std::int32_t lane) const;           // its last span; kNoSpan: it has none
  void IssuedBy(std::int32_t span, std::int32_t issuer);  // an operation's issuer, known after it; kNoSpan: nothing
  // Beside its issuer, on the first lane of that name that is free then. Its number.
  struct Beside {
    std::string name;  // "copies in"
    SpanKind kind = SpanKind::kCopyIn;
    std::string what;
    std::int32_t slot = -1;
    std::int32_t issuer = -1;            // its lane, whose last span it is
    std::int32_t issuer_span = kNoSpan;  // or the span
  };
  std::int32_t RanBeside(const Beside& beside, Ticks begin, Ticks end, const TimelineLine& line);
  // Of a ring in shared memory: numbers in the order in which its places are first used.
  std::int32_t SlotOf(std::int32_t buffer, std::int64_t place);

  // How long something of the whole chip has been busy until now, of `units` of a kind.
  void Used(std::size_t strip, const std::string& name, Ticks now, Ticks busy, std::int64_t units);

  void Found(const Finding& finding, Ticks at, std::int32_t span);

  // Lanes of a group are beside each other: groups of threads first, those of units last (LaneKind). Barriers that
  // without arrivals have none.
  Timeline Take(const std::string& of, Ticks length);

 private:
  struct Free {
    std::int32_t lane = 0;
    Ticks from;
  };
  struct Sampled {
    std::string name;
    Ticks interval{1}, until, busy_then;
    std::vector<double> share;
  };
  machines::Cycles CyclesOf(Ticks ticks) const {
    return machines::Cycles(static_cast<double>(ticks.value) / ticks_of_cycle_);
  }
  std::int32_t Add(Span span, std::int32_t instruction);  // its number; kNoSpan: dropped
  std::int32_t EndedBy(std::int32_t instruction, machines::Cycles at) const;
  void DropIdleBarriers();
  void OrderLanes();

  const TimelineOptions options_;
  const double ticks_of_cycle_;
  Timeline timeline_;
  std::map<std::pair<std::string, std::string>, std::int32_t> lane_named_;
  std::map<std::string, std::vector<Free>> beside_;
  std::map<std::int32_t, std::deque<std::int32_t>> recent_;  // spans, by instruction
  std::map<std::int32_t, std::int32_t> last_of_lane_;        // a lane's last span
  std::map<std::int32_t, std::map<std::int64_t, std::int32_t>> slots_;
  std::vector<Sampled> strips_;
};

}  // namespace palladion::timing::timeline

#endif  // PALLADION_EMU_TIMING_TIMELINE_RECORDER_H_
