// The order of a run's operations, as the reference machine can follow it: which agent executed which line, and which
// phase of a copy happened. Recorded by a hook on steps and an observer of memory.
#ifndef PALLADION_EMU_TOOLS_HUNT_HUNT_TRACE_H_
#define PALLADION_EMU_TOOLS_HUNT_HUNT_TRACE_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "emu/run/agents/launch_options.h"
#include "emu/tools/hunt/reference_machine.h"
#include "memory_model/bytes/events.h"
#include "semantics/program/program.h"

namespace palladion::hunt {

struct Event {
  int agent = 0, line = 0;
  bool half = false;  // of the copy that the line started
};

class TraceRecorder final : public run::Watcher {
 public:
  TraceRecorder(const Written& written, const HuntKernel& kernel);

  // Of the first run alone: a check may run a schedule again.
  void Attach(agents::LaunchOptions& launch);
  const std::vector<Event>& events() const { return events_; }

  memory_model::EventSet wants() const override {
    return {memory_model::EventKind::kStep, memory_model::EventKind::kIssue, memory_model::EventKind::kHalf};
  }
  void Bound(memory_model::Memory&, absl::Span<const BufferId>) override { ++bound_; }
  void After(const Step& step, Frame& frame) override;
  void Issued(const Who& who, const AsyncRequest& request) override;
  void HalfDone(const Who& who) override;

 private:
  void Add(absl::Span<const std::int64_t> index, int line, bool half);

  const std::int64_t threads_;  // of a block
  const int devices_;           // each is bound once in a run
  std::set<int> lines_;
  std::map<int, int> agents_;  // of TPUs: by line, whose it is
  std::set<int> copies_;       // lines
  struct InFlight {
    std::vector<std::int64_t> program;
    int line = 0;
  };
  std::map<AgentId, InFlight> in_flight_;  // by operation
  std::vector<Event> events_;
  int bound_ = 0;
};

// Takes the machine through the trace. What the machine cannot do, in words; "" where it went to the end. When the
// arrival of a commit came is not in the trace: it comes when it is needed. kUnknown: another arrival at the
// barrier, or a test of it, may have come before or after.
inline constexpr const char* kUnknown = "unknown";
std::string Follow(const std::vector<Event>& events, ReferenceMachine* machine);

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_TOOLS_HUNT_HUNT_TRACE_H_
