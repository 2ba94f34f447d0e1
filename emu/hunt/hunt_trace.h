// The order in which a run did things, as the reference machine can follow it: which agent did which line, and which
// half of a copy happened. Recorded by a hook on steps and an observer of memory.
#ifndef PALLADION_EMU_HUNT_HUNT_TRACE_H_
#define PALLADION_EMU_HUNT_HUNT_TRACE_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "emu/hunt/reference_machine.h"
#include "emu/launch/launch.h"
#include "memory_model/bytes/access_observer.h"
#include "semantics/program/program.h"

namespace palladion::hunt {

struct Event {
  int agent = 0, line = 0;
  bool half = false;  // of the copy that the line started
};

class TraceRecorder final : public agents::RunObserver {
 public:
  TraceRecorder(const Written& written, const HuntKernel& kernel);

  // Of the first run alone: a check may run a schedule again.
  void Attach(agents::LaunchOptions& launch);
  const std::vector<Event>& events() const { return events_; }

  bool watches_steps() const override { return true; }
  void Bound(memory_model::Memory&, absl::Span<const BufferId>) override { ++bound_; }
  void After(const Step& step, Frame& frame) override;
  void Box(AccessKind kind, const BoxAccess& access, const memory_model::BoxReach& reach,
           const std::byte* value) override;

 private:
  void Add(absl::Span<const std::int64_t> index, int line, bool half);

  const std::int64_t threads_;  // of a block
  const int devices_;           // each is bound once in a run
  std::set<int> lines_;
  std::map<int, int> agents_;  // of TPUs: by line, whose it is
  std::map<int, int> copies_;  // by line: how many accesses its reading is
  std::map<int, int> read_;    // of them so far
  std::vector<Event> events_;
  int bound_ = 0;
};

// Takes the machine through the trace. What the machine cannot do, in words; "" where it went to the end. When the
// arrival of a commit came is not in the trace: it comes when somebody needs it. kUnknown: another arrival at the
// barrier, or a test of it, may have come before or after.
inline constexpr const char* kUnknown = "unknown";
std::string Follow(const std::vector<Event>& events, ReferenceMachine* machine);

}  // namespace palladion::hunt

#endif  // PALLADION_EMU_HUNT_HUNT_TRACE_H_
