// The agents of a launch under a policy, and the memory they share: the one driver (run.cc) binds operands, runs the
// loop and reports the result; this interface has what differs between programs that are agents of their own, the
// threads of GPU blocks, and functions in C++ (emu/front/cpp). A TPU's cores, warps and engines are agents of one of
// these.
#ifndef PALLADION_EMU_RUN_LAUNCH_AGENTS_OF_LAUNCH_H_
#define PALLADION_EMU_RUN_LAUNCH_AGENTS_OF_LAUNCH_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "emu/run/agents/launch_state.h"
#include "emu/run/launch/run.h"
#include "scheduler/agent.h"
#include "scheduler/run_loop.h"
#include "scheduler/touches.h"

namespace palladion::launch {

class AgentsOfLaunch {
 public:
  virtual ~AgentsOfLaunch() = default;

  // Operands have their memory: before anything is written there. Then, once the grid is known, the agents are made.
  // `search`: every schedule is tried, so all agents are there from the start.
  virtual void Bound(memory_model::Memory& /*memory*/, absl::Span<const BufferId> /*arrays*/) {}
  virtual void Make(bool search) = 0;

  virtual scheduler::AgentSource& source() = 0;
  virtual scheduler::LoopOptions Fitting(
      scheduler::LoopOptions loop) const = 0;  // with as many agents at once as there is room for
  // For a search: may memory and agents be copied, and what has the last operation touched?
  virtual bool copyable() const { return false; }
  virtual std::optional<scheduler::Touches> TakeTouched() { return std::nullopt; }

  // Every agent has come to its end. Found: by observers other than memory.
  virtual void End() {}
  virtual std::vector<Finding> Found() const { return {}; }
  virtual void Complete(agents::Ran& result,
                        const scheduler::LoopOptions& loop) const = 0;  // what only these agents know

  // For messages: "program", and what the budget counts; what to do about a deadlock; why some have not begun, ""
  // where all have, and what to do about that.
  virtual std::string_view kind() const = 0;
  virtual std::string_view counted() const = 0;
  virtual std::string FixOf(const scheduler::Deadlock& deadlock) const = 0;
  virtual std::string WhyNotBegun() const = 0;
  virtual std::string_view begin_fix() const = 0;
  virtual std::string_view why_endless() const = 0;  // why agents may not come to an end
  // Agents that have not ended, and where the first of them, at most so many, are: name and place in words, "" where
  // only the place is reported.
  struct Standing {
    std::string words;
    LocId loc;
    int text_line = 0;
  };
  struct Unfinished {
    std::int64_t count = 0;
    std::vector<Standing> first;
  };
  virtual Unfinished unfinished(std::size_t most) const = 0;
};

// The step that a frame is at; of one that has ended, the last.
inline const Step& StepAt(const Frame& frame) {
  const std::vector<Step>& steps = frame.program().steps;
  return steps[std::min(frame.pc(), steps.size() - 1)];
}

// Both outlive the agents.
std::unique_ptr<AgentsOfLaunch> ProgramsOfLaunch(agents::LaunchState& state, const agents::LaunchOptions& options);
std::unique_ptr<AgentsOfLaunch> ThreadsOfLaunch(agents::LaunchState& state, const agents::LaunchOptions& options);

}  // namespace palladion::launch

#endif  // PALLADION_EMU_RUN_LAUNCH_AGENTS_OF_LAUNCH_H_
