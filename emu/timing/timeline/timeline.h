// What happened when in a run in virtual time: lanes (threads, engines' operations, units of one SM or core, strips of
// the whole chip) with what was on them. For pictures; nothing is computed from it. Limits: one SM or core, and the
// first so many spans.
#ifndef PALLADION_EMU_TIMING_TIMELINE_TIMELINE_H_
#define PALLADION_EMU_TIMING_TIMELINE_TIMELINE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "emu/chip/machines/amount.h"
#include "semantics/base/finding.h"
#include "semantics/base/ids.h"

namespace palladion::timing::timeline {

enum class LaneKind : std::uint8_t {
  kThread,   // a thread (warpgroup), warp or program: works, waits
  kBarrier,  // its phases, and below them what has not arrived yet
  kSlot,     // a place in shared memory: what fills it, what reads it
  kEngine,   // operations that run beside their issuer: copies, matrix products
  kUnit,     // a unit of the SM or core: busy or not
};

struct Lane {
  std::string group;  // what it belongs to: "block (0, 1)", "barriers", "units"
  std::string name;   // "warpgroup 1", "TMA", "tensor cores"
  LaneKind kind = LaneKind::kThread;
};

enum class SpanKind : std::uint8_t {
  kWork,
  kWait,
  kCopyIn,
  kCopyOut,
  kMultiply,
  kPhase,    // of a barrier: from the completion before it, or its beginning, to its own
  kPending,  // a part of a phase, until the next arrival
};
// Is it over because of another span, which ended it? Else that one issued it.
inline bool IsEnded(SpanKind kind) {
  return kind == SpanKind::kWait || kind == SpanKind::kPhase || kind == SpanKind::kPending;
}

inline constexpr std::int32_t kNoSpan = -1;

struct Span {
  std::int32_t lane = 0;        // of Timeline::lanes
  machines::Cycles begin, end;  // from the first block's start
  SpanKind kind = SpanKind::kWork;
  LocId loc;                        // of the instruction that did it, or issued it
  int text_line = 0;                // 0: none
  std::string what;                 // "wait full[1], phase 3", "copy x -> xs[2]"
  std::int32_t slot = -1;           // of a ring in shared memory that it reads or fills: its colour; -1: none
  std::int32_t ended_by = kNoSpan;  // the span whose end, or begin, ended it (IsEnded); of others: their issuer
};

// How much of something of the whole chip was used, over the time: mean of each interval of equal length.
struct Strip {
  std::string name;  // "L2", "DRAM"
  std::vector<double> share;
};

// When the run met something that is wrong.
struct FoundAt {
  FindingCode code = FindingCode::kOutOfBounds;
  int text_line = 0, first = 0, second = 0;  // lines: of the finding and its two sides
  machines::Cycles at;
  std::int32_t span = kNoSpan;  // what was done then, where the picture has it
};

struct Timeline {
  std::string of;  // "SM 0", "core 0"
  machines::Cycles length;
  std::vector<Lane> lanes;
  std::vector<Span> spans;  // by begin
  std::vector<Strip> strips;
  std::vector<FoundAt> found;  // in the order of time
  std::int64_t dropped = 0;    // spans past the limit
};

struct TimelineOptions {
  std::int64_t unit = 0;         // which SM or core
  std::int64_t device = 0;       // of those that run the kernel together
  std::size_t spans = 200'000;   // at most
  std::size_t intervals = 2000;  // of strips
};

}  // namespace palladion::timing::timeline

#endif  // PALLADION_EMU_TIMING_TIMELINE_TIMELINE_H_
