// Records one launch for people to look at: which program did what, which elements of which operand it touched, and
// which store a load saw. Written out as Chrome trace-event JSON (trace_json.h) and as a page (trace_page.h).
// Time is counted in elements moved or computed, 128 to a tick: an order, not a prediction. What it leaves out: events
// past the limits below, which the trace itself says.
#ifndef PALLADION_EMU_TOOLS_DEBUG_TRACE_RECORDER_H_
#define PALLADION_EMU_TOOLS_DEBUG_TRACE_RECORDER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "emu/kernel/prepared_kernel.h"
#include "emu/run/events.h"
#include "memory_model/bytes/memory.h"

namespace palladion::debug {

struct TraceLimits {
  std::size_t events = 200000;
  std::size_t accesses = 400000;
  std::size_t flows = 100000;
};

// One access, as a box: an access that is no box is the smallest box that holds it.
struct TraceAccess {
  AccessKind kind = AccessKind::kRead;
  int operand = -1;  // in Program::operand_infos; -1: memory of the kernel's own
  std::string name;  // the user's name of the ref
  bool by_engine = false;
  bool exact = true;  // false: a bounding box
  std::vector<std::int64_t> start, count, step;
  LocId loc;
  int text_line = 0;
  std::int64_t event = -1;  // the event that did it; -1: past the limit
};

struct TraceEvent {
  std::string name;
  std::int64_t begin = 0, ticks = 1;
  std::int64_t program = 0;  // in TraceRecorder::programs
  bool by_engine = false;
  LocId loc;
  int text_line = 0;
  std::string what;  // the boxes that it touched, for people
};

struct TraceProgram {
  std::vector<std::int64_t> index;
  std::vector<TraceAccess> accesses;
};

// A load that saw a store, a wait that saw a copy end, or the write of an engine's operation, after its reads.
struct TraceFlow {
  std::int64_t from = 0, to = 0;  // events
};

class TraceRecorder final : public run::Watcher {
 public:
  TraceRecorder(const kernel::PreparedKernelState& kernel, const TraceLimits& limits);

  const std::vector<TraceProgram>& programs() const { return programs_; }
  const std::vector<TraceEvent>& events() const { return events_; }
  const std::vector<TraceFlow>& flows() const { return flows_; }
  std::int64_t dropped() const { return dropped_; }  // events and accesses past the limits

  memory_model::EventSet wants() const override {
    return {memory_model::EventKind::kStep,  memory_model::EventKind::kTurn,  memory_model::EventKind::kAccess,
            memory_model::EventKind::kAlloc, memory_model::EventKind::kIssue, memory_model::EventKind::kHalf,
            memory_model::EventKind::kWait};
  }
  void Bound(memory_model::Memory& memory, absl::Span<const BufferId> arrays) override;
  void Before(const Step& step, Frame& frame) override;
  void After(const Step& step, Frame& frame) override;
  void Running(const RunningAgent& now) override;
  void Box(const Who& who, AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
           const std::byte* value) override;
  void Points(const Who& who, AccessKind kind, const PointAccess& access, const std::byte* value) override;
  void Issued(const Who& who, const AsyncRequest& request) override;
  void HalfDone(const Who& who) override;
  void Awaited(const Who& who, const WaitTarget& target) override;
  void Free(const Who&, BufferId buffer) override { stores_.erase(buffer.value); }

 private:
  struct Stored {
    std::vector<std::int64_t> low, high;  // the box's ends, [low, high)
    std::int64_t event;
  };

  std::string NameOf(const Step& step) const;
  void Begin(absl::Span<const std::int64_t> index);
  void Resume(absl::Span<const std::int64_t> index);
  std::int64_t ProgramOf(const Who& who) const;
  void Record(const Who& who, TraceAccess access, BufferId buffer);
  void EngineEvent(const Who& who, const TraceAccess& access);
  void Follow(const TraceAccess& access, BufferId buffer);
  bool Full() const { return events_.size() >= limits_.events; }

  const kernel::PreparedKernelState& kernel_;
  TraceLimits limits_;
  const memory_model::Memory* memory_ = nullptr;
  std::map<int, std::string> name_of_line_;
  std::map<std::int32_t, int> operand_of_buffer_;
  std::map<std::int32_t, std::vector<Stored>> stores_;  // by buffer, the newest last
  std::vector<TraceProgram> programs_;
  std::map<std::vector<std::int64_t>, std::int64_t> program_at_;  // by index in the grid
  std::int64_t program_ = 0;                                      // whose steps and accesses these are
  bool for_next_ = false;                                         // these are of a program that has not begun
  std::vector<TraceAccess> of_next_;
  std::map<AgentId, std::int64_t> program_of_;          // that had a turn
  std::map<AgentId, std::vector<std::int64_t>> reads_;  // events, by operation in flight
  std::vector<TraceEvent> events_;
  std::vector<TraceFlow> flows_;
  std::vector<std::int64_t> open_copies_;  // events of copies without a wait
  std::int64_t now_ = 0, elements_ = 0;
  std::int64_t dropped_ = 0;
  std::size_t accesses_ = 0;
};

}  // namespace palladion::debug

#endif  // PALLADION_EMU_TOOLS_DEBUG_TRACE_RECORDER_H_
